# Fuzz target of formats/heaptrack; included by tests/fuzz/CMakeLists.txt.
snapdiff_fuzzer(heaptrack_fuzz ${CMAKE_CURRENT_LIST_DIR}/heaptrack_fuzz.cpp
  heaptrack snapdiff_heaptrack)
