#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/object_graph.hpp"
#include "analyzer/base/snapshot_builder.hpp"
#include "formats/input/graph_parts.hpp"
#include "formats/input/number_rows.hpp"
#include "formats/jfr/chunk.hpp"

namespace snapdiff::formats::jfr {

/// "java.util.HashMap$Node" for java/util/HashMap$Node: as histograms and heap dumps call it.
std::string class_name(std::string text);
/// The name of a class that is a constant, "" without one.
std::string class_name(Chunk& chunk, const Value& type);

/// The chains of references from old objects to their roots, of one chunk, as a graph.
class OldObjects {
 public:
  explicit OldObjects(SnapshotBuilder& names) : names_(names), graph_(std::make_shared<ObjectGraph>()) {}

  /// A sampled object, what holds it, and the root that its chain ends at. `bytes` < 0: not recorded.
  void add(Chunk& chunk, const Value& object, const Value& root, std::int64_t bytes);

  /// Null where no object has a holder: the recording was made without paths.
  std::shared_ptr<const ObjectGraph> finish();

 private:
  std::uint32_t node_type(Chunk& chunk, const Value& type, const Value& description);
  std::uint32_t label_of(Chunk& chunk, const Value& array, const Value& field, std::int64_t skipped);
  std::string_view root_kind(Chunk& chunk, const Value& root);

  SnapshotBuilder& names_;
  std::shared_ptr<ObjectGraph> graph_;
  NumberRows keys_;
  TypeRows types_;
  std::vector<std::uint32_t> from_, to_, label_;
  bool has_sizes_ = false;
  std::string text_;
};

}  // namespace snapdiff::formats::jfr
