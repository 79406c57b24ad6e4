#include "analyzer/base/contains.hpp"
#include "formats/input/type_row.hpp"
#include "formats/json/json_walk.hpp"
#include "formats/memray/readers.hpp"

/// The page of `memray flamegraph`: a JSON object behind "packed_data = " in a script.
namespace snapdiff::formats::memray {
namespace {

constexpr std::string_view kPackedData = "packed_data = ";
/// Moments of a temporal page that become snapshots: a chart shows 64; pages have one each 10 ms.
constexpr std::size_t kMostPageMoments = 64;
/// Frames of all stacks of one page: each row repeats the path from the root.
constexpr std::size_t kMostPageFrames = std::size_t{1} << 26;
constexpr std::uint32_t kNoParent = ~std::uint32_t{0};

/// "&lt;module&gt;" as it was before the page was written.
std::string unescaped(std::string_view text) {
  constexpr std::pair<std::string_view, char> kEntities[] = {
      {"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&#34;", '"'}, {"&#39;", '\''}, {"&#x27;", '\''}};
  std::string out;
  while (!text.empty()) {
    const auto found = std::find_if(std::begin(kEntities), std::end(kEntities),
                                    [&](const auto& entity) { return text.starts_with(entity.first); });
    const bool is_entity = found != std::end(kEntities);
    out += is_entity ? found->second : text.front();
    text.remove_prefix(is_entity ? found->first.size() : 1);
  }
  return out;
}

/// [allocated before, freed before or null, node, objects, bytes]; the first two count the moments of the page.
struct Interval {
  std::int64_t values[5] = {0, -1, 0, 0, 0};
};

class Page final : public json::Walk {
 public:
  void opened(bool array) override {
    if (array && at({"nodes", "children", "*"})) ++nodes_;
    if (array && at({"intervals", "*"})) intervals_.emplace_back();
  }
  void number(std::int64_t value) override {
    if (at({"nodes", "children", "*", "*"})) {
      set_parent(value);
    } else if (at({"intervals", "*", "*"}) && index(2) < 5) {
      intervals_.back().values[index(2)] = value;
    } else if (at({"nodes", "*", "*"})) {
      columns_[std::string(key(1))].push_back(value);
    }
  }
  void text(std::string_view value) override {
    if (at({"strings", "*"})) strings_.push_back(unescaped(value));
  }

  void finish(SnapshotSink& out, bool of_leaks) {
    if (nodes_ == 0) malformed("no nodes: expected packed_data of a flame graph");
    parent_.resize(nodes_, kNoParent);
    for (const auto& [child, parent] : links_) {
      if (child >= nodes_ || parent_[child] != kNoParent)
        malformed("child of a node out of range: found " + std::to_string(child));
      parent_[child] = parent;
    }
    for (const std::string_view name : {"function", "filename", "lineno"}) {
      if (column(name).size() != nodes_)
        malformed("nodes." + std::string(name) + " of another length than nodes.children");
    }
    if (intervals_.empty()) return give(out, whole(of_leaks));
    for (const std::int64_t moment : moments()) give(out, at_moment(moment, of_leaks));
  }

 private:
  /// Children come after their parents: memray numbers nodes as it makes them.
  void set_parent(std::int64_t child) {
    const std::size_t parent = nodes_ - 1;
    if (child <= static_cast<std::int64_t>(parent) || child > 0x7fffffff)
      malformed("child of a node out of range: found " + std::to_string(child));
    links_.emplace_back(static_cast<std::uint32_t>(child), static_cast<std::uint32_t>(parent));
  }

  const std::vector<std::int64_t>& column(std::string_view name) { return columns_[std::string(name)]; }

  std::string_view string_at(std::int64_t row) const {
    if (row < 0 || static_cast<std::size_t>(row) >= strings_.size())
      malformed("string out of range: found " + std::to_string(row));
    return strings_[static_cast<std::size_t>(row)];
  }

  /// Frames of a node, leaf first, without the root.
  StackId stack_of(SnapshotBuilder& builder, std::size_t node) {
    std::vector<FrameId> frames;
    for (std::uint32_t one = static_cast<std::uint32_t>(node); one != 0 && one != kNoParent; one = parent_[one]) {
      if (++frames_ > kMostPageFrames) fail(ErrorCode::limit, "stacks of the page have more than 67108864 frames");
      FrameSpec frame;
      frame.function = builder.function(string_at(column("function")[one]), string_at(column("filename")[one]));
      const std::int64_t line = column("lineno")[one];
      frame.line = line > 0 && line <= 0x7fffffff ? static_cast<std::int32_t>(line) : 0;
      frames.push_back(builder.frame(frame));
    }
    return builder.stack(frames);
  }

  static SnapshotBuilder begin(bool of_leaks) {
    SnapshotBuilder builder;
    SnapshotFacts& facts = exact_facts(builder, "memray", "flamegraph page");
    facts.notes.add(Severity::info, of_leaks ? "memory that was never freed (memray --leaks)"
                                             : "memory in use at the peak, as the page says");
    builder.add_heap_columns();
    return builder;
  }

  /// A node's value has those of its children in it.
  Snapshot whole(bool of_leaks) {
    SnapshotBuilder builder = begin(of_leaks);
    std::vector<std::int64_t> bytes = column("value"), objects = column("n_allocations");
    if (bytes.size() != nodes_ || objects.size() != nodes_)
      malformed("nodes.value of another length than nodes.children");
    const std::vector<std::int64_t> all_bytes = bytes, all_objects = objects;
    for (std::size_t node = 1; node < nodes_; ++node) {
      if (parent_[node] == kNoParent) continue;
      bytes[parent_[node]] -= all_bytes[node];
      objects[parent_[node]] -= all_objects[node];
    }
    for (std::size_t node = 0; node < nodes_; ++node) {
      if (bytes[node] < 0 || all_bytes[node] < 0 || all_bytes[node] >> 62 != 0)
        malformed("a node has less than its children, expected their sum or more");
      const std::int64_t values[] = {objects[node], bytes[node]};
      if (values[0] != 0 || values[1] != 0) builder.add_row(stack_of(builder, node), LabelSetId{}, values);
    }
    return value_or_throw(builder.finish());
  }

  /// Where an allocation or a release comes between moments, evenly thinned; the last one always.
  std::vector<std::int64_t> moments() const {
    std::vector<std::int64_t> all;
    for (const Interval& one : intervals_) {
      all.push_back(one.values[0]);
      if (one.values[1] >= 0) all.push_back(one.values[1]);
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    std::vector<std::int64_t> out;
    const std::size_t count = std::min(all.size(), kMostPageMoments);
    for (std::size_t i = 1; i <= count; ++i) out.push_back(all[i * all.size() / count - 1]);
    return out;
  }

  Snapshot at_moment(std::int64_t moment, bool of_leaks) {
    SnapshotBuilder builder = begin(of_leaks);
    for (const Interval& one : intervals_) {
      const auto& [from, until, node, objects, bytes] = one.values;
      if (from > moment || (until >= 0 && until <= moment)) continue;
      if (node < 0 || static_cast<std::size_t>(node) >= nodes_ || bytes < 0 || objects < 0)
        malformed("interval of no node: found " + std::to_string(node));
      builder.add_row(stack_of(builder, static_cast<std::size_t>(node)), LabelSetId{}, std::array{objects, bytes});
    }
    builder.facts().comments.push_back("moment " + std::to_string(moment));
    return value_or_throw(builder.finish());
  }

  std::size_t nodes_ = 0, frames_ = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> links_;  // child and parent
  std::vector<std::uint32_t> parent_;
  std::map<std::string, std::vector<std::int64_t>, std::less<>> columns_;
  std::vector<std::string> strings_;
  std::vector<Interval> intervals_;
};

/// Moves the input behind `words`; false at its end.
bool skip_behind(Input& in, std::string_view words) {
  constexpr std::size_t kWindow = std::size_t{1} << 18;
  for (;;) {
    const std::string_view view = value_or_throw(in.peek(kWindow));
    const std::size_t found = view.find(words);
    if (found != std::string_view::npos) {
      in.consume(found + words.size());
      return true;
    }
    if (view.size() < kWindow) return false;
    in.consume(view.size() - words.size());
  }
}

}  // namespace

bool is_flamegraph_page(std::string_view head) {
  return contains(head, "<html") && contains(head, "<title>memray - ") && contains(head, "flamegraph");
}

void read_html(Input& in, SnapshotSink& out, const ReadRequest& /*request*/) {
  const std::string_view head = value_or_throw(in.peek(kSniffBytes));
  const bool of_leaks = contains(head.substr(0, kSniffBytes), "(memory leaks)");
  if (!skip_behind(in, kPackedData))
    fail_malformed("page without its data: the input ends, expected \"packed_data = \"", in.offset());
  Page walk;
  json::read_value(in, walk);
  walk.finish(out, of_leaks);
}

}  // namespace snapdiff::formats::memray
