# Fuzz target of formats/tracemalloc; included by tests/fuzz/CMakeLists.txt.
snapdiff_fuzzer(tracemalloc_fuzz ${CMAKE_CURRENT_LIST_DIR}/tracemalloc_fuzz.cpp
  tracemalloc snapdiff_tracemalloc)
