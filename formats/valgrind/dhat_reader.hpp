#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/json/json_scanner.hpp"
#include "snapdiff/importer.hpp"
#include "snapdiff/snapshot_builder.hpp"

namespace snapdiff::formats::valgrind {

/// Reads a DHAT file. The texts of its frames come after the program points that use them, so the points are
/// kept as numbers until then.
class DhatReader {
 public:
  explicit DhatReader(Input& in) : json_(in) {}

  /// The state at the end of the process, or where most bytes were live.
  /// Errors (thrown as ReadFailure, or returned): malformed, unsupported (modes without live blocks), limit.
  Result<Snapshot> read(bool at_peak);

 private:
  enum Field : std::uint8_t { kTotalBytes, kTotalBlocks, kPeakBytes, kPeakBlocks, kEndBytes, kEndBlocks, kFieldCount };
  struct Point {
    std::array<std::int64_t, kFieldCount> value{};
    std::uint32_t told = 0;  ///< a bit per field
    std::size_t first_frame = 0;
    std::size_t frame_end = 0;
    std::uint64_t offset = 0;
  };

  void read_document();
  void read_member(const std::string& key);
  void read_points();
  Point read_point();
  void read_frame_numbers();
  void read_frame_texts();
  void require(json::Kind kind, std::string_view what, std::string_view expected);
  std::int64_t count(std::string_view what);
  std::string text(std::string_view what);
  void check(bool at_peak) const;
  StackId stack_of(const Point& point, SnapshotBuilder& builder);
  void add_facts(bool at_peak, SnapshotBuilder& builder) const;

  json::JsonScanner json_;
  std::uint64_t value_offset_ = 0;  // of the value that was required last
  std::optional<std::int64_t> version_;
  std::string mode_;
  std::string command_line_;
  std::string time_unit_;
  bool lifetimes_ = false;
  std::optional<std::int64_t> pid_;
  std::optional<std::int64_t> end_time_;
  std::optional<std::int64_t> peak_time_;
  std::vector<Point> points_;
  std::vector<std::uint32_t> frame_numbers_;
  std::vector<std::string> frame_texts_;
  std::vector<FrameId> frames_;
  bool have_points_ = false;
  bool have_texts_ = false;
};

}  // namespace snapdiff::formats::valgrind
