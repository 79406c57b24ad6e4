#include "formats/hprof/finish_heap.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "analyzer/base/contains.hpp"
#include "formats/hprof/address_index.hpp"
#include "formats/hprof/object_sizes.hpp"
#include "formats/input/graph_parts.hpp"
#include "formats/input/type_row.hpp"
#include "snapdiff/checked.hpp"

namespace snapdiff::formats::hprof {
namespace {

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
    if (dangling_ > 0) {
      builder_.notes().add(Severity::warning, "references to objects that are not in the dump, left out", std::nullopt,
                           dangling_);
    }
  }

  void add_edge(const AddressIndex& index, std::size_t from, std::uint64_t target, std::uint32_t label) {
    const std::uint32_t node = index.find(target);
    if (node == AddressIndex::kAbsent) {
      ++dangling_;
      return;
    }
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
      if (!checked_add(sum.bytes, bytes, sum.bytes))
        fail(ErrorCode::limit, "sizes of one class add up beyond 2^63-1, expected them to fit in 64 bits", 0);
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
      const std::int64_t values[] = {sums_[row].count, sums_[row].bytes};
      add_type_row(builder_, name, values);
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

}  // namespace

void finish_heap(RawHeap& heap, ClassTable& classes, NameTable& names, std::uint32_t id_bytes,
                 SnapshotBuilder& builder) {
  Finisher(heap, classes, names, id_bytes, builder).run();
}

}  // namespace snapdiff::formats::hprof
