#include "formats/jfr/old_objects.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace snapdiff::formats::jfr {
namespace {

constexpr std::string_view kObject[] = {"type", "description", "referrer"};
constexpr std::string_view kReference[] = {"array", "field", "object", "skip"};
constexpr std::string_view kArray[] = {"index"};
constexpr std::string_view kField[] = {"name"};
constexpr std::string_view kClass[] = {"name"};
constexpr std::string_view kRoot[] = {"system", "type"};

/// HotSpot's names of roots, and what heap dumps call the same.
constexpr std::pair<std::string_view, std::string_view> kRootNames[] = {
    {"Stack Variable", "Java frame"},    {"Local Variable", "Java frame"},       {"Local JNI Handle", "JNI local"},
    {"Global JNI Handle", "JNI global"}, {"Global Object Handle", "JNI global"}, {"Handle Area", "native stack"},
};

}  // namespace

std::string class_name(std::string text) {
  // A hidden class has a place and a number, "Svc$$Lambda$3+0x00007f/8677": the number is another one in each run.
  const std::size_t place = text.find("+0x"), number = text.rfind('/');
  if (place != std::string::npos && number != std::string::npos && number > place) text.resize(number);
  std::replace(text.begin(), text.end(), '/', '.');
  return text;
}

std::string class_name(Chunk& chunk, const Value& type) { return class_name(chunk.text(chunk.look(type, kClass)[0])); }

std::uint32_t OldObjects::node_type(Chunk& chunk, const Value& type, const Value& description) {
  constexpr std::string_view kClass = "Class Name: ";
  text_ = class_name(chunk, type);
  std::string_view kind = text_.starts_with('[') ? text_.size() == 2 ? "primitive array" : "object array" : "instance";
  if (const std::string said = chunk.text(description); said.starts_with(kClass)) {
    kind = "class";
    text_ = class_name(said.substr(kClass.size()));
  }
  return types_.row(graph_->types, names_.string(kind), names_.string(text_));
}

std::uint32_t OldObjects::label_of(Chunk& chunk, const Value& array, const Value& field, std::int64_t skipped) {
  if (skipped > 0) return static_cast<std::uint32_t>(names_.string("[references left out]"));
  if (const Chunk::Values of = chunk.look(array, kArray); of[0].known())
    return kEdgeIsIndex | static_cast<std::uint32_t>(std::clamp<std::int64_t>(of[0].number, 0, kEdgeLabel));
  const auto name = static_cast<std::uint32_t>(names_.string(chunk.text(chunk.look(field, kField)[0])));
  return std::min(name, kEdgeLabel);
}

std::string_view OldObjects::root_kind(Chunk& chunk, const Value& root) {
  const Chunk::Values of = chunk.look(root, kRoot);
  text_ = chunk.text(of[1]);
  for (const auto& [theirs, ours] : kRootNames) {
    if (text_ == theirs) return ours;
  }
  if (text_.empty() || text_.starts_with('<') || text_ == "N/A") text_ = chunk.text(of[0]);
  return text_.empty() ? "unknown" : std::string_view(text_);
}

void OldObjects::add(Chunk& chunk, const Value& object, const Value& root, std::int64_t bytes) {
  ObjectGraph& graph = *graph_;
  Value at = object;
  std::uint32_t held = kNoEdge, label = 0;
  bool is_new = true;
  has_sizes_ = has_sizes_ || bytes >= 0;
  while (is_new && at.in_pool && at.number != 0) {
    const Chunk::Values fields = chunk.look(at, kObject);
    if (!fields[0].known()) break;
    const std::uint32_t node = keys_.intern(static_cast<std::uint64_t>(at.number));
    is_new = node == graph.type.size();
    if (is_new) {
      graph.type.push_back(node_type(chunk, fields[0], fields[1]));
      graph.self_bytes.push_back(0);
      graph.flags.push_back(0);
    }
    if (held == kNoEdge) {
      graph.self_bytes[node] = std::max<std::int64_t>(bytes, 0);
    } else {
      from_.push_back(node);
      to_.push_back(held);
      label_.push_back(label);
    }
    const Chunk::Values reference = chunk.look(fields[2], kReference);
    held = node;
    at = reference[2];
    label = label_of(chunk, reference[0], reference[1], reference[3].number);
  }
  if (is_new && held != kNoEdge && root.known() && root.number != 0)
    graph.roots.push_back({held, names_.string(root_kind(chunk, root))});
}

std::shared_ptr<const ObjectGraph> OldObjects::finish() {
  if (from_.empty()) return nullptr;
  if (!has_sizes_) graph_->self_bytes.clear();
  place_edges(*graph_, std::move(from_), std::move(to_), std::move(label_));
  finish_roots(*graph_);
  value_or_throw(validate(*graph_, names_.dictionary()));
  return std::move(graph_);
}

}  // namespace snapdiff::formats::jfr
