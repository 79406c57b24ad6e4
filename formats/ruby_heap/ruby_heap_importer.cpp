#include <unordered_map>

#include "analyzer/base/contains.hpp"
#include "analyzer/base/retention.hpp"
#include "formats/input/all_formats.hpp"
#include "formats/input/graph_parts.hpp"
#include "formats/input/number_rows.hpp"
#include "formats/input/type_row.hpp"
#include "formats/json/json_scanner.hpp"
#include "formats/text/in_quotes.hpp"
#include "formats/text/scan.hpp"

namespace snapdiff::formats {
namespace {

/// One line of ObjectSpace.dump_all, as far as it is used. Addresses are 0 where there is none.
struct ObjectLine {
  std::string type;  ///< "STRING", "OBJECT", "ROOT", ...
  std::string root;  ///< of a ROOT: what holds its references
  std::string name;  ///< of a CLASS or MODULE
  std::string of;    ///< of a singleton class: the class of its object; of DATA and IMEMO: what it is
  std::string file, method;
  std::int64_t line = 0;
  std::uint64_t address = 0, class_address = 0, superclass = 0;
  std::int64_t bytes = 0;
  std::vector<std::uint64_t> references;
  bool is_singleton = false;
};

constexpr std::size_t kLongestName = 1024;
constexpr std::size_t kLongestAddress = 32;

std::uint64_t read_address(json::JsonScanner& json, std::string& text) {
  const std::uint64_t offset = json.offset();
  json.text(text, kLongestAddress);
  text::Cursor at(text);
  std::uint64_t out = 0;
  if (!at.take("0x") || at.hex(out) != text::Number::ok || !at.at_end())
    text::fail_found("address not readable", text, "\"0x…\" of at most 16 digits", offset);
  return out;
}

/// Where a value may be of another kind than usual, it is passed over.
void read_text(json::JsonScanner& json, std::string& out) {
  if (json.kind() == json::Kind::text) {
    json.text(out, kLongestName);
  } else {
    json.skip_value();
  }
}

std::int64_t read_count(json::JsonScanner& json) {
  if (json.kind() == json::Kind::number) return static_cast<std::int64_t>(json.number());
  json.skip_value();
  return 0;
}

constexpr std::pair<std::string_view, std::uint64_t ObjectLine::*> kAddresses[] = {
    {"address", &ObjectLine::address}, {"class", &ObjectLine::class_address}, {"superclass", &ObjectLine::superclass}};
constexpr std::pair<std::string_view, std::string ObjectLine::*> kTexts[] = {
    {"type", &ObjectLine::type}, {"root", &ObjectLine::root},     {"name", &ObjectLine::name},
    {"struct", &ObjectLine::of}, {"imemo_type", &ObjectLine::of}, {"real_class_name", &ObjectLine::of},
    {"file", &ObjectLine::file}, {"method", &ObjectLine::method}};

template <class Member, std::size_t kCount>
const Member* member_called(const Member (&all)[kCount], std::string_view key) {
  const auto found = std::find_if(all, all + kCount, [key](const Member& one) { return one.first == key; });
  return found == all + kCount ? nullptr : found;
}

/// Reads the next object into `out`. Throws Failure.
void read_object_line(json::JsonScanner& json, ObjectLine& out) {
  std::string scratch;
  std::vector<std::uint64_t> references = std::move(out.references);
  references.clear();
  out = {};
  out.references = std::move(references);
  json.each_member([&](std::string_view key) {
    if (const auto* const member = member_called(kAddresses, key)) {
      out.*member->second = read_address(json, scratch);
    } else if (key == "references") {
      json.each_item([&](std::size_t) { out.references.push_back(read_address(json, scratch)); });
    } else if (const auto* const text = member_called(kTexts, key)) {
      read_text(json, out.*text->second);
    } else if (key == "line") {
      out.line = read_count(json);
    } else if (key == "memsize") {
      out.bytes = read_count(json);
    } else if (key == "singleton" && json.kind() == json::Kind::boolean) {
      out.is_singleton = json.boolean();
    } else {
      json.skip_value();
    }
  });
  if (out.line > std::numeric_limits<std::int32_t>::max()) out.line = 0;
}

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// Reads a whole dump. Throws Failure.
class DumpReader {
 public:
  explicit DumpReader(Input& in) : json_(in), graph_(std::make_shared<ObjectGraph>()) {}

  Snapshot read() {
    json_.skip_byte_order_mark();
    ObjectLine line;
    try {
      while (json_.has_rest()) {
        offset_ = json_.offset();
        read_object_line(json_, line);
        take(line);
      }
    } catch (const Failure& failure) {
      if (failure.error.code != ErrorCode::malformed || graph_->size() == 0) throw;
      builder_.facts().lose("the dump ends inside a line or is damaged there: the rest was left out", offset_);
    }
    if (graph_->size() == 0)
      fail_malformed("no object: the input ends, expected lines of ObjectSpace.dump_all", offset_);
    return finish();
  }

 private:
  /// A class or module is called by its own name.
  struct Kind {
    StringId kind{}, name{};
    bool is_class = false;
  };
  struct Root {
    std::uint64_t address;
    StringId name;
  };

  void take(const ObjectLine& line) {
    if (line.type == "ROOT") {
      const StringId name = builder_.string(line.root);
      for (const std::uint64_t address : line.references) roots_.push_back({address, name});
      return;
    }
    if (line.type == "SHAPE") {  // of the machine, not of the heap that is collected
      ++shapes_;
      shape_bytes_ += line.bytes;
      return;
    }
    if (line.type.empty() || line.address == 0) fail_malformed("address or type of an object missing", offset_);
    const std::uint32_t row = ids_.intern(line.address);
    if (row != graph_->size())
      return builder_.notes().add(Severity::data_loss, "objects whose address comes again, left out", offset_);
    if (row == kNone - 1) fail(ErrorCode::limit, "too many objects: expected fewer than 2^32 - 1", offset_);
    graph_->type.push_back(0);
    graph_->self_bytes.push_back(line.bytes);
    class_of_.push_back(line.class_address);
    kind_.push_back(kind_of(line));
    place_.push_back(place_of(line));
    for (const std::uint64_t to : line.references) add_edge(row, to, StringId{});
    if (line.class_address != 0) add_edge(row, line.class_address, class_label_);
    if (line.superclass != 0) add_edge(row, line.superclass, superclass_label_);
    if (line.superclass != 0 && line.name.empty()) superclass_of_.try_emplace(row, line.superclass);
  }

  void add_edge(std::uint32_t from, std::uint64_t to, StringId label) {
    from_.push_back(from);
    to_.push_back(to);
    label_.push_back(static_cast<std::uint32_t>(label));
  }

  /// The name of an object whose class gives none: "iseq" of the kind imemo; "(string)" where there is no name at all.
  std::uint32_t kind_of(const ObjectLine& line) {
    const bool is_class = line.type == "CLASS" || line.type == "MODULE";
    std::string kind = line.type;
    std::transform(kind.begin(), kind.end(), kind.begin(), text::lower);
    std::string name = is_class ? line.name : line.of;
    if (is_class && name.empty() && line.is_singleton && !line.of.empty()) name = "singleton of " + line.of;
    if (name.empty()) name = "(" + kind + ")";
    const Kind found{builder_.string(kind), builder_.string(name), is_class};
    const auto key = static_cast<std::uint64_t>(found.kind) << 32 | static_cast<std::uint64_t>(found.name);
    const auto [at, is_new] = kind_rows_.try_emplace(key, static_cast<std::uint32_t>(kinds_.size()));
    if (is_new) kinds_.push_back(found);
    return at->second;
  }

  /// Where the object was allocated, for dumps with trace_object_allocations; kNone without.
  std::uint32_t place_of(const ObjectLine& line) {
    if (line.file.empty()) return kNone;
    const FunctionId function = builder_.function(line.method.empty() ? "<top level>" : line.method, line.file);
    return static_cast<std::uint32_t>(
        builder_.frame({.function = function, .line = static_cast<std::int32_t>(line.line)}));
  }

  /// The name of an object's class, else what its line says. Nodes of the machine have classes for other reasons.
  StringId name_of(std::uint32_t row, bool& is_instance) const {
    const Kind& kind = kinds_[kind_[row]];
    is_instance = false;
    std::uint32_t of = kind.is_class || is_internal(kind) ? kNone : ids_.find(class_of_[row]);
    if (of == HashIndex::kAbsent || of == kNone) return kind.name;
    // An object may have a class of its own, whose superclass is the one that people know.
    constexpr int kMostSteps = 8;
    for (int step = 0; step < kMostSteps && superclass_of_.contains(of); ++step) {
      const std::uint32_t above = ids_.find(superclass_of_.at(of));
      if (above == HashIndex::kAbsent || !kinds_[kind_[above]].is_class) break;
      of = above;
    }
    const Kind& class_kind = kinds_[kind_[of]];
    if (!class_kind.is_class) return kind.name;
    // Objects of extensions without a class of their own say more by their struct.
    if (kind.kind == data_ && builder_.dictionary().strings[class_kind.name] == "Object") return kind.name;
    is_instance = true;
    return class_kind.name;
  }

  bool is_internal(const Kind& kind) const { return kind.kind == imemo_ || kind.kind == iclass_; }

  void add_types_and_rows() {
    std::unordered_map<std::uint64_t, TypeKey> keys;
    std::string text;
    const StringId object = builder_.string("object");
    for (std::uint32_t row = 0; row < graph_->size(); ++row) {
      bool is_instance = false;
      const StringId name = name_of(row, is_instance);
      const Kind& kind = kinds_[kind_[row]];
      const std::uint32_t type = types_.row(graph_->types, is_instance ? object : kind.kind, name);
      graph_->type[row] = type;
      const auto [at, is_new] = keys.try_emplace(static_cast<std::uint64_t>(type) << 32 | place_[row]);
      if (is_new) {
        text = type_text(is_instance ? "object" : builder_.dictionary().strings[kind.kind],
                         builder_.dictionary().strings[name]);
        at->second = type_key(builder_, text);
        if (place_[row] != kNone) {
          const std::array frames = {builder_.frame({.function = builder_.function(text)}), FrameId{place_[row]}};
          at->second.stack = builder_.stack(frames);
        }
      }
      builder_.add_row(at->second.stack, at->second.labels, std::array<std::int64_t, 2>{1, graph_->self_bytes[row]});
    }
  }

  /// Edges and roots to addresses that have no line are left out.
  void connect() {
    Edges edges{std::move(from_), std::vector<std::uint32_t>(to_.size()), std::move(label_)};
    for (std::size_t edge = 0; edge < to_.size(); ++edge) {
      edges.to[edge] = ids_.find(to_[edge]);
      if (edges.to[edge] != HashIndex::kAbsent) continue;
      edges.from[edge] = kNoEdge;
      builder_.notes().add(Severity::info, "references to addresses without an object, left out");
    }
    std::vector<std::uint64_t>().swap(to_);
    graph_->flags.assign(graph_->size(), 0);
    if (roots_.empty()) add_missing_roots(edges);
    for (const Root& root : roots_) {
      if (const std::uint32_t row = ids_.find(root.address); row != HashIndex::kAbsent)
        graph_->roots.push_back({row, root.name});
    }
    finish_roots(*graph_);
    place_edges(*graph_, std::move(edges));
  }

  /// A part of a dump, as tools cut it out, has no roots: what nothing holds is one.
  void add_missing_roots(const Edges& edges) {
    const std::vector<bool> is_held = edges.held(graph_->size());
    const StringId name = builder_.string("no visible referrer");
    for (std::uint32_t row = 0; row < graph_->size(); ++row) {
      if (!is_held[row]) graph_->roots.push_back({row, name});
    }
    builder_.notes().add(Severity::info,
                         "no roots: a part of a dump; objects that nothing here holds are taken for them");
    builder_.facts().complete = false;
  }

  Snapshot finish() {
    builder_.add_heap_columns();
    SnapshotFacts& facts = exact_facts(builder_, "ruby");
    add_types_and_rows();
    connect();
    graph_->id = ids_.numbers();
    if (shapes_ > 0) {
      facts.counters.push_back({"shapes", shapes_, "count"});
      facts.counters.push_back({"shape_space", shape_bytes_, "bytes"});
    }
    give_graph(builder_, std::move(graph_));
    return value_or_throw(builder_.finish());
  }

  json::JsonScanner json_;
  SnapshotBuilder builder_;
  std::shared_ptr<ObjectGraph> graph_;
  NumberRows ids_;
  TypeRows types_;
  const StringId class_label_ = builder_.string("class"), superclass_label_ = builder_.string("superclass");
  const StringId imemo_ = builder_.string("imemo"), iclass_ = builder_.string("iclass"),
                 data_ = builder_.string("data");
  std::vector<Kind> kinds_;
  std::unordered_map<std::uint64_t, std::uint32_t> kind_rows_;
  std::unordered_map<std::uint32_t, std::uint64_t> superclass_of_;  // of classes without a name
  std::vector<std::uint32_t> kind_, place_, from_, label_;          // the first two by object, the others by edge
  std::vector<std::uint64_t> class_of_, to_;
  std::vector<Root> roots_;
  std::uint64_t offset_ = 0;
  std::int64_t shapes_ = 0, shape_bytes_ = 0;
};

Match sniff_dump(std::string_view head) {
  if (text::begins_with(head, {"{", "\"type\"", ":", "\"ROOT\"", ",", "\"root\""})) return Match::certain;
  if (!text::begins_with(head, {"{", "\"address\"", ":", "\"0x"})) return Match::no;
  const std::string_view line = head.substr(0, head.find('\n'));
  constexpr std::string_view kTypes[] = {"SHAPE", "STRING", "OBJECT", "ARRAY", "CLASS",  "IMEMO", "HASH",
                                         "DATA",  "ICLASS", "MODULE", "FILE",  "STRUCT", "SYMBOL"};
  return certain_if(std::any_of(std::begin(kTypes), std::end(kTypes), [&](std::string_view type) {
    std::string compact = "\"type\":\"";
    compact.append(type).append("\"");
    std::string spaced = "\"type\": \"";
    spaced.append(type).append("\"");
    return contains(line, compact) || contains(line, spaced);
  }));
}

}  // namespace

constexpr Format kRubyHeap{
    .info = {"ruby-heap",
             "object graph of Ruby: ObjectSpace.dump_all, with the place of allocation where it was traced",
             "*.json, *.jsonl, *.heap, *.dump", "values, generations and flags of objects; names of references"},
    .sniff = sniff_dump,
    .decode = [](Input& in, SnapshotSink& out, const ReadRequest&) { give(out, DumpReader(in).read()); }};

}  // namespace snapdiff::formats
