#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "formats/registry.hpp"
#include "support/read_series.hpp"

namespace snapdiff::test {

/// The snapshots of a file below tests/data, detected by its content; fails the test where there is an error.
inline std::vector<Snapshot> read_data(const std::string& path) {
  Result<std::vector<Snapshot>> read = formats::read_file(std::string(SNAPDIFF_TEST_DATA) + "/" + path, {});
  if (!read) FAIL(read.error().text());
  return std::move(*read);
}

/// Its only snapshot, which must be of this format.
inline Snapshot read_data_of(const std::string& path, const formats::Format& format) {
  std::vector<Snapshot> all = read_data(path);
  REQUIRE(all.size() == 1);
  CHECK(all.front().facts.format == format.info.name);
  return std::move(all.front());
}

/// For texts without an end of their own: every cut inside a line must be refused or told.
inline void check_line_cuts(const formats::Format& format, const std::string& text) {
  for (std::size_t size = 1; size < text.size(); ++size) {
    if (text[size - 1] == '\n' || text[size] == '\n') continue;
    const Series cut = read_series(format, std::string_view(text).substr(0, size));
    CAPTURE(size);
    if (!cut.error) CHECK((cut.snapshots.back().facts.partial || !cut.snapshots.back().facts.complete));
  }
}

}  // namespace snapdiff::test
