#pragma once

#include "analyzer/base/snapshot_builder.hpp"
#include "formats/input/number_rows.hpp"
#include "formats/json/json_scanner.hpp"

namespace snapdiff::formats::v8 {

/// The root, 64 frames of an allocation and their empty list: v8/src/profiler/allocation-tracker.h,
/// kMaxAllocationTraceLength. Each level is one call of the reader.
constexpr std::size_t kMostLevels = 64 + 2;

/// Where the nodes of a timeline were allocated: `trace_function_infos` and `trace_tree`. Texts are rows of the string
/// table, which comes later.
class AllocationTraces {
 public:
  /// Nodes of one row of TypeTable that one place allocated.
  struct Sum {
    std::uint32_t kind = 0;
    std::uint64_t trace = 0;
    std::int64_t count = 0;
    std::int64_t bytes = 0;
  };

  /// Counts a node; `trace` is 0 where its allocation was not recorded.
  void add(std::uint32_t kind, std::uint64_t trace, std::int64_t bytes) {
    if (trace == 0) return;
    const std::uint64_t hash = mix64(trace ^ mix64(kind));
    const auto [row, is_new] = index_.intern(
        hash, sums_.size(), [&](std::uint32_t r) { return sums_[r].kind == kind && sums_[r].trace == trace; });
    if (is_new) sums_.push_back({kind, trace, 0, 0});
    ++sums_[row].count;
    sums_[row].bytes += bytes;  // a part of a sum that fits
  }

  bool empty() const { return sums_.empty(); }
  const std::vector<Sum>& sums() const { return sums_; }

  /// Consume the arrays. `string_row(row, offset)` notes that a row of the string table is used. Throw Failure.
  template <class StringRow>
  void read_functions(json::JsonScanner& json, StringRow string_row) {
    Function function;
    json.each_item([&](std::size_t i) {
      const std::size_t field = i % kFunctionFields;
      const std::uint64_t offset = json.offset();
      const std::uint64_t value = json.number();
      if (field == kName) function.name = static_cast<std::uint32_t>(string_row(value, offset));
      if (field == kScript) function.script = static_cast<std::uint32_t>(string_row(value, offset));
      if (field == kLine) function.line = position(value);
      if (field == kColumn) {
        function.column = position(value);
        functions_.push_back(function);
      }
    });
  }

  void read_tree(json::JsonScanner& json) { read_children(json, kNoParent, 0); }

  /// The calls that led to a place, innermost first, without the root.
  template <class StringOf>
  void add_frames(std::uint64_t trace, std::vector<FrameId>& frames, SnapshotBuilder& builder,
                  StringOf string_of) const {
    for (std::uint32_t at = ids_.find(trace); at < nodes_.size() && nodes_[at].parent != kNoParent;
         at = nodes_[at].parent) {
      if (nodes_[at].function >= functions_.size()) continue;
      const Function& of = functions_[static_cast<std::size_t>(nodes_[at].function)];
      const StringId given = string_of(of.name);
      const StringId name = given == StringId{} ? builder.string("(anonymous)") : given;
      frames.push_back(builder.frame({.function = builder.function(name, name, string_of(of.script), of.line),
                                      .line = of.line,
                                      .column = of.column}));
    }
  }

 private:
  /// Of a row of trace_function_infos: function_id, name, script_name, script_id, line, column. Line and column count
  /// from 1 and are those where the function begins.
  static constexpr std::size_t kFunctionFields = 6, kName = 1, kScript = 2, kLine = 4, kColumn = 5;
  static constexpr std::uint32_t kNoParent = 0xffffffffU;

  struct Function {
    std::uint32_t name = 0, script = 0;
    std::int32_t line = 0, column = 0;
  };
  struct Node {
    std::uint64_t function = 0;
    std::uint32_t parent = kNoParent;
  };

  static std::int32_t position(std::uint64_t value) {
    return value <= std::numeric_limits<std::int32_t>::max() ? static_cast<std::int32_t>(value) : 0;
  }

  /// [id, function_info_index, count, size, [children...], id, ...]
  void read_children(json::JsonScanner& json, std::uint32_t parent, std::size_t depth) {
    constexpr std::size_t kFields = 5, kId = 0, kFunction = 1, kChildren = 4;
    json.check_depth(depth, kMostLevels);
    std::uint64_t id = 0, function = 0;
    json.each_item([&](std::size_t i) {
      const std::size_t field = i % kFields;
      if (field != kChildren) {
        const std::uint64_t value = json.number();
        if (field == kId) id = value;
        if (field == kFunction) function = value;
        return;
      }
      const std::uint64_t offset = json.offset();
      const std::uint32_t row = ids_.intern(id);
      if (row < nodes_.size()) fail_malformed("trace_tree: id " + std::to_string(id) + " is there twice", offset);
      nodes_.push_back({function, parent});
      read_children(json, row, depth + 1);
    });
  }

  std::vector<Sum> sums_;
  HashIndex index_;  // of sums_
  std::vector<Function> functions_;
  std::vector<Node> nodes_;  // by row of ids_
  NumberRows ids_;
};

}  // namespace snapdiff::formats::v8
