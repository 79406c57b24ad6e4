#pragma once

#include <unordered_map>

#include "formats/tracker_lines/header_line.hpp"
#include "formats/tracker_lines/journal.hpp"
#include "formats/tracker_lines/object_lines.hpp"
#include "formats/tracker_lines/row_table.hpp"
#include "formats/tracker_lines/run_tables.hpp"

namespace snapdiff::formats::tracker_lines {

/// The snapshot between its `snapshot` line and its `end`.
class OpenSnapshot {
 public:
  /// Reads a snapshot line. `tables` must outlive this. Throws LineError.
  OpenSnapshot(Fields& fields, const std::vector<std::uint32_t>& x_rows, const RunHeader& header, RunTables& tables,
               Journal& journal);
  OpenSnapshot(const OpenSnapshot&) = delete;
  OpenSnapshot& operator=(const OpenSnapshot&) = delete;

  const std::string& id() const { return id_; }
  std::uint64_t line() const { return line_; }
  std::optional<std::int64_t> seq() const { return seq_; }
  std::optional<std::int64_t> time_ns() const { return time_ns_; }

  /// Takes a live, counter, node or edge line. Throws LineError, Failure.
  void take(Fields& fields);

  /// Such lines so far, and those of the lines since `snapshot` that were dropped.
  std::uint64_t rows() const { return rows_; }
  std::uint64_t dropped() const { return dropped_; }
  void count_dropped() { ++dropped_; }
  void set_partial() { partial_ = true; }

  /// The snapshot with everything that the journal holds as its notes, but without its dictionary: that is the run's.
  /// It is used up.
  /// Throws Failure (limit).
  Snapshot finish();

 private:
  struct RowKey {  // of a live or node line
    StackId stack{};
    LabelSetId labels{};
  };

  RowKey key_of(Fields& fields);
  void live(Fields& fields);
  void counter(Fields& fields);
  void node(Fields& fields);
  void note_totals();
  void finish_graph();

  const RunHeader& header_;
  RunTables& tables_;
  Journal& journal_;
  SnapshotBuilder& builder_;
  RowTable rows_of_lives_;
  RowTable rows_of_nodes_;
  ObjectLines objects_;
  std::unordered_map<std::string, std::size_t, KeyedHash> counter_rows_;
  std::shared_ptr<const ObjectGraph> graph_;
  SnapshotFacts facts_;
  std::string id_;
  std::uint64_t line_ = 0;
  std::optional<std::int64_t> seq_;
  std::optional<std::int64_t> time_ns_;
  std::optional<std::int64_t> stated_bytes_;
  std::optional<std::int64_t> stated_count_;
  std::uint64_t rows_ = 0;
  std::uint64_t dropped_ = 0;
  bool partial_ = false;
  bool has_lives_ = false;
};

}  // namespace snapdiff::formats::tracker_lines
