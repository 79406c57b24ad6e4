#include "analyzer/base/concat.hpp"
#include "formats/input/all_formats.hpp"
#include "formats/input/window_input.hpp"
#include "formats/text/in_quotes.hpp"
#include "formats/text/log_lines.hpp"

/// What ms_print prints of a massif file, whole or pasted in parts. It is written as a massif file again, which the
/// reader of those reads.
namespace snapdiff::formats {
namespace {

constexpr std::size_t kMostBytes = std::size_t{256} << 20;  // of the file that is written
constexpr std::string_view kRoots[] = {" (heap allocation functions) ", " (page allocation syscalls) "};

/// "20,480,000"; nothing for an invalid number.
std::optional<std::int64_t> number_of(std::string_view text) {
  text::Cursor at(text);
  std::int64_t number = 0;
  return text::given(text::take_grouped(at, number) && at.at_end(), number);
}

/// "99.92% (20,480,000B) LABEL", with "->" in front of all but the root, and that behind a bar or a blank and a blank
/// for each step in depth.
struct TreeLine {
  std::size_t depth = 0;
  std::int64_t bytes = 0;
  std::string_view label;

  static std::optional<TreeLine> of(std::string_view line) {
    TreeLine out;
    std::size_t at = 0;
    while (at + 1 < line.size() && (line[at] == ' ' || line[at] == '|') && line[at + 1] == ' ') at += 2;
    if (line.substr(at, 2) == "->") {
      out.depth = at / 2 + 1;
      at += 2;
    } else if (at > 0) {
      return std::nullopt;
    }
    const std::size_t open = line.find("% (", at), close = line.find("B) ", at);
    if (open == std::string_view::npos || close == std::string_view::npos || close < open + 3) return std::nullopt;
    if (line.substr(at, open - at).find_first_not_of("0123456789.") != std::string_view::npos) return std::nullopt;
    const auto bytes = number_of(line.substr(open + 3, close - open - 3));
    if (!bytes) return std::nullopt;
    out.bytes = *bytes;
    out.label = line.substr(close + 3);
    const bool is_root = line.substr(close + 2).starts_with(kRoots[0]) || line.substr(close + 2).starts_with(kRoots[1]);
    return is_root == (out.depth == 0) ? std::optional(out) : std::nullopt;
  }
};

/// "  n        time(i)         total(B)   useful-heap(B) extra-heap(B)    stacks(B)": the unit of its times.
std::optional<std::string> time_unit_of(std::string_view line) {
  const std::size_t time = line.find(" time("), close = line.find(')', time);
  const bool is_heading = time != std::string_view::npos && close != std::string_view::npos &&
                          line.find("useful-heap(B)", close) != std::string_view::npos;
  return is_heading ? std::optional(std::string(line.substr(time + 6, close - time - 6))) : std::nullopt;
}

class MsPrintReader {
 public:
  explicit MsPrintReader(Input& in) : name_(in.name()), lines_(in) {}

  void read(SnapshotSink& out, const ReadRequest& request) {
    std::string_view line;
    while (lines_.next(line)) {
      if (!lines_.terminated()) {
        cut_ = lines_.line_offset();
        break;
      }
      take(line);
    }
    close();
    if (text_.empty())
      fail_malformed("no snapshot: the input ends, expected a table or a tree of ms_print", lines_.offset());
    const std::string file = concat("desc: (none)\ncmd:", command_, "\ntime_unit: ", time_unit_, "\n", text_);
    MemoryInput in(file, name_);
    SnapshotList made;
    kMassif.decode(in, made, request);
    if (cut_) made.snapshots.back().facts.lose("the last line has no end and was left out", *cut_);
    for (Snapshot& snapshot : made.snapshots) give(out, std::move(snapshot));
  }

 private:
  struct Node {
    std::size_t depth = 0;
    std::int64_t bytes = 0, left = 0;  ///< left: without its children
    std::size_t children = 0;
    std::string label;
  };
  using Row = std::array<std::int64_t, 6>;  // number, time, total, heap, extra, stacks

  void take(std::string_view line) {
    if (line.starts_with("Command:")) command_ = concat(" ", text::trim(line.substr(8)));
    if (auto unit = time_unit_of(line)) {
      time_unit_ = *unit;
    } else if (const auto node = TreeLine::of(line)) {
      if (node->depth == 0 && !nodes_.empty()) close();
      add(*node);
    } else if (const auto row = row_of(line)) {
      close();
      row_ = *row;
    } else if (const std::size_t peak = line.find(" (peak)");
               line.find("Detailed snapshots:") != std::string_view::npos) {
      const std::size_t begin = line.find_last_of("[ ", peak - 1) + 1;
      if (peak != std::string_view::npos) peak_ = text::whole_number(line.substr(begin, peak - begin));
    }
  }

  static std::optional<Row> row_of(std::string_view line) {
    Row row{};
    text::Cursor at(line);
    for (std::int64_t& value : row) {
      at.skip_blanks();
      const auto number = number_of(at.token());
      if (!number) return std::nullopt;
      value = *number;
    }
    at.skip_blanks();
    return at.at_end() ? std::optional(row) : std::nullopt;
  }

  /// A tree that was pasted without its root has one that holds what follows.
  void add(const TreeLine& line) {
    if (nodes_.empty() && line.depth > 0) nodes_.push_back({0, 0, 0, 0, std::string(kRoots[0].substr(1))});
    const bool made_root = line.depth == 1 && nodes_.front().label == kRoots[0].substr(1);
    if (made_root && (!checked_add(nodes_.front().bytes, line.bytes, nodes_.front().bytes)))
      fail(ErrorCode::limit, "sum of a tree is beyond 2^63-1", lines_.line_offset());
    if (made_root) nodes_.front().left += line.bytes;
    if (line.depth > 0) {
      while (path_.size() > line.depth) path_.pop_back();
      if (path_.empty()) path_.push_back(0);
      if (path_.size() != line.depth)
        text::fail_found("bad tree", line.label, "a line not more than one step below the one before",
                         lines_.line_offset());
      Node& parent = nodes_[path_.back()];
      if (line.bytes > parent.left)
        text::fail_found("bad tree", line.label, "children that hold no more than their caller", lines_.line_offset());
      parent.left -= line.bytes;
      ++parent.children;
    } else {
      path_.clear();
    }
    Node& node = nodes_.emplace_back(Node{line.depth, line.bytes, line.bytes, 0, std::string(line.label)});
    path_.push_back(nodes_.size() - 1);
    // Both programs leave sites out; either way they are below a threshold.
    if (const std::size_t own = node.label.find("below ms_print's"); own != std::string::npos)
      node.label.replace(own, 16, "below massif's");
  }

  /// Writes the snapshot that ends.
  void close() {
    if (!row_ && nodes_.empty()) return;
    const std::int64_t root = nodes_.empty() ? 0 : nodes_.front().bytes;
    const Row row = row_ ? *row_ : Row{count_, 0, root, root, 0, 0};
    const std::string_view tree = nodes_.empty() ? "empty" : peak_ == row[0] ? "peak" : "detailed";
    text_ += concat("#-----------\nsnapshot=", row[0], "\n#-----------\ntime=", row[1], "\nmem_heap_B=", row[3],
                    "\nmem_heap_extra_B=", row[4], "\nmem_stacks_B=", row[5], "\nheap_tree=", tree, "\n");
    for (const Node& node : nodes_) {
      text_.append(node.depth, ' ');
      text_ += concat("n", node.children, ": ", node.bytes, " ", node.label, "\n");
      if (text_.size() > kMostBytes)
        fail(ErrorCode::limit, "trees too large: expected at most 256 MiB of them", lines_.offset());
    }
    ++count_;
    row_.reset();
    nodes_.clear();
    path_.clear();
  }

  std::string name_;
  text::LineReader lines_;
  std::string command_ = " ", time_unit_ = "i", text_;
  std::optional<Row> row_;  ///< of the open snapshot
  std::vector<Node> nodes_;
  std::vector<std::size_t> path_;  ///< nodes from the root to the last one
  std::optional<std::int64_t> peak_;
  std::int64_t count_ = 0;
  std::optional<std::uint64_t> cut_;
};

Match sniff_ms_print(std::string_view head) {
  return certain_if(text::any_line_of(head, [](std::string_view line) {
    const auto node = TreeLine::of(line);
    return line.starts_with("ms_print arguments: ") || time_unit_of(line).has_value() ||
           (node && (node->depth == 0 || node->label.starts_with("0x")));
  }));
}

}  // namespace

constexpr Format kMsPrint{
    .info = {"ms-print", "what ms_print prints of Valgrind massif output", "*.txt, *.log",
             "numbers of blocks; sites below the thresholds of massif and ms_print"},
    .sniff = sniff_ms_print,
    .decode = [](Input& in, SnapshotSink& out, const ReadRequest& request) { MsPrintReader(in).read(out, request); }};

}  // namespace snapdiff::formats
