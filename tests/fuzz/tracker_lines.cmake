# Fuzz target of formats/tracker_lines; included by tests/fuzz/CMakeLists.txt.
snapdiff_fuzzer(tracker_lines_fuzz ${CMAKE_CURRENT_LIST_DIR}/tracker_lines_fuzz.cpp
  tracker_lines snapdiff_tracker_lines)
