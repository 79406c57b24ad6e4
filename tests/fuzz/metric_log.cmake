# Fuzz target of formats/metric_log; included by tests/fuzz/CMakeLists.txt.
snapdiff_fuzzer(metric_log_fuzz ${CMAKE_CURRENT_LIST_DIR}/metric_log_fuzz.cpp
  metric_log snapdiff_metric_log)
