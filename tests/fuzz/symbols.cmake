# Fuzz target of analyzer/symbols; included by tests/fuzz/CMakeLists.txt.
snapdiff_fuzzer(symbols_fuzz ${CMAKE_CURRENT_LIST_DIR}/symbols_fuzz.cpp symbols
  snapdiff_symbols)
