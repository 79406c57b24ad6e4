#include "analyzer/base/contains.hpp"
#include "formats/hprof/address_index.hpp"
#include "formats/hprof/heap_dump.hpp"
#include "formats/input/all_formats.hpp"
#include "formats/input/graph_parts.hpp"
#include "formats/input/type_row.hpp"

namespace snapdiff::formats {
namespace {

using namespace hprof;

constexpr std::size_t kMostVotes = std::size_t{1} << 22;
constexpr std::string_view kUnnamedClass = "[unnamed class]";
constexpr std::string_view kClassOfClasses = "java.lang.Class";
constexpr std::string_view kWeakHolder = "java.lang.ref.Reference";
constexpr std::string_view kSoftHolder = "java.lang.ref.SoftReference";

constexpr int kMostAncestors = 64;      // of a class; deeper ones are taken for no soft reference
constexpr std::uint32_t kIntType = 10;  // of a primitive array

constexpr std::array<std::string_view, 4> kKindNames = {"instance", "object array", "primitive array", "class"};

/// What histograms call arrays of this type of values.
std::string_view primitive_array_name(std::uint32_t type) {
  constexpr std::string_view kNames[] = {"[Z", "[C", "[F", "[D", "[B", "[S", "[I", "[J"};
  return kNames[type - 4];
}

std::string_view root_name(std::uint8_t tag) {
  switch (tag) {
    case 0x01: return "JNI global";
    case 0x02: return "JNI local";
    case 0x03: return "Java frame";
    case 0x04: return "native stack";
    case 0x05: return "sticky class";
    case 0x06: return "thread block";
    case 0x07: return "monitor used";
    case 0x08: return "thread object";
    case 0x89: return "interned string";
    case 0x8a: return "finalizing";
    case 0x8b: return "debugger";
    case 0x8c: return "reference cleanup";
    case 0x8d: return "VM internal";
    case 0x8e: return "JNI monitor";
    case 0x90: return "unreachable";
    default: return "unknown";
  }
}

class Finisher {
 public:
  Finisher(RawHeap& heap, ClassTable& classes, NameTable& names, std::uint32_t id_bytes, SnapshotBuilder& builder)
      : heap_(heap),
        classes_(classes),
        names_(names),
        id_bytes_(id_bytes),
        builder_(builder),
        graph_(std::make_shared<ObjectGraph>()) {}

  void run() {
    builder_.add_heap_columns();
    graph_->id = heap_.id.take_all();
    graph_->flags.assign(graph_->id.size(), 0);
    kind_ = heap_.kind.take_all();
    length_ = heap_.length.take_all();
    name_classes();
    {
      const AddressIndex index(graph_->id);
      choose_model(index);
      find_soft_classes();
      connect(index);
      add_roots(index);
      find_dead_space();
      drop_repeated_ids(index);
    }
    add_types_and_sizes();
    add_rows();
    graph_->sizes_estimated = true;
    builder_.notes().add(Severity::info, "sizes are estimates, since the file has none: " + text_of(model_));
    give_graph(builder_, std::move(graph_));
  }

 private:
  /// java/util/HashMap$Node as java.util.HashMap$Node: what histograms, stack traces and people write.
  void name_classes() {
    std::uint64_t unnamed = 0;
    std::string text;
    for (std::uint32_t row = 0; row < classes_.size(); ++row) {
      const std::optional<std::string_view> name =
          classes_[row].has_name ? names_.find(classes_[row].name) : std::nullopt;
      text = name.value_or(kUnnamedClass);
      unnamed += name ? 0U : 1U;
      std::replace(text.begin(), text.end(), '/', '.');
      class_name_.push_back(builder_.string(text));
    }
    if (unnamed > 0) builder_.notes().add(Severity::data_loss, "classes without a name", std::nullopt, unnamed);
    std::uint64_t nameless_fields = 0;
    for (std::size_t row = 0; row < classes_.field_name.size(); ++row) {
      const FieldName& field = classes_.field_name[row];
      if (row < std::size(kFixedNames)) {
        label_.push_back(static_cast<std::uint32_t>(builder_.string(kFixedNames[row])));
        continue;
      }
      const std::optional<std::string_view> name = names_.find(field.name);
      nameless_fields += name ? 0U : 1U;
      const bool weak =
          name == "referent" && builder_.dictionary().strings[class_name_[field.class_row]] == kWeakHolder;
      const StringId text_id = builder_.string(name.value_or("[unnamed field]"));
      label_.push_back(static_cast<std::uint32_t>(text_id) | (weak ? kEdgeIsWeak : 0));
    }
    if (nameless_fields > 0)
      builder_.notes().add(Severity::data_loss, "fields without a name", std::nullopt, nameless_fields);
    if (builder_.dictionary().strings.size() >= kEdgeLabel)
      fail(ErrorCode::limit, "too many names: expected fewer than 2^30", 0);
    std::vector<FieldName>().swap(classes_.field_name);
  }

  Contents contents_of(const ClassRow& of) const {
    return {of.bytes - of.references * id_bytes_, of.references, false, &of.ends};
  }

  /// Contents of a node, unless it is a class or of a class that is not in the dump.
  std::optional<Contents> contents(std::uint32_t node) const {
    const std::uint32_t row = row_of(kind_[node]);
    switch (kind_of(kind_[node])) {
      case Kind::instance:
        if (!classes_[row].is_summed) return std::nullopt;
        return contents_of(classes_[row]);
      case Kind::object_array: return Contents{0, length_[node], true};
      case Kind::primitive_array:
        return Contents{std::uint64_t{length_[node]} * value_bytes(static_cast<std::uint8_t>(row), id_bytes_), 0, true};
      case Kind::class_object: break;
    }
    return std::nullopt;
  }

  void choose_model(const AddressIndex& index) {
    ModelVote vote(id_bytes_);
    const std::span<const std::uint32_t> order = index.order();
    for (std::size_t i = 0; i + 1 < std::min(order.size(), kMostVotes); ++i) {
      if (const std::optional<Contents> of = contents(order[i]))
        vote.add(*of, graph_->id[order[i + 1]] - graph_->id[order[i]]);
    }
    model_ = vote.winner();
  }

  /// SoftReference and the classes below it.
  void find_soft_classes() {
    is_soft_.assign(classes_.size(), 0);
    for (std::uint32_t row = 0; row < classes_.size(); ++row) {
      std::uint32_t at = row;
      for (int steps = 0; steps < kMostAncestors; ++steps) {
        if (builder_.dictionary().strings[class_name_[at]] == kSoftHolder) is_soft_[row] = 1;
        const std::optional<std::uint32_t> super = classes_.find(classes_[at].super);
        if (is_soft_[row] != 0 || classes_[at].super == 0 || !super) break;
        at = *super;
      }
    }
    soft_label_ = static_cast<std::uint32_t>(builder_.string(kSoftReferent)) | kEdgeIsWeak;
  }

  /// An instance keeps its class, and that its loader: said once for each class, by its first instance.
  void hold_class(const AddressIndex& index, std::size_t node, std::vector<std::uint8_t>& held) {
    if (kind_of(kind_[node]) != Kind::instance) return;
    const std::uint32_t row = row_of(kind_[node]);
    if (!classes_[row].has_loader || held[row] != 0) return;
    held[row] = 1;
    add_edge(index, node, classes_[row].id, kClassLabel);
  }

  /// Collectors fill gaps with arrays that nothing refers to.
  void find_dead_space() {
    const ObjectGraph& graph = *graph_;
    std::vector<bool> referred(graph.id.size());
    for (const std::uint32_t to : graph.to) referred[to] = true;
    for (const ObjectRoot& root : graph.roots) referred[root.node] = true;
    is_dead_.resize(referred.size());
    for (std::size_t node = 0; node < referred.size(); ++node) {
      if (referred[node]) continue;
      const std::uint32_t row = row_of(kind_[node]);
      if (kind_of(kind_[node]) == Kind::primitive_array) {
        is_dead_[node] = row == kIntType;
      } else {
        is_dead_[node] = contains(builder_.dictionary().strings[class_name_[row]], "jdk.internal.vm.Filler");
      }
    }
  }

  void connect(const AddressIndex& index) {
    ObjectGraph& graph = *graph_;
    const std::size_t nodes = graph.id.size();
    const std::size_t most = heap_.target.size() + heap_.late.size() + classes_.size();
    std::vector<std::uint8_t> held(classes_.size(), 0);
    graph.edge_begin.reserve(nodes + 1);
    graph.to.reserve(most);
    graph.label.reserve(most);
    auto late = heap_.late.begin();
    for (std::size_t node = 0; node < nodes; ++node) {
      for (std::uint32_t count = heap_.edge_count.take_front(); count > 0; --count) {
        const std::uint64_t target = heap_.target.take_front();
        add_edge(index, node, target, heap_.label.take_front());
      }
      for (; late != heap_.late.end() && late->node == node; ++late) add_edge(index, node, late->target, late->label);
      hold_class(index, node, held);
      graph.edge_begin.push_back(graph.to.size());
    }
    std::vector<RawHeap::LateEdge>().swap(heap_.late);
    if (dangling_ > 0)
      builder_.notes().add(Severity::warning, "references to objects that are not in the dump, left out", std::nullopt,
                           dangling_);
  }

  void add_edge(const AddressIndex& index, std::size_t from, std::uint64_t target, std::uint32_t label) {
    const std::uint32_t node = index.find(target);
    dangling_ += node == AddressIndex::kAbsent ? 1U : 0U;
    if (node == AddressIndex::kAbsent) return;
    graph_->to.push_back(node);
    const std::uint32_t named = (label & kEdgeIsIndex) != 0 ? label : label_[label];
    const bool soft = (label & kEdgeIsIndex) == 0 && (named & kEdgeIsWeak) != 0 &&
                      kind_of(kind_[from]) == Kind::instance && is_soft_[row_of(kind_[from])] != 0;
    graph_->label.push_back(soft ? soft_label_ : named);
  }

  void add_roots(const AddressIndex& index) {
    ObjectGraph& graph = *graph_;
    std::array<StringId, 256> names{};
    std::uint64_t dangling = 0;
    while (heap_.roots.size() > 0) {
      const RawRoot root = heap_.roots.take_front();
      const std::uint32_t node = index.find(root.id);
      if (node == AddressIndex::kAbsent) {
        ++dangling;
        continue;
      }
      if (names[root.tag] == StringId{}) names[root.tag] = builder_.string(root_name(root.tag));
      graph.roots.push_back({node, names[root.tag]});
    }
    finish_roots(graph);
    if (dangling > 0)
      builder_.notes().add(Severity::warning, "roots that are not in the dump, left out", std::nullopt, dangling);
  }

  /// References meant the first one. The index is not used afterwards.
  void drop_repeated_ids(const AddressIndex& index) {
    const std::span<const std::uint32_t> order = index.order();
    std::uint64_t repeated = 0;
    std::uint64_t last = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::uint64_t id = graph_->id[order[i]];
      if (i > 0 && id == last) {
        graph_->id[order[i]] = kNoObjectId;
        ++repeated;
      }
      last = id;
    }
    if (repeated > 0)
      builder_.notes().add(Severity::warning, "objects that share an address with an earlier one", std::nullopt,
                           repeated);
  }

  std::uint32_t type_row(std::uint32_t packed) {
    const Kind kind = kind_of(packed);
    const std::uint32_t row = row_of(packed);
    std::vector<std::uint32_t>& known = type_row_[static_cast<std::size_t>(kind)];
    if (known.size() <= row)
      known.resize(std::max<std::size_t>(row + 1, kind == Kind::primitive_array ? 12 : classes_.size()), kNoRow);
    if (known[row] == kNoRow) {
      const StringId kind_name = builder_.string(kKindNames[static_cast<std::size_t>(kind)]);
      const StringId name =
          kind == Kind::primitive_array ? builder_.string(primitive_array_name(row)) : class_name_[row];
      known[row] = types_.row(graph_->types, kind_name, name);  // classes of one name, of several loaders, are one type
      sums_.resize(graph_->types.size());
    }
    return known[row];
  }

  std::uint32_t dead_row() {
    if (dead_row_ == kNoRow) {
      dead_row_ = types_.row(graph_->types, builder_.string(""), builder_.string(kDeadSpace));
      sums_.resize(graph_->types.size());
    }
    return dead_row_;
  }

  /// Fields of java.lang.Class itself, which every class object has beside its statics.
  Contents class_contents() const {
    for (std::uint32_t row = 0; row < classes_.size(); ++row) {
      if (builder_.dictionary().strings[class_name_[row]] == kClassOfClasses && classes_.sum(row) == Summed::done)
        return contents_of(classes_[row]);
    }
    return Contents{};
  }

  void add_types_and_sizes() {
    ObjectGraph& graph = *graph_;
    const Contents of_class = class_contents();
    graph.self_bytes.reserve(kind_.size());
    for (std::size_t node = 0; node < kind_.size(); ++node) {
      Contents of = contents(static_cast<std::uint32_t>(node)).value_or(Contents{});
      if (kind_of(kind_[node]) == Kind::class_object) {
        of = of_class;
        of.more = length_[node];
      }
      const auto bytes = static_cast<std::int64_t>(size_of(model_, of));
      graph.self_bytes.push_back(bytes);
      kind_[node] = is_dead_[node] ? dead_row() : type_row(kind_[node]);
      Sum& sum = sums_[kind_[node]];
      ++sum.count;
      add_to(sum.bytes, bytes, "sizes of one class add up", 0);
    }
    graph.type = std::move(kind_);
    std::vector<std::uint32_t>().swap(length_);
  }

  void add_rows() {
    const ObjectTypeTable& types = graph_->types;
    const StringId class_kind = builder_.string(kKindNames[static_cast<std::size_t>(Kind::class_object)]);
    std::string name;
    for (std::size_t row = 0; row < types.size(); ++row) {
      name = types.kind[row] == class_kind ? kClassOfClasses : builder_.dictionary().strings[types.name[row]];
      add_type_row(builder_, name, {sums_[row].count, sums_[row].bytes});
    }
  }

  struct Sum {
    std::int64_t count = 0;
    std::int64_t bytes = 0;
  };
  static constexpr std::uint32_t kNoRow = std::numeric_limits<std::uint32_t>::max();

  RawHeap& heap_;
  ClassTable& classes_;
  NameTable& names_;
  const std::uint32_t id_bytes_;
  SnapshotBuilder& builder_;
  std::shared_ptr<ObjectGraph> graph_;
  ObjectModel model_;
  std::vector<std::uint32_t> kind_;  // by node: pack_kind(), then the row of types
  std::vector<std::uint32_t> length_;
  std::vector<StringId> class_name_;
  std::vector<std::uint32_t> label_;  // by row of ClassTable::field_name
  std::array<std::vector<std::uint32_t>, 4> type_row_;
  std::vector<Sum> sums_;  // by row of types
  TypeRows types_;
  std::uint64_t dangling_ = 0;
  std::vector<std::uint8_t> is_soft_;  // by row of classes
  std::uint32_t soft_label_ = 0;
  std::vector<bool> is_dead_;  // by node: filled by the collector
  std::uint32_t dead_row_ = kNoRow;
};

/// Turns addresses into rows and gives everything its name; `heap` is used up as it goes, so that
/// the graph takes its place in memory. Adds the columns and rows of `builder`. Throws Failure.
void finish_heap(RawHeap& heap, ClassTable& classes, NameTable& names, std::uint32_t id_bytes,
                 SnapshotBuilder& builder) {
  Finisher(heap, classes, names, id_bytes, builder).run();
}

constexpr std::string_view kMagic = "JAVA PROFILE 1.0.";
constexpr std::size_t kHeaderText = 19;  // with the NUL
constexpr std::uint32_t kLongestName = 4096;
constexpr std::uint32_t kMostDumps = 1024;
constexpr std::uint64_t kMostMilliseconds =
    static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / 1'000'000;

/// Reads all heap dumps of a file, in their order; of several, one that is damaged takes the others with it.
/// Throws Failure. Errors: malformed, unsupported (versions), limit; those of the sink.
class HprofReader {
 public:
  HprofReader(Input& in, SnapshotSink& out) : bytes_(in), out_(out) {}

  void read() {
    header();
    while (!bytes_.at_end(p_)) record();
    if (!dump_) fail_malformed("no heap dump in the file: it ends, expected a record 0x0c or 0x1c", offset());
    finish_dump();
  }

 private:
  std::uint64_t offset() const { return bytes_.offset_of(p_); }

  void have(std::size_t size, std::string_view what) {
    if (!bytes_.ensure(p_, size)) fail_malformed("truncated: the input ends within " + std::string(what), offset());
  }

  void header() {
    have(kHeaderText + 12, "the header");
    const std::string_view text(p_, kHeaderText);
    const char version = text[kMagic.size()];
    if (text.substr(0, kMagic.size()) != kMagic || text[kHeaderText - 1] != '\0')
      fail_malformed("header not recognised: expected JAVA PROFILE 1.0. and a version", offset());
    if (version < '1' || version > '3')
      fail(ErrorCode::unsupported,
           "version not read: found 1.0." + std::string(1, version > ' ' && version < 0x7f ? version : '?') +
               ", expected 1.0.1 to 1.0.3",
           offset());
    p_ += kHeaderText;
    id_bytes_ = load_u4(p_);
    if (id_bytes_ != 4 && id_bytes_ != 8) fail_malformed(instead("size of ids", id_bytes_, "4 or 8"), offset());
    const std::uint64_t milliseconds = load_u8(p_ + 4);
    if (milliseconds != 0 && milliseconds <= kMostMilliseconds)
      began_at_ns_ = static_cast<std::int64_t>(milliseconds * 1'000'000);
    detail_ = std::string("1.0.") + version + ", ids of " + std::to_string(id_bytes_) + " bytes";
    p_ += 12;
  }

  /// One dump of the file, of which there may be several.
  struct Dump {
    Dump(ByteWindow& bytes, std::uint32_t id_bytes) : heap(bytes, id_bytes, classes, builder.notes()) {}
    SnapshotBuilder builder;
    ClassTable classes;
    HeapDump heap;
  };

  void finish_dump() {
    const std::unique_ptr<Dump> dump = std::move(dump_);
    for (std::uint32_t row = 0; row < dump->classes.size(); ++row) {
      ClassRow& of = dump->classes[row];
      const std::optional<std::uint32_t> loaded = loaded_.find(of.id);
      of.has_name = loaded.has_value();
      if (loaded) of.name = loaded_[*loaded].name;
    }
    dump->heap.finish();
    finish_heap(dump->heap.heap, dump->classes, names_, id_bytes_, dump->builder);
    SnapshotFacts& facts = exact_facts(dump->builder, "jvm", detail_);
    facts.taken_at_ns = began_at_ns_;
    if (facts.taken_at_ns && !checked_add(*facts.taken_at_ns, begun_after_us_ * 1000, *facts.taken_at_ns))
      facts.taken_at_ns.reset();
    facts.notes.add_all(notes_);
    give(out_, dump->builder.finish());
  }

  /// A record 0x0c is a dump; segments 0x1c are one up to a record 0x2c. Source: eclipse-mat/mat, Pass1Parser.java.
  void dump_record(std::uint8_t tag, std::uint32_t length, std::uint32_t after_us) {
    if (dump_ && length == 0) return;
    if (dump_ && dump_ended_) finish_dump();
    if (!dump_) {
      if (++dumps_ > kMostDumps)
        fail(ErrorCode::limit, "too many heap dumps in one file: expected at most " + std::to_string(kMostDumps),
             offset());
      dump_ = std::make_unique<Dump>(bytes_, id_bytes_);
      begun_after_us_ = after_us;
    }
    dump_->heap.read(p_, length, tag == 0x0c);
    dump_ended_ = tag == 0x0c;
  }

  void record() {
    const std::uint64_t start = offset();
    have(9, "the head of a record");
    const auto tag = static_cast<std::uint8_t>(*p_);
    const std::uint32_t after_us = load_u4(p_ + 1);
    const std::uint32_t length = load_u4(p_ + 5);
    p_ += 9;
    switch (tag) {
      case 0x01: return text(length, start);
      case 0x02: return load_class(length, start);
      case 0x0c:
      case 0x1c: return dump_record(tag, length, after_us);
      case 0x2c: dump_ended_ = true; break;
      case 0x03:  // unload class
      case 0x04:  // frame
      case 0x05:  // trace
      case 0x06:  // allocation sites
      case 0x07:  // heap summary
      case 0x0a:  // start of a thread
      case 0x0b:  // end of a thread
      case 0x0d:  // CPU samples
      case 0x0e: break;
      default: fail_malformed("unknown record: found tag " + std::to_string(tag) + ", expected one of hprof", start);
    }
    if (!bytes_.skip(p_, length))
      fail_malformed("truncated: the input ends within a record of " + std::to_string(length) + " bytes", offset());
  }

  void text(std::uint32_t length, std::uint64_t start) {
    const std::uint32_t id_bytes = id_bytes_;
    if (length < id_bytes)
      fail_malformed("record too short: a string has " + std::to_string(length) + " bytes, expected at least " +
                         std::to_string(id_bytes),
                     start);
    have(id_bytes, "a string");
    const std::uint64_t id = id_bytes == 8 ? load_u8(p_) : load_u4(p_);
    p_ += id_bytes;
    length -= id_bytes;
    const std::uint32_t kept = std::min(length, kLongestName);
    have(kept, "a string");
    names_.add(id, std::string_view(p_, kept));
    if (kept < length) notes_.add(Severity::info, "names longer than 4096 bytes are cut", start);
    if (!bytes_.skip(p_, length)) fail_malformed("truncated: the input ends within a string", offset());
  }

  void load_class(std::uint32_t length, std::uint64_t start) {
    const std::uint32_t id_bytes = id_bytes_;
    if (length != 8 + 2 * id_bytes)
      fail_malformed(instead("length of a class record", length, std::to_string(8 + 2 * id_bytes)), start);
    have(length, "a class record");
    const auto id_at = [&](std::size_t at) { return id_bytes == 8 ? load_u8(p_ + at) : load_u4(p_ + at); };
    loaded_[loaded_.row_of(id_at(4))].name = id_at(8 + id_bytes);
    p_ += length;
  }

  ByteWindow bytes_;
  const char* p_ = nullptr;
  SnapshotSink& out_;
  std::uint32_t id_bytes_ = 0;
  std::optional<std::int64_t> began_at_ns_;
  std::int64_t begun_after_us_ = 0;  // of the dump that is being read
  std::string detail_;
  NameTable names_;
  ClassTable loaded_;  // names of classes, so far
  Notes notes_;
  std::unique_ptr<Dump> dump_;
  std::uint32_t dumps_ = 0;
  bool dump_ended_ = false;  // the next record of objects begins another one
};

}  // namespace

constexpr Format kHprof{
    .info = {"hprof", "heap dump of a Java or Android virtual machine: objects and who holds them", "*.hprof",
             "values of fields and arrays; thread stacks; sizes are estimates"},
    .sniff = [](std::string_view head) { return certain_if(head.substr(0, 17) == "JAVA PROFILE 1.0."); },
    .decode = [](Input& in, SnapshotSink& out, const ReadRequest&) { HprofReader(in, out).read(); }};

}  // namespace snapdiff::formats
