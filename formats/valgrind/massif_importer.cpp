#include "analyzer/base/rest_row.hpp"
#include "formats/input/all_formats.hpp"
#include "formats/text/in_quotes.hpp"
#include "formats/text/line_reader.hpp"
#include "formats/text/log_lines.hpp"
#include "formats/text/printed_frame.hpp"
#include "formats/text/scan.hpp"

namespace snapdiff::formats {
namespace {

constexpr std::string_view kRule = "#-----------";
constexpr std::string_view kThresholdWords = "below massif's threshold";
constexpr std::string_view kPages = "(page allocation syscalls)";
/// As many frames as a stack may have in the model.
constexpr std::size_t kDeepestTree = 1'000'000;

bool is_remainder(std::string_view label) {
  return text::has_prefix(label, "in ") && label.find(kThresholdWords) != std::string_view::npos;
}

/// What the time of a snapshot counts.
std::string unit_of(std::string_view time_unit) {
  if (time_unit == "i") return "instructions";
  return time_unit == "B" ? "bytes" : std::string(time_unit);
}

/// Reads a massif.out file. Damage ends the reading: the snapshots in front of it stay, and are marked partial.
class MassifReader {
 public:
  explicit MassifReader(Input& in) : lines_(in, kMostLineBytes) {}

  /// Throws Failure: malformed when not one snapshot is whole; limit; what `out` returns.
  void read(SnapshotSink& out) {
    read_header();
    try {
      while (read_snapshot()) {
      }
    } catch (Failure& failure) {
      if (snapshots_.empty() || failure.error.code != ErrorCode::malformed) throw;
      for (Snapshot& snapshot : snapshots_)
        snapshot.facts.lose("snapshots from here on are lost: " + failure.error.message, failure.error.offset);
    }
    if (snapshots_.empty()) fail_malformed("no snapshot: the input ends, expected at least one", lines_.line_offset());
    leave_out_empty_start();
    for (Snapshot& snapshot : snapshots_) give(out, std::move(snapshot));
  }

 private:
  static constexpr std::size_t kMostLineBytes = std::size_t{16} << 20;

  // A line of the tree, and what of it is not yet accounted for.
  struct Node {
    std::int64_t children_left = 0;
    std::int64_t own = 0;  ///< bytes less those of the children so far
    std::string label;
  };

  /// A program that has not allocated yet is not a baseline: all it allocates would be growth. Such snapshots at the
  /// start keep their totals alone, as most snapshots of massif do.
  void leave_out_empty_start() {
    const auto first = std::find_if(snapshots_.begin(), snapshots_.end(),
                                    [](const Snapshot& snapshot) { return snapshot.samples.size() > 0; });
    if (first == snapshots_.end()) return;
    for (auto empty = snapshots_.begin(); empty != first; ++empty) {
      empty->samples.columns.clear();
      empty->facts.default_metric.clear();
    }
  }

  void read_header() {
    const std::array<std::pair<std::string_view, std::string*>, 3> fields{
        {{"desc:", &description_}, {"cmd:", &command_line_}, {"time_unit:", &time_unit_}}};
    for (const auto& [name, value] : fields) {
      std::string_view line;
      if (!next_line(line)) ends_early(name);
      if (!text::has_prefix(line, name))
        text::fail_found("bad header", line, std::string(name) + " and its value", lines_.line_offset());
      line.remove_prefix(name.size());
      while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
      *value = line;
    }
  }

  /// False at the end of the input.
  bool read_snapshot() {
    std::string_view line;
    if (!next_line(line)) {
      if (!lines_.terminated()) ends_early("a whole line");
      return false;
    }
    if (line != kRule) text::fail_found("bad line", line, kRule, lines_.line_offset());
    const std::int64_t number = expect_number("snapshot");
    if (!next_line(line)) ends_early(kRule);
    if (line != kRule) text::fail_found("bad line", line, kRule, lines_.line_offset());
    const std::int64_t time = expect_number("time");
    const std::int64_t heap = expect_number("mem_heap_B");
    const std::int64_t extra = expect_number("mem_heap_extra_B");
    const std::int64_t stacks = expect_number("mem_stacks_B");
    const std::string tree(expect_field("heap_tree"));

    SnapshotBuilder builder;
    SnapshotFacts& facts = builder.facts();
    facts.producer = "massif";
    facts.command_line = command_line_;
    facts.sampling = Sampling::exact;
    if (!description_.empty() && description_ != "(none)") facts.comments.push_back(description_);
    facts.counters = {{"mem_heap", heap, "bytes", false},
                      {"mem_heap_extra", extra, "bytes", false},
                      {"mem_stacks", stacks, "bytes", false},
                      {"time", time, unit_of(time_unit_), true}};
    facts.format_detail = "snapshot " + std::to_string(number) + (tree == "empty" ? ", totals only" : ", " + tree);
    if (tree == "detailed" || tree == "peak") {
      read_tree(builder, heap);
    } else if (tree != "empty") {
      text::fail_found("bad heap_tree", tree, "empty, detailed or peak", lines_.line_offset());
    }
    snapshots_.push_back(value_or_throw(builder.finish()));
    return true;
  }

  /// The value of the next line, which must be `name`=value. Valid until the next line is read.
  std::string_view expect_field(std::string_view name) {
    std::string_view line;
    if (!next_line(line)) ends_early(std::string(name) + "=");
    if (!text::has_prefix(line, name) || line.size() == name.size() || line[name.size()] != '=')
      text::fail_found("missing field", line, std::string(name) + "=", lines_.line_offset());
    return line.substr(name.size() + 1);
  }

  std::int64_t expect_number(std::string_view name) {
    const std::string_view text = expect_field(name);
    const std::optional<std::int64_t> number = text::whole_number(text);
    if (!number) text::fail_found("bad " + std::string(name), text, "a number from 0 to 2^63-1", lines_.line_offset());
    return *number;
  }

  /// Children follow their node at once, so that the path to the node read last is all that is kept.
  void read_tree(SnapshotBuilder& builder, std::int64_t heap_bytes) {
    path_.clear();
    bool at_root = true;
    while (at_root || !path_.empty()) {
      std::string_view line;
      if (!next_line(line)) ends_early("the rest of a heap tree");
      Node node = parse_node(line, path_.size());
      if (at_root) {
        if (node.own != heap_bytes)
          builder.notes().add(Severity::warning, "the tree's bytes differ from mem_heap_B", lines_.line_offset());
        begin_columns(node.label, builder);
      } else {
        Node& parent = path_.back();
        --parent.children_left;
        if (node.own > parent.own)
          fail_malformed("bad heap tree: the children of a node hold " + std::to_string(node.own - parent.own) +
                             " bytes more than it",
                         lines_.line_offset());
        parent.own -= node.own;
      }
      at_root = false;
      if (is_remainder(node.label)) {
        if (node.children_left != 0)
          fail_malformed("bad heap tree: what is below the threshold has children", lines_.line_offset());
        if (node.own > 0) {
          builder.facts().complete = false;
          add_row(builder, node.own, true);
        }
      } else {
        if (path_.size() == kDeepestTree) fail(ErrorCode::limit, "heap tree too deep", lines_.line_offset());
        path_.push_back(std::move(node));
      }
      while (!path_.empty() && path_.back().children_left == 0) {
        if (path_.back().own > 0) add_row(builder, path_.back().own, false);
        path_.pop_back();
      }
    }
  }

  /// One line: DEPTH blanks, nCHILDREN: BYTES LABEL.
  Node parse_node(std::string_view line, std::size_t depth) const {
    const std::size_t blanks = std::min(line.find_first_not_of(' '), line.size());
    text::Cursor at(line.substr(blanks));
    Node node;
    if (blanks != depth || !at.takes("n%: % ", node.children_left, node.own))
      text::fail_found("bad tree line", line, std::to_string(depth) + " blanks, nCHILDREN: BYTES LABEL",
                       lines_.line_offset());
    node.label = at.rest();
    return node;
  }

  void begin_columns(std::string_view root_label, SnapshotBuilder& builder) {
    // Pages that the process asked the kernel for are another thing than blocks: the two are never compared.
    const bool pages = text::has_prefix(root_label, kPages);
    const char* const metric = pages ? "mapped_space" : "inuse_space";
    builder.add_column({metric, "bytes"});
    builder.facts().default_metric = metric;
    if (pages) builder.facts().format_detail += ", pages";
  }

  /// One row: what the node at the end of the path holds itself, or a remainder below it.
  void add_row(SnapshotBuilder& builder, std::int64_t bytes, bool below_threshold) {
    frames_.clear();
    text::CodeLocation inner;
    for (std::size_t i = 1; i < path_.size(); ++i) {
      const text::CodeLocation location = i == 1 ? text::parse_location(path_[i].label) : inner;
      const bool has_outer = i + 1 < path_.size();
      if (has_outer) inner = text::parse_location(path_[i + 1].label);
      const bool inlined = has_outer && text::is_inlined(location, inner);
      frames_.push_back(text::frame_of(builder, location, inlined ? kFrameInlined : std::uint8_t{0}));
    }
    if (below_threshold) frames_.push_back(builder.pseudo_frame(kBelowThreshold));
    builder.add_row(builder.stack(frames_), LabelSetId{}, std::span(&bytes, 1));
  }

  /// A last line without an end may be cut and is not read.
  bool next_line(std::string_view& line) { return lines_.next(line) && lines_.terminated(); }

  [[noreturn]] void ends_early(std::string_view expected) const {
    fail_malformed("the input ends early: expected " + std::string(expected), lines_.offset());
  }

  text::LineReader lines_;
  std::string description_;
  std::string command_line_;
  std::string time_unit_;
  std::vector<Snapshot> snapshots_;
  std::vector<Node> path_;  ///< from the root of the tree to the node read last
  std::vector<FrameId> frames_;
};

Match sniff_massif(std::string_view head) {
  std::string_view line;
  for (const std::string_view name : {"desc:", "cmd:", "time_unit:"}) {
    const bool is_there = text::take_line(head, line) && text::has_prefix(line, name);
    if (!is_there) return head.empty() && line.empty() && name == "time_unit:" ? Match::possible : Match::no;
    line = {};
  }
  return Match::certain;
}

}  // namespace

constexpr Format kMassif{
    .info = {"massif", "Valgrind massif output", "massif.out.*",
             "numbers of blocks and sites below the threshold, which massif does not write"},
    .sniff = sniff_massif,
    .decode = [](Input& in, SnapshotSink& out, const ReadRequest&) { MassifReader(in).read(out); }};

}  // namespace snapdiff::formats
