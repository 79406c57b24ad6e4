#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/text/line_reader.hpp"
#include "formats/valgrind/code_location.hpp"
#include "snapdiff/importer.hpp"

namespace snapdiff::formats::valgrind {

/// Reads a massif.out file. Damage ends the reading: the snapshots in front of it stay, and are marked partial.
class MassifReader {
 public:
  explicit MassifReader(Input& in) : lines_(in, kMostLineBytes) {}

  /// Errors (thrown as ReadFailure, or returned): malformed when not one snapshot is whole; limit; what `out` returns.
  Status read(SnapshotSink& out);

 private:
  static constexpr std::size_t kMostLineBytes = std::size_t{16} << 20;

  // A line of the tree, and what of it is not yet accounted for.
  struct Node {
    std::uint64_t children_left = 0;
    std::int64_t own = 0;  ///< bytes less those of the children so far
    std::string label;
  };

  void read_header();
  bool read_snapshot();
  std::string_view expect_field(std::string_view name);
  std::int64_t expect_number(std::string_view name);
  void read_tree(SnapshotBuilder& builder, std::int64_t heap_bytes);
  Node parse_node(std::string_view line, std::size_t depth) const;
  void begin_columns(std::string_view root_label, SnapshotBuilder& builder);
  void add_row(SnapshotBuilder& builder, std::int64_t bytes, bool below_threshold);
  bool next_line(std::string_view& line);
  [[noreturn]] void ends_early(std::string_view expected) const;

  text::LineReader lines_;
  std::string description_;
  std::string command_line_;
  std::string time_unit_;
  std::vector<Snapshot> snapshots_;
  std::vector<Node> path_;  ///< from the root of the tree to the node read last
  std::vector<FrameId> frames_;
};

}  // namespace snapdiff::formats::valgrind
