#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>

#include "analyzer/fleet/dictionary_reader.hpp"
#include "analyzer/fleet/facts_codec.hpp"
#include "analyzer/fleet/impl.hpp"
#include "analyzer/fleet/missing_rows.hpp"
#include "snapdiff/checked.hpp"
#include "snapdiff/validate.hpp"

namespace snapdiff::fleet {
namespace {

constexpr std::string_view kBelowThreshold = "[below threshold]";

/// A sum of rows as the engine gives it.
struct Cells {
  Hash128 stack;
  std::uint64_t label = 0;
  std::uint32_t metric = 0;
  std::uint32_t step = 0;
  std::int64_t value = 0, objects = 0;
  std::uint8_t unknown = 0;
};

struct Total {
  std::int64_t value = 0, objects = 0;
  std::uint64_t rows = 0;
  bool overflow = false;
  friend bool operator==(const Total&, const Total&) = default;
  void add(std::int64_t more_value, std::int64_t more_objects, std::uint64_t more_rows) {
    overflow = overflow || !checked_add(value, more_value, value) || !checked_add(objects, more_objects, objects);
    rows += more_rows;
  }
};

/// An expression: the number of each push, UInt32 whatever the list holds.
std::string mapped_pushes(const std::vector<std::uint64_t>& pushes, const std::vector<std::uint64_t>& numbers) {
  return "toUInt32(transform(push, [" + list_of(std::span<const std::uint64_t>(pushes)) + "], [" +
         list_of(std::span<const std::uint64_t>(numbers)) + "], 4294967295))";
}

class Fetch {
 public:
  Fetch(Fleet::Impl& from, std::span<const Step> steps, const Pivot* pivot, std::int64_t floor)
      : from_(from), steps_(steps), pivot_(pivot), floor_(floor), dictionary_(from, builder_) {}

  Result<std::vector<Snapshot>> run() {
    plan();
    Status status = read_facts();
    if (status && !pushes_.empty()) status = read_rows();
    if (status && floor_ > 0 && !pushes_.empty()) status = read_below();
    if (status) status = check_totals();
    if (status) status = read_dictionary();
    if (!status) return status.error();
    return build();
  }

 private:
  std::uint32_t metric_number(const std::string& metric) {
    const auto found = std::find(metrics_.begin(), metrics_.end(), metric);
    if (found != metrics_.end()) return static_cast<std::uint32_t>(found - metrics_.begin());
    metrics_.push_back(metric);
    return static_cast<std::uint32_t>(metrics_.size() - 1);
  }

  void plan() {
    std::set<std::string> services;
    expected_.resize(steps_.size());
    for (std::uint32_t s = 0; s < steps_.size(); ++s) {
      for (const Committed* const member : steps_[s].members) {
        services.insert(member->service);
        const std::uint32_t metric = metric_number(member->metric);
        expected_[s][metric].add(member->total, member->objects, member->rows);
        const std::uint64_t seconds = std::min<std::uint64_t>(member->ts_ns / 1'000'000'000, 0xffffffffU - 86'400);
        first_hour_ = std::min(first_hour_, seconds / 3600 * 3600);
        last_hour_ = std::max(last_hour_, seconds / 3600 * 3600);
        // A snapshot of several metrics is one push, and may stand for several steps.
        std::vector<std::uint32_t>& steps = steps_of_[member->push];
        if (steps.empty()) {
          pushes_.push_back(member->push);
          pivot_numbers_.push_back(pivot_number(*member));
        }
        if (steps.empty() || steps.back() != s) steps.push_back(s);
      }
    }
    number_slots();
    services_.assign(services.begin(), services.end());
  }

  /// Pushes of the same steps have one number.
  void number_slots() {
    std::map<std::vector<std::uint32_t>, std::uint64_t> numbers;
    for (const std::uint64_t push : pushes_) {
      const std::vector<std::uint32_t>& steps = steps_of_.at(push);
      const auto [place, is_new] = numbers.try_emplace(steps, slots_.size());
      if (is_new) slots_.push_back(steps);
      // The engine compares sums of slots: a floor needs that they are the steps.
      if (steps.size() > 1) floor_ = 0;
      slot_numbers_.push_back(place->second);
    }
  }

  std::uint64_t pivot_number(const Committed& member) {
    if (pivot_ == nullptr) return 0;
    const std::string value = pivot_->value(member);
    const auto found = std::find(pivot_values_.begin(), pivot_values_.end(), value);
    if (found != pivot_values_.end()) return static_cast<std::uint64_t>(found - pivot_values_.begin());
    pivot_values_.push_back(value);
    return pivot_values_.size() - 1;
  }

  std::string where() const {
    return "service IN (" + list_of(std::span<const std::string>(services_)) + ") AND metric IN (" +
           list_of(std::span<const std::string>(metrics_)) + ") AND hour >= toDateTime(" + std::to_string(first_hour_) +
           ") AND hour <= toDateTime(" + std::to_string(last_hour_) + ") AND push IN (" +
           list_of(std::span<const std::uint64_t>(pushes_)) + ")";
  }

  /// What each push belongs to, as an expression.
  std::string mapped(const std::vector<std::uint64_t>& numbers) const { return mapped_pushes(pushes_, numbers); }

  Status read_facts() {
    std::vector<std::uint64_t> firsts;
    for (const Step& step : steps_) {
      if (!step.members.empty()) firsts.push_back(step.members.front()->push);
    }
    return from_.rows_of("facts",
                         "SELECT push, facts FROM " + from_.table("snapshot") + " WHERE notEmpty(facts) AND push",
                         std::span<const std::uint64_t>(firsts), [&](RowReader& row) -> Status {
                           const auto push = row.number<std::uint64_t>();
                           const std::string_view bytes = row.text();
                           if (!row.whole()) return ok();
                           Result<StoredFacts> facts = decode_facts(bytes);
                           if (!facts) return facts.error();
                           facts_.try_emplace(push, *std::move(facts));
                           return ok();
                         });
  }

  /// Stacks whose sums range over the floor at the steps; one that is not there at some step is 0 there.
  std::string above_floor() const {
    return " AND stack IN (SELECT stack FROM (SELECT stack, " + mapped(slot_numbers_) + " AS s, sum(value) AS v FROM " +
           from_.table("sample") + " WHERE " + where() + " GROUP BY stack, s) GROUP BY stack HAVING if(count() < " +
           std::to_string(steps_.size()) +
           ", greatest(max(v), 0) - least(min(v), 0), max(v) - min(v)) >= " + std::to_string(floor_) + ")";
  }

  Status read_rows() {
    const std::string label = pivot_ == nullptr ? "label" : "toUInt64(" + mapped(pivot_numbers_) + ")";
    const std::string query = "SELECT stack, " + label + " AS l, toUInt32(indexOf([" +
                              list_of(std::span<const std::string>(metrics_)) + "], metric) - 1) AS m, " +
                              mapped(slot_numbers_) +
                              " AS s, sum(value), sum(objects), groupBitOr(known), toUInt64(count()) FROM " +
                              from_.table("sample") + " WHERE " + where() + (floor_ > 0 ? above_floor() : "") +
                              " GROUP BY stack, l, m, s SETTINGS distributed_group_by_no_merge = 1";
    found_.resize(steps_.size());
    return from_.rows("sums of stacks", query, [&](RowReader& row) -> Status {
      Cells cells;
      cells.stack = row.hash();
      cells.label = row.number<std::uint64_t>();
      cells.metric = row.number<std::uint32_t>();
      cells.step = row.number<std::uint32_t>();
      cells.value = row.number<std::int64_t>();
      cells.objects = row.number<std::int64_t>();
      cells.unknown = row.number<std::uint8_t>();
      const auto rows = row.number<std::uint64_t>();
      if (!row.whole()) return ok();
      if (cells.step >= slots_.size() || cells.metric >= metrics_.size())
        return Error{ErrorCode::malformed, "the answer names a step or a metric that was not asked for"};
      for (const std::uint32_t step : slots_[cells.step]) {
        found_[step][cells.metric].add(cells.value, cells.objects, rows);
        cells_.push_back(cells);
        cells_.back().step = step;
      }
      return ok();
    });
  }

  /// What is in no row that came, as one row a step.
  Status read_below() {
    const std::string query = "SELECT " + mapped(slot_numbers_) +
                              " AS s, sum(value), sum(objects), toUInt64(count()) FROM " + from_.table("sample") +
                              " WHERE " + where() + " GROUP BY s";
    return from_.rows("sums of steps", query, [&](RowReader& row) -> Status {
      const auto slot = row.number<std::uint32_t>();
      const auto value = row.number<std::int64_t>();
      const auto objects = row.number<std::int64_t>();
      const auto rows = row.number<std::uint64_t>();
      if (!row.whole()) return ok();
      if (slot >= slots_.size()) return Error{ErrorCode::malformed, "the answer names a step that was not asked for"};
      const std::uint32_t step = slots_[slot].front();
      Total& found = found_[step][0];
      const Cells rest{Hash128{}, 0, 0, step, value - found.value, objects - found.objects, 0};
      has_below_ = has_below_ || rows != found.rows;
      if (rows != found.rows) below_.push_back(rest);
      found = {value, objects, rows, false};
      return ok();
    });
  }

  /// Every byte that was committed is in the rows, or there is no answer.
  Status check_totals() {
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      for (const auto& [metric, expected] : expected_[s]) {
        if (expected.overflow || found_.empty() ? expected.overflow : found_[s][metric].overflow)
          return Error{ErrorCode::limit, "the sum of " + metrics_[metric] + " is beyond 2^63-1"};
        const Total found = found_.empty() ? Total{} : found_[s][metric];
        if (found == expected) continue;
        return missing_rows(from_, steps_[s].members, metrics_[metric], where());
      }
    }
    return ok();
  }

  Status read_dictionary() {
    std::unordered_set<Hash128> stacks;
    std::unordered_set<std::uint64_t, KeyedHash> labels;
    for (const Cells& cells : cells_) {
      stacks.insert(cells.stack);
      if (pivot_ == nullptr && cells.label != 0) labels.insert(cells.label);
    }
    if (Status read = dictionary_.read_stacks({stacks.begin(), stacks.end()}); !read) return read;
    if (Status read = dictionary_.read_labels({labels.begin(), labels.end()}); !read) return read;
    for (const std::string& value : pivot_values_) {
      Label label;
      label.key = builder_.string(pivot_->key);
      label.text = builder_.string(value);
      pivot_sets_.push_back(builder_.labels({label}));
    }
    if (has_below_) below_stack_ = builder_.pseudo_stack(kBelowThreshold);
    return ok();
  }

  /// Facts of a step: of its one snapshot, or what is true of a sum.
  SnapshotFacts facts_of(const Step& step, const StoredFacts& first) const {
    SnapshotFacts facts = first.facts;
    if (!is_sum(step)) return facts;
    facts.source = {};
    facts.pid.reset();
    facts.sequence.reset();
    facts.rank.reset();
    facts.host.clear();
    facts.command_line.clear();
    facts.comments.clear();
    facts.counters.clear();
    facts.labels.clear();
    facts.notes = {};
    std::uint64_t newest = 0;
    for (const Committed* const member : step.members) {
      newest = std::max(newest, member->ts_ns);
      if (member->period != step.members.front()->period) facts.sampling = Sampling::unknown;
    }
    if (facts.sampling == Sampling::unknown) facts.period = 0;
    if (facts.taken_at_ns) facts.taken_at_ns = static_cast<std::int64_t>(newest);
    return facts;
  }

  static bool is_sum(const Step& step) {
    return std::any_of(step.members.begin(), step.members.end(),
                       [&](const Committed* member) { return member->push != step.members.front()->push; });
  }

  Result<std::vector<Snapshot>> build() {
    std::vector<Snapshot> out;
    for (const Step& step : steps_) {
      Snapshot snapshot;
      if (!step.members.empty()) {
        const auto found = facts_.find(step.members.front()->push);
        if (found == facts_.end())
          return Error{ErrorCode::internal, "facts of a snapshot are missing on a server: " +
                                                step.members.front()->service + " " + step.members.front()->instance};
        snapshot.facts = facts_of(step, found->second);
        if (!is_sum(step)) {
          for (const StoredMapping& one : found->second.mappings)
            snapshot.mappings.push_back({one.start, one.limit, one.offset, builder_.module(one.module, one.build_id)});
        }
        for (const StoredColumn& column : found->second.columns) {
          if (std::find(metrics_.begin(), metrics_.end(), column.metric) == metrics_.end()) continue;
          snapshot.samples.columns.push_back({column.type, {}, {}, column.half_unit});
        }
      }
      out.push_back(std::move(snapshot));
    }
    Result<Snapshot> shared = builder_.finish();
    if (!shared) return std::move(shared).error();
    fill(out);
    for (Snapshot& snapshot : out) {
      snapshot.dictionary = shared->dictionary;
      if (Status valid = validate(snapshot); !valid) return std::move(valid).error();
    }
    return out;
  }

  void fill(std::vector<Snapshot>& out) {
    struct Row {
      StackId stack;
      LabelSetId labels;
      const Cells* cells;
    };
    std::vector<std::vector<Row>> rows(out.size());
    for (const Cells& cells : cells_) {
      const LabelSetId labels =
          pivot_ != nullptr ? pivot_sets_[static_cast<std::size_t>(cells.label)] : dictionary_.labels(cells.label);
      rows[cells.step].push_back({dictionary_.stack(cells.stack), labels, &cells});
    }
    for (const Cells& cells : below_) rows[cells.step].push_back({below_stack_, LabelSetId{}, &cells});
    for (std::size_t s = 0; s < out.size(); ++s) {
      std::sort(rows[s].begin(), rows[s].end(),
                [](const Row& a, const Row& b) { return std::pair(a.stack, a.labels) < std::pair(b.stack, b.labels); });
      const auto facts = steps_[s].members.empty() ? facts_.end() : facts_.find(steps_[s].members.front()->push);
      SampleTable& samples = out[s].samples;
      for (std::size_t i = 0; i < rows[s].size(); ++i) {
        const Row& row = rows[s][i];
        if (samples.stack.empty() || samples.stack.back() != row.stack || samples.labels.back() != row.labels) {
          samples.stack.push_back(row.stack);
          samples.labels.push_back(row.labels);
          for (Column& column : samples.columns) {
            column.value.push_back(0);
            if (!column.known.empty()) column.known.push_back(1);
          }
        }
        std::size_t c = 0;
        for (const StoredColumn& stored : facts->second.columns) {
          if (std::find(metrics_.begin(), metrics_.end(), stored.metric) == metrics_.end()) continue;
          Column& column = samples.columns[c++];
          if (stored.metric != metrics_[row.cells->metric]) continue;
          if ((row.cells->unknown & (stored.is_objects ? 2U : 1U)) != 0) {
            column.known.resize(samples.stack.size(), 1);
            column.known.back() = 0;
          } else {
            column.value.back() += stored.is_objects ? row.cells->objects : row.cells->value;
          }
        }
      }
    }
  }

  Fleet::Impl& from_;
  std::span<const Step> steps_;
  const Pivot* pivot_;
  std::int64_t floor_;
  SnapshotBuilder builder_;
  DictionaryReader dictionary_;
  std::vector<std::string> services_, metrics_, pivot_values_;
  std::vector<std::uint64_t> pushes_, slot_numbers_, pivot_numbers_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> steps_of_;
  std::vector<std::vector<std::uint32_t>> slots_;
  std::uint64_t first_hour_ = 0xffffffffU, last_hour_ = 0;
  std::vector<std::map<std::uint32_t, Total>> expected_, found_;
  std::unordered_map<std::uint64_t, StoredFacts> facts_;
  std::vector<Cells> cells_, below_;
  std::vector<LabelSetId> pivot_sets_;
  bool has_below_ = false;
  StackId below_stack_{};
};

}  // namespace

Result<std::vector<Snapshot>> Fleet::fetch(std::span<const Step> steps, const Pivot* pivot, std::int64_t floor) {
  return Fetch(*impl_, steps, pivot, floor).run();
}

Result<std::vector<InstanceGrowth>> Fleet::growth(
    std::span<const std::pair<const Committed*, const Committed*>> pairs) {
  std::vector<InstanceGrowth> out;
  if (pairs.empty()) return out;
  std::vector<std::uint64_t> before, after, both, instances;
  std::set<std::string> services, metrics;
  for (std::uint64_t i = 0; i < pairs.size(); ++i) {
    for (const Committed* const one : {pairs[i].first, pairs[i].second}) {
      both.push_back(one->push);
      instances.push_back(i);
      services.insert(one->service);
      metrics.insert(one->metric);
    }
    before.push_back(pairs[i].first->push);
    after.push_back(pairs[i].second->push);
  }
  const std::vector<std::string> service_list(services.begin(), services.end());
  const std::vector<std::string> metric_list(metrics.begin(), metrics.end());
  const std::string query = "SELECT stack, " + mapped_pushes(both, instances) + " AS i, sumIf(value, push IN (" +
                            list_of(std::span<const std::uint64_t>(after)) + ")) - sumIf(value, push IN (" +
                            list_of(std::span<const std::uint64_t>(before)) + ")) AS g FROM " + impl_->table("sample") +
                            " WHERE service IN (" + list_of(std::span<const std::string>(service_list)) +
                            ") AND metric IN (" + list_of(std::span<const std::string>(metric_list)) +
                            ") AND push IN (" + list_of(std::span<const std::uint64_t>(both)) +
                            ") GROUP BY stack, i HAVING g != 0 SETTINGS distributed_group_by_no_merge = 1";
  const Status read = impl_->rows("growth per instance", query, [&](RowReader& row) -> Status {
    InstanceGrowth one;
    one.stack = row.hash();
    one.instance = row.number<std::uint32_t>();
    one.growth = row.number<std::int64_t>();
    if (!row.whole()) return ok();
    if (one.instance >= pairs.size())
      return Error{ErrorCode::malformed, "the answer names an instance that was not asked for"};
    out.push_back(one);
    return ok();
  });
  if (!read) return read.error();
  return out;
}

}  // namespace snapdiff::fleet
