# Fuzz target of analyzer/store; included by tests/fuzz/CMakeLists.txt.
snapdiff_fuzzer(store_fuzz ${CMAKE_CURRENT_LIST_DIR}/store_fuzz.cpp store
  snapdiff_store)
