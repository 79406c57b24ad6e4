#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyzer/base/object_graph.hpp"

/// Object graphs and rows of types as readable text, for tests.
namespace snapdiff::test {

/// "0 object Cache 24 #5 root detached: text>3 [0]>4 cache~4", one line a node ('~' is weak), then
/// "root 0 synthetic root" for each root.
inline std::string graph_text(const Snapshot& snapshot) {
  const ObjectGraph& graph = *snapshot.graph;
  const StringTable& texts = snapshot.dictionary->strings;
  std::string out;
  for (std::uint32_t node = 0; node < graph.size(); ++node) {
    out += std::to_string(node);
    for (const StringId part : {graph.types.kind[graph.type[node]], graph.types.name[graph.type[node]]}) {
      if (part != StringId{}) out.append(" ").append(texts[part]);
    }
    if (!graph.self_bytes.empty()) out += " " + std::to_string(graph.self_bytes[node]);
    if (!graph.id.empty()) out += graph.id[node] == kNoObjectId ? " #none" : " #" + std::to_string(graph.id[node]);
    if ((graph.flags[node] & kObjectRoot) != 0) out += " root";
    if ((graph.flags[node] & kObjectDetached) != 0) out += " detached";
    out += ":";
    for (std::uint64_t edge = graph.edge_begin[node]; edge < graph.edge_begin[node + 1]; ++edge) {
      const std::uint32_t label = graph.label[edge];
      out += " ";
      if ((label & kEdgeIsIndex) != 0) {
        out += "[" + std::to_string(label & kEdgeLabel) + "]";
      } else {
        out += texts[StringId{label & kEdgeLabel}];
      }
      out.append((label & kEdgeIsWeak) != 0 ? "~" : ">").append(std::to_string(graph.to[edge]));
    }
    out += "\n";
  }
  for (const ObjectRoot& root : graph.roots)
    out.append("root ").append(std::to_string(root.node)).append(" ").append(texts[root.kind]).append("\n");
  return out;
}

/// Values of each row by the name of its only frame, which is also its label `type`.
using Rows = std::map<std::string, std::vector<std::int64_t>>;
inline Rows rows_of(const Snapshot& snapshot) {
  const Dictionary& d = *snapshot.dictionary;
  Rows out;
  for (std::size_t row = 0; row < snapshot.samples.size(); ++row) {
    const auto frames = d.stacks.frames(snapshot.samples.stack[row]);
    const auto labels = d.labels.labels(snapshot.samples.labels[row]);
    if (frames.size() != 1 || labels.size() != 1) continue;
    const std::string name(d.strings[d.functions.name[index_of(d.frames.function[index_of(frames[0])])]]);
    if (d.strings[labels[0].key] != "type" || d.strings[labels[0].text] != name) continue;
    for (const Column& column : snapshot.samples.columns) out[name].push_back(column.value[row]);
  }
  return out;
}

}  // namespace snapdiff::test
