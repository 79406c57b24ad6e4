#include "analyzer/base/contains.hpp"
#include "analyzer/base/snapshot_builder.hpp"
#include "formats/input/all_formats.hpp"
#include "formats/json/json_scanner.hpp"
#include "formats/text/in_quotes.hpp"
#include "formats/text/scan.hpp"

/// V8's sampling heap profile: a tree of call frames, root first, with the estimated bytes that each one holds.
namespace snapdiff::formats {
namespace {

constexpr std::uint32_t kNoParent = std::numeric_limits<std::uint32_t>::max();
/// V8 keeps 128 frames of a stack by default; each level is one call of the reader.
constexpr std::size_t kMostFrames = 256;
constexpr std::size_t kLongestName = std::size_t{1} << 20;

class ProfileReader {
 public:
  explicit ProfileReader(Input& in) : json_(in) {}

  Snapshot read() {
    json_.skip_byte_order_mark();
    json_.each_member([this](std::string_view key) {
      if (key == "head" && nodes_.empty()) {
        read_node(kNoParent, 0);
      } else if (key == "samples") {
        json_.each_item([this](std::size_t) { read_sample(); });
      } else {
        json_.skip_value();
      }
    });
    if (nodes_.empty()) fail_malformed("tree missing: the object ends without head", json_.offset());
    if (json_.has_rest())
      builder_.notes().add(Severity::warning, "bytes after the end of the profile, ignored", json_.offset());
    return finish();
  }

 private:
  struct Node {
    std::uint32_t parent = kNoParent;
    bool has_frame = false;
    FrameId frame{};
    std::int64_t bytes = 0;
  };

  void read_node(std::uint32_t parent, std::size_t depth) {
    json_.check_depth(depth, kMostFrames);
    const std::size_t row = nodes_.size();
    nodes_.push_back({.parent = parent});
    json_.each_member([&](std::string_view key) {
      if (key == "callFrame") {
        nodes_[row].frame = read_frame();
        nodes_[row].has_frame = true;
      } else if (key == "selfSize") {
        nodes_[row].bytes = read_size();
      } else if (key == "children") {
        json_.each_item([&](std::size_t) { read_node(static_cast<std::uint32_t>(row), depth + 1); });
      } else {
        json_.skip_value();
      }
    });
    if (!nodes_[row].has_frame) fail_malformed("callFrame missing: a node ends without it", json_.offset());
  }

  /// Lines and columns count from 0, and are those where the function begins; -1 is none.
  FrameId read_frame() {
    name_.clear();
    url_.clear();
    std::int32_t line = 0, column = 0;
    json_.each_member([&](std::string_view key) {
      if (key == "functionName") {
        json_.text(name_, kLongestName);
      } else if (key == "url") {
        json_.text(url_, kLongestName);
      } else if (key == "lineNumber") {
        line = read_position();
      } else if (key == "columnNumber") {
        column = read_position();
      } else {
        json_.skip_value();
      }
    });
    const StringId name = builder_.string(name_.empty() ? "(anonymous)" : name_);
    return builder_.frame(
        {.function = builder_.function(name, name, builder_.string(url_), line), .line = line, .column = column});
  }

  /// A number at the reader, which JavaScript may print as 12.0 or 1e6.
  double read_number(std::string_view& text) {
    text = json_.number_text();
    double value = 0;
    return text::parse_whole(text, value) ? value : std::nan("");
  }

  std::int32_t read_position() {
    std::string_view text;
    const double value = read_number(text);
    return value >= 0 && value < std::numeric_limits<std::int32_t>::max() ? static_cast<std::int32_t>(value) + 1 : 0;
  }

  std::int64_t read_size() {
    const std::uint64_t offset = json_.offset();
    std::string_view text;
    const double value = read_number(text);
    if (const std::optional<std::int64_t> whole = text::whole_number(text)) return *whole;
    if (value >= 0 && value < 0x1p53) return static_cast<std::int64_t>(value);
    text::fail_found("size not readable", text, "bytes below 2^63", offset);
  }

  void read_sample() {
    json_.each_member([this](std::string_view key) {
      if (key != "size") return json_.skip_value();
      const std::int64_t size = read_size();
      if (size > 0 && (period_ == 0 || size < period_)) period_ = size;
    });
  }

  Snapshot finish() {
    builder_.add_column({"inuse_space", "bytes"});
    std::vector<FrameId> stack;
    for (std::uint32_t row = 0; row < nodes_.size(); ++row) {
      if (nodes_[row].bytes == 0) continue;
      stack.clear();
      // The frame "(root)" is of no function: it stays only where it holds bytes itself.
      for (std::uint32_t at = row; at != kNoParent && (at != 0 || stack.empty()); at = nodes_[at].parent)
        stack.push_back(nodes_[at].frame);
      builder_.add_row(builder_.stack(stack), LabelSetId{}, std::span(&nodes_[row].bytes, 1));
    }
    SnapshotFacts& facts = builder_.facts();
    facts.producer = "v8";
    facts.sampling = Sampling::poisson;
    // A sample of s bytes stands for s / (1 - exp(-s / R)), which is at least R, and close to it for small objects.
    facts.period = period_;
    if (period_ > 0)
      facts.notes.add(Severity::info, "sampling interval taken from the smallest sample, since the file has none");
    return value_or_throw(builder_.finish());
  }

  json::JsonScanner json_;
  SnapshotBuilder builder_;
  std::vector<Node> nodes_;  // parents first
  std::string name_, url_;
  std::int64_t period_ = 0;
};

/// The members may come in any order.
Match sniff_profile(std::string_view head) {
  return certain_if(text::begins_with(head, {"{", "\""}) && contains(head, "\"callFrame\"") &&
                    contains(head, "\"selfSize\"") && !contains(head, "\"traceEvents\""));
}

}  // namespace

constexpr Format kV8HeapProfile{
    .info = {"v8-heapprofile", "sampled allocations of V8 (node --heap-prof, DevTools): what is live, by stack",
             "*.heapprofile", "single samples, ids of scripts and nodes; lines are those where a function begins"},
    .sniff = sniff_profile,
    .decode = [](Input& in, SnapshotSink& out, const ReadRequest&) { give(out, ProfileReader(in).read()); }};

}  // namespace snapdiff::formats
