# Fuzz targets of the readers of reports and statistics; included by tests/fuzz/CMakeLists.txt. One source, made for
# each importer: NAME, then the library and the header that have make_NAME_importer().
function(snapdiff_report_fuzzer name library header)
  snapdiff_fuzzer(${name}_fuzz ${CMAKE_CURRENT_LIST_DIR}/report_fuzz.cpp ${CMAKE_CURRENT_LIST_DIR}/corpus/${name}
    snapdiff_${library})
  foreach(target IN ITEMS ${name}_fuzz_replay ${name}_fuzz)
    if(TARGET ${target})
      target_compile_definitions(${target} PRIVATE
        SNAPDIFF_FUZZ_MAKE=make_${name}_importer SNAPDIFF_FUZZ_HEADER="formats/${library}/${header}.hpp")
    endif()
  endforeach()
endfunction()

snapdiff_report_fuzzer(memcheck leak_reports leak_report_importers)
snapdiff_report_fuzzer(leak_sanitizer leak_reports leak_report_importers)
snapdiff_report_fuzzer(jvm_histogram type_counts type_count_importers)
snapdiff_report_fuzzer(dotnet_heap type_counts type_count_importers)
snapdiff_report_fuzzer(objgraph_text type_counts type_count_importers)
snapdiff_report_fuzzer(bcc_memleak bcc bcc_importer)
snapdiff_report_fuzzer(jemalloc_stats jemalloc_stats jemalloc_stats_importer)
snapdiff_report_fuzzer(tensorflow_bfc tensorflow_bfc tensorflow_bfc_importer)
snapdiff_report_fuzzer(memray_csv memray memray_importers)
snapdiff_report_fuzzer(memray_gprof2dot memray memray_importers)
snapdiff_report_fuzzer(memray_speedscope memray memray_importers)
snapdiff_report_fuzzer(memray_stats memray memray_importers)
