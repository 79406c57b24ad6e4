# Fuzz targets of formats/valgrind; included by tests/fuzz/CMakeLists.txt.
foreach(format IN ITEMS massif dhat)
  snapdiff_fuzzer(${format}_fuzz ${CMAKE_CURRENT_LIST_DIR}/${format}_fuzz.cpp
    ${CMAKE_CURRENT_LIST_DIR}/corpus/${format} snapdiff_valgrind)
endforeach()
