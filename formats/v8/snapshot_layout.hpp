#pragma once

#include "formats/json/json_scanner.hpp"

namespace snapdiff::formats::v8 {

constexpr std::size_t kMostTypes = 256;

constexpr std::size_t kLongestName = 128;

inline std::vector<std::string> names(json::JsonScanner& json, std::size_t most) {
  std::vector<std::string> out;
  json.each_item([&](std::size_t index) {
    if (index == most)
      fail_malformed("list too long: expected at most " + std::to_string(most) + " names", json.offset());
    json.text(out.emplace_back(), kLongestName);
  });
  return out;
}

/// The names of the first field's values: [[name, ...], "string", ...].
inline std::vector<std::string> type_names(json::JsonScanner& json) {
  std::vector<std::string> out;
  json.each_item([&](std::size_t index) {
    if (index == 0 && json.token() == '[') {
      out = names(json, kMostTypes);
    } else {
      json.skip_value();
    }
  });
  return out;
}

/// What the member "snapshot" says of the arrays after it: which number of a row means what, by the names of
/// its meta data, since the rows differ between versions.
struct Layout {
  static constexpr std::size_t kAbsent = ~std::size_t{0};
  static constexpr std::size_t kMostFields = 32;

  std::vector<std::string> node_types;  ///< those that the file lists, then those that V8 writes without listing
  std::size_t listed_node_types = 0;
  std::vector<std::string> edge_types;
  std::size_t node_width = 0;
  std::size_t type = kAbsent;
  std::size_t name = kAbsent;
  std::size_t id = kAbsent;
  std::size_t self_size = kAbsent;
  std::size_t edge_count = kAbsent;
  std::size_t detachedness = kAbsent;
  std::size_t trace = kAbsent;
  std::size_t edge_width = 0;
  std::size_t edge_type = kAbsent;
  std::size_t name_or_index = kAbsent;
  std::size_t to_node = kAbsent;
  std::uint64_t nodes = 0;  ///< as declared
  std::uint64_t edges = 0;
};

inline std::size_t place_of(const std::vector<std::string>& fields, std::string_view field) {
  const auto found = std::find(fields.begin(), fields.end(), field);
  return found == fields.end() ? Layout::kAbsent : static_cast<std::size_t>(found - fields.begin());
}

/// V8 has had more types of nodes than names in its list of them (version 6 of 2017: `symbol`, later `bigint`).
/// Sources: the order of v8/include/v8-profiler.h, HeapGraphNode::Type, against
/// v8/src/profiler/heap-snapshot-generator.cc, SerializeSnapshot.
inline void add_unlisted(Layout& layout) {
  constexpr std::array<std::string_view, 14> kOrder = {"hidden",
                                                       "array",
                                                       "string",
                                                       "object",
                                                       "code",
                                                       "closure",
                                                       "regexp",
                                                       "number",
                                                       "native",
                                                       "synthetic",
                                                       "concatenated string",
                                                       "sliced string",
                                                       "symbol",
                                                       "bigint"};
  constexpr std::size_t kBeforeUnlisted = 12;
  constexpr std::size_t kMostUnlisted = 8;
  layout.listed_node_types = layout.node_types.size();
  const bool is_known_order =
      layout.node_types.size() >= kBeforeUnlisted &&
      std::equal(layout.node_types.begin(), layout.node_types.begin() + kBeforeUnlisted, kOrder.begin());
  if (!is_known_order) return;
  for (std::size_t i = layout.node_types.size(); i < layout.listed_node_types + kMostUnlisted; ++i)
    layout.node_types.emplace_back(i < kOrder.size() ? kOrder[i] : "unknown");
}

/// Consumes the value of "snapshot". Throws Failure.
inline Layout read_layout(json::JsonScanner& json) {
  const std::uint64_t start = json.offset();
  Layout out;
  std::vector<std::string> node_fields;
  std::vector<std::string> edge_fields;
  std::optional<std::uint64_t> nodes;
  std::optional<std::uint64_t> edges;
  json.each_member([&](std::string_view key) {
    if (key == "meta") {
      json.each_member([&](std::string_view part) {
        if (part == "node_fields") {
          node_fields = names(json, Layout::kMostFields);
        } else if (part == "edge_fields") {
          edge_fields = names(json, Layout::kMostFields);
        } else if (part == "node_types") {
          out.node_types = type_names(json);
        } else if (part == "edge_types") {
          out.edge_types = type_names(json);
        } else {
          json.skip_value();
        }
      });
    } else if (key == "node_count") {
      nodes = json.number();
    } else if (key == "edge_count") {
      edges = json.number();
    } else {
      json.skip_value();
    }
  });

  const auto missing = [&](const std::string& what) { fail_malformed(what + " missing in snapshot", start); };
  const auto place = [&](const std::vector<std::string>& fields, std::string_view list, std::string_view field) {
    const std::size_t at = place_of(fields, field);
    if (at == Layout::kAbsent) missing("meta." + std::string(list) + ": " + std::string(field));
    return at;
  };
  if (!nodes) missing("node_count");
  if (!edges) missing("edge_count");
  out.nodes = *nodes;
  out.edges = *edges;
  if (out.nodes > std::numeric_limits<std::uint32_t>::max() - 1)
    fail(ErrorCode::limit, "too many nodes: node_count is " + std::to_string(out.nodes) + ", expected below 2^32 - 1",
         start);
  out.node_width = node_fields.size();
  out.type = place(node_fields, "node_fields", "type");
  out.name = place(node_fields, "node_fields", "name");
  out.self_size = place(node_fields, "node_fields", "self_size");
  out.edge_count = place(node_fields, "node_fields", "edge_count");
  out.id = place_of(node_fields, "id");
  out.detachedness = place_of(node_fields, "detachedness");
  out.trace = place_of(node_fields, "trace_node_id");
  out.edge_width = edge_fields.size();
  out.edge_type = place(edge_fields, "edge_fields", "type");
  out.name_or_index = place(edge_fields, "edge_fields", "name_or_index");
  out.to_node = place(edge_fields, "edge_fields", "to_node");
  // The first field is the type in every version; the lists of values are in the same order as the fields.
  if (out.type != 0 || out.node_types.empty()) missing("meta.node_types: names of the values of the first field, type");
  if (out.edge_type != 0 || out.edge_types.empty())
    missing("meta.edge_types: names of the values of the first field, type");
  add_unlisted(out);
  return out;
}

}  // namespace snapdiff::formats::v8
