# Fuzz targets of formats/v8, formats/hprof and formats/objgraph_dot; included by tests/fuzz/CMakeLists.txt.
foreach(format IN ITEMS v8 hprof objgraph_dot)
  snapdiff_fuzzer(${format}_fuzz ${CMAKE_CURRENT_LIST_DIR}/${format}_fuzz.cpp ${format}
    snapdiff_${format} snapdiff_input)
endforeach()
