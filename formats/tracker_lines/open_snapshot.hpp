#pragma once

#include <unordered_map>

#include "formats/text/time_stamp.hpp"
#include "formats/tracker_lines/header_line.hpp"
#include "formats/tracker_lines/journal.hpp"
#include "formats/tracker_lines/object_lines.hpp"
#include "formats/tracker_lines/row_table.hpp"
#include "formats/tracker_lines/run_tables.hpp"

namespace snapdiff::formats::tracker_lines {

constexpr std::string_view kRepeatedKey = "a key occurs twice in one object: the last is taken";

inline std::optional<std::int64_t> parse_time(const Fields& fields) {
  if (!fields.has("time"_key)) return std::nullopt;
  const JsonValue& value = fields.at("time"_key);
  std::optional<std::int64_t> time;
  switch (value.kind) {
    case JsonKind::integer: time = text::nanoseconds_of(value.integer); break;
    case JsonKind::real: time = text::nanoseconds_of(value.real); break;
    case JsonKind::text: time = text::parse_rfc3339(value.text); break;
    default: break;
  }
  if (!time) fields.wrong("time"_key, "seconds since 1970, or a text as 2026-01-01T00:00:00Z, before 2262");
  return time;
}

/// A counter's value: whole, or rounded and then `rounded`.
inline std::int64_t counter_value(const Fields& fields, bool& rounded) {
  fields.require("value"_key);
  const JsonValue& value = fields.at("value"_key);
  if (const auto whole = integer_of(value)) return *whole;
  if (value.kind != JsonKind::real || !(std::fabs(value.real) < 9e18))
    fields.wrong("value"_key, "a number from -2^63 to 2^63-1");
  rounded = true;
  return std::llround(value.real);
}

/// The snapshot between its `snapshot` line and its `end`.
class OpenSnapshot {
 public:
  /// Reads a snapshot line. `tables` must outlive this. Throws LineError.
  OpenSnapshot(Fields& fields, const std::vector<std::uint32_t>& x_rows, const RunHeader& header, RunTables& tables,
               Journal& journal)
      : header_(header),
        tables_(tables),
        journal_(journal),
        builder_(tables.builder()),
        rows_of_lives_(tables.keys_of_lives),
        rows_of_nodes_(tables.keys_of_nodes),
        objects_(builder_),
        id_(fields.required_text("id"_key)),
        line_(journal.line()),
        seq_(fields.integer("seq"_key)),
        time_ns_(parse_time(fields)),
        stated_bytes_(fields.natural_member("totals"_key, "bytes")),
        stated_count_(fields.natural_member("totals"_key, "count")) {
    SnapshotFacts& facts = facts_;
    facts.format_detail = "version " + std::to_string(kVersion);
    facts.producer = header.producer;
    facts.taken_at_ns = time_ns_;
    facts.pid = header.pid;
    facts.host = header.host;
    facts.command_line = header.command_line;
    facts.sampling = header.estimated ? Sampling::unknown : Sampling::exact;
    facts.complete = fields.truth("complete"_key).value_or(header.complete);
    facts.comments.push_back("id: " + id_.substr(0, kMostAttributeBytes));
    if (const std::string_view label = fields.text("label"_key); !label.empty())
      facts.comments.push_back("label: " + std::string(label.substr(0, kMostAttributeBytes)));
    if (seq_) facts.comments.push_back("seq: " + std::to_string(*seq_));
    facts.comments.insert(facts.comments.end(), header.comments.begin(), header.comments.end());
    if (!append_attributes(fields, x_rows, facts.comments))
      journal.remark(Severity::info, Rule::key, std::string(kAttributesCut));
  }

  OpenSnapshot(const OpenSnapshot&) = delete;
  OpenSnapshot& operator=(const OpenSnapshot&) = delete;

  const std::string& id() const { return id_; }
  std::uint64_t line() const { return line_; }
  std::optional<std::int64_t> seq() const { return seq_; }
  std::optional<std::int64_t> time_ns() const { return time_ns_; }

  /// Takes a live, counter, node or edge line. Throws LineError, Failure.
  void take(Fields& fields) {
    switch (fields.kind()) {
      case Kind::live: live(fields); break;
      case Kind::counter: counter(fields); break;
      case Kind::node: node(fields); break;
      case Kind::edge: objects_.edge(fields, journal_.line()); break;
      default: break;
    }
    ++rows_;
  }

  /// Such lines so far, and those of the lines since `snapshot` that were dropped.
  std::uint64_t rows() const { return rows_; }
  std::uint64_t dropped() const { return dropped_; }
  void count_dropped() { ++dropped_; }
  void set_partial() { partial_ = true; }

  /// The snapshot with everything that the journal holds as its notes, but without its dictionary: that is the run's.
  /// It is used up.
  /// Throws Failure (limit).
  Snapshot finish() {
    if (!objects_.empty()) finish_graph();
    note_totals();
    facts_.partial = partial_ || journal_.has_bad_line();
    facts_.notes.add_all(journal_.take_notes());
    Snapshot made;
    if (!rows_of_lives_.empty()) tables_.keys_of_lives = rows_of_lives_.keys();
    if (!rows_of_nodes_.empty()) tables_.keys_of_nodes = rows_of_nodes_.keys();
    made.samples = (has_lives_ ? rows_of_lives_ : rows_of_nodes_).samples();
    made.facts = std::move(facts_);
    made.graph = std::move(graph_);
    return made;
  }

 private:
  struct RowKey {  // of a live or node line
    StackId stack{};
    LabelSetId labels{};
  };

  RowKey key_of(Fields& fields) {
    RowKey key;
    const bool has_type = fields.has("type"_key);
    const StringId type = has_type ? builder_.string(fields.text("type"_key)) : StringId{};
    if (fields.has("stack"_key)) {
      key.stack = tables_.stack_of(fields);
    } else {
      key.stack = has_type ? tables_.type_stack(type) : builder_.stack({});
    }
    if (!fields.has("tags"_key)) {
      if (has_type) key.labels = tables_.type_labels(type);
      return key;
    }
    bool repeated = false;
    std::vector<Label> labels;
    if (has_type) labels.push_back({builder_.string("type"), type});
    for (const Fields::Tag& tag : fields.tags("tags"_key, repeated))
      labels.push_back({builder_.string(tag.name), builder_.string(tag.value)});
    if (repeated) journal_.remark(Severity::warning, Rule::duplicate_key, std::string(kRepeatedKey));
    key.labels = builder_.labels(std::move(labels));
    return key;
  }

  void live(Fields& fields) {
    if (!fields.has("stack"_key) && !fields.has("type"_key)) fail_line(Rule::line, "live without stack or type");
    if (!fields.has("bytes"_key) && !fields.has("count"_key)) fail_line(Rule::line, "live without bytes or count");
    const std::optional<std::int64_t> bytes = fields.integer("bytes"_key, 0);
    const std::optional<std::int64_t> count = fields.integer("count"_key, 0);
    const RowKey key = key_of(fields);
    rows_of_lives_.add(key.stack, key.labels, bytes, count);
    has_lives_ = true;
  }

  void counter(Fields& fields) {
    Counter counter;
    counter.name = fields.required_text("name"_key);
    bool rounded = false;
    counter.value = counter_value(fields, rounded);
    if (rounded) counter.half_unit = 1;
    counter.unit = fields.text("unit"_key);
    if (const std::string_view mode = fields.text("mode"_key); !mode.empty()) {
      if (mode != "gauge" && mode != "cumulative") fields.wrong("mode"_key, "gauge or cumulative");
      counter.cumulative = mode == "cumulative";
    }
    bool repeated = false;
    std::string tags;
    for (const Fields::Tag& tag : fields.tags("tags"_key, repeated))
      tags.append(tags.empty() ? "" : ",").append(tag.name).append("=").append(tag.value);
    if (!tags.empty()) counter.name.append("{").append(tags).append("}");
    if (repeated) journal_.remark(Severity::warning, Rule::duplicate_key, std::string(kRepeatedKey));
    if (rounded) journal_.remark(Severity::info, Rule::line, "fractions of counters are rounded");

    std::vector<Counter>& counters = facts_.counters;
    const auto [found, is_new] = counter_rows_.try_emplace(counter.name, counters.size());
    if (is_new) {
      counters.push_back(std::move(counter));
    } else {
      journal_.remark(Severity::warning, Rule::key, "a counter occurs twice in one snapshot: the last is taken");
      counters[found->second] = std::move(counter);
    }
  }

  void node(Fields& fields) {
    fields.require("type"_key);
    const std::optional<std::int64_t> count = fields.integer("count"_key, 0);
    const RowKey key = key_of(fields);
    objects_.node(fields, journal_.line());
    rows_of_nodes_.add(key.stack, key.labels, fields.integer("bytes"_key, 0), count.value_or(1));
  }

  /// Totals that the file states are kept as counters; a difference to the rows is reported.
  void note_totals() {
    const RowTable& rows = has_lives_ ? rows_of_lives_ : rows_of_nodes_;
    bool differs = false;
    const auto state = [&](const char* name, const char* unit, std::optional<std::int64_t> stated,
                           std::optional<std::int64_t> found) {
      if (!stated) return;
      facts_.counters.push_back({name, *stated, unit});
      differs = differs || (found && *found != *stated);
    };
    state("total_bytes", "bytes", stated_bytes_, rows.total_bytes());
    state("total_count", "count", stated_count_, rows.total_count());
    if (!differs || rows.empty()) return;
    const bool expected = partial_ || !facts_.complete;
    journal_.remark(expected ? Severity::info : Severity::warning, Rule::line,
                    "totals of the snapshot differ from the sum of its rows: counters total_bytes and total_count");
  }

  void finish_graph() {
    ObjectLines::Made made = objects_.finish(header_.stable_ids, header_.estimated);
    if (made.dangling > 0) {
      // A snapshot that was cut off misses nodes as well: no more to say than that it is partial.
      if (!partial_) {
        journal_.loss(Rule::graph, "edges to or from nodes that are not in the snapshot are left out",
                      std::to_string(made.dangling) + " of them", made.dangling_line);
      } else {
        journal_.remark(Severity::warning, Rule::graph,
                        "edges to or from nodes that are not in the snapshot are left out", made.dangling);
      }
      partial_ = true;
    }
    if (made.unsized > 0)
      journal_.remark(Severity::warning, Rule::graph, "nodes without bytes count as 0 bytes in retained sizes",
                      made.unsized);
    if (made.graph->size() > 0) graph_ = std::move(made.graph);
  }

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
