#pragma once

#include <string>
#include <string_view>

#include "formats/input/all_formats.hpp"
#include "support/imported.hpp"

namespace snapdiff::test {

/// Two functions that allocate, called from main; grow() keeps what it takes, churn() does not. Written by hand.
inline const std::string& small_recording() {
  static const std::string kText =
      "v 10400 3\n"
      "X ./svc --port 80\n"
      "I 1000 100\n"
      "s 8 /bin/svc\n"    // 1
      "s 4 main\n"        // 2
      "s 4 grow\n"        // 3
      "s 5 churn\n"       // 4
      "s 8 /s/svc.c\n"    // 5
      "i 1000 1 2 5 a\n"  // main at line 10
      "i 1100 1 3 5 14\n"
      "i 1200 1 4 5 1e\n"
      "t 1 0\n"
      "t 2 1\n"
      "t 3 1\n"
      "a 64 2\n"  // 0: 100 bytes in grow
      "a 10 3\n"  // 1: 16 bytes in churn
      "+ 0\n"
      "+ 1\n"
      "- 1\n"
      "c a\n"
      "R 10\n"
      "+ 0\n"
      "+ 1\n"
      "+ 1\n"
      "c 14\n"
      "R 20\n"
      "- 1\n"
      "- 0\n"
      "c 1e\n"
      "R 8\n"
      "# strings: 5\n";
  return kText;
}

inline Imported import_recording(std::string_view text, const std::string& point = "", std::size_t window = 0) {
  return import_with(
      text, [&](Input& in, SnapshotSink& out) { return formats::kHeaptrack.read(in, out, {.point = point}); }, window);
}

/// The only snapshot; fails the test where there is an error.
inline Snapshot recording_ok(std::string_view text, const std::string& point = "") {
  Imported out = import_recording(text, point);
  if (out.error) FAIL(out.error->text());
  REQUIRE(out.snapshots.size() == 1);
  return std::move(out.snapshots.front());
}

inline std::string recording_error(std::string_view text, const std::string& point = "") {
  const Imported out = import_recording(text, point);
  REQUIRE(out.error.has_value());
  return out.error->text();
}

}  // namespace snapdiff::test
