# Fuzz targets of formats/heap_text; included by tests/fuzz/CMakeLists.txt.
foreach(format IN ITEMS gperftools go_text jemalloc java_heapz symbolized)
  snapdiff_fuzzer(${format}_fuzz ${CMAKE_CURRENT_LIST_DIR}/${format}_fuzz.cpp
    ${CMAKE_CURRENT_LIST_DIR}/corpus/${format} snapdiff_heap_text)
endforeach()
