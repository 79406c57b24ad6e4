#pragma once

#include <string>

#include "analyzer/base/object_graph.hpp"
#include "formats/input/all_formats.hpp"
#include "support/memory_input.hpp"

namespace snapdiff::test {

/// The parts of a heap snapshot as JSON text. The default: root -> global -> Cache -> string, with a shortcut
/// from the root, a weak reference back and a detached element that the Cache holds by index.
struct V8Text {
  std::string node_fields = R"("type","name","id","self_size","edge_count","trace_node_id","detachedness")";
  std::string node_types =
      R"(["synthetic","object","string","native"],"string","number","number","number","number","number")";
  std::string counts = R"("node_count":5,"edge_count":7)";
  std::string nodes = "0,0,1,0,2,0,0\n,1,1,3,16,1,0,0\n,1,2,5,24,3,0,0\n,2,3,7,32,1,0,1\n,3,4,8,48,0,0,2\n";
  std::string edges = "1,1,7\n,5,1,7\n,2,5,14\n,2,6,21\n,1,0,28\n,5,5,28\n,6,7,14";
  std::string before_strings = R"("trace_function_infos":[],"trace_tree":[1,[2,[]]],"samples":[],"locations":[0,1],)";
  std::string strings = R"("","global","Cache","contents","<div>","cache","text","back")";
  std::string behind = "";

  std::string text() const {
    return "{\"snapshot\":{\"meta\":{\"node_fields\":[" + node_fields + "],\"node_types\":[" + node_types +
           "],\"edge_fields\":[\"type\",\"name_or_index\",\"to_node\"],\"edge_types\":[[\"context\",\"element\","
           "\"property\",\"internal\",\"hidden\",\"shortcut\",\"weak\"],\"string_or_number\",\"node\"]}," +
           counts + ",\"trace_function_count\":0},\n\"nodes\":[" + nodes + "],\n\"edges\":[" + edges + "],\n" +
           before_strings + "\"strings\":[" + strings + "]}" + behind;
  }
};

inline Result<Snapshot> read_v8(const std::string& text, std::size_t window = 0) {
  MemoryInput in(text, window);
  SnapshotList list;
  if (Status status = formats::kV8.read(in, list); !status) return std::move(status).error();
  return std::move(list.snapshots.at(0));
}

}  // namespace snapdiff::test
