#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "analyzer/base/rest_row.hpp"
#include "analyzer/base/validate.hpp"
#include "analyzer/fleet/dictionary_reader.hpp"
#include "analyzer/fleet/facts_codec.hpp"
#include "analyzer/fleet/impl.hpp"
#include "analyzer/fleet/missing_rows.hpp"
#include "analyzer/fleet/replicas.hpp"
#include "analyzer/fleet/row_filter.hpp"
#include "analyzer/fleet/stack_sums.hpp"
#include "snapdiff/checked.hpp"

namespace snapdiff::fleet {
namespace {

/// So many rows are asked for at once; more are asked for in ranges of stacks.
constexpr std::uint64_t kRowsOfRange = 2'000'000;
constexpr std::uint64_t kMostRanges = 64;
/// Up to so many rows of several instances come as they are and are added up here: two moments of some hundred
/// instances, whose growth is in the same rows.
constexpr std::uint64_t kMostPlainRows = 4'000'000;

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

class Fetch {
 public:
  Fetch(Fleet::Impl& from, std::span<const Step> steps, const Pivot* pivot, std::int64_t floor, GrowthBeside* beside)
      : from_(from),
        steps_(steps),
        pivot_(pivot),
        floor_(floor),
        beside_(beside),
        dictionary_(from, builder_),
        sums_(steps.size()) {}

  std::vector<Snapshot> run() {
    plan();
    read_facts();
    if (!pushes_.empty()) read_rows();
    check_totals();
    read_dictionary();
    return build();
  }

 private:
  void plan() {
    std::uint64_t rows = 0, most_rows = 0;
    bool is_one_each = true;
    expected_.resize(steps_.size());
    for (std::uint32_t s = 0; s < steps_.size(); ++s) {
      is_one_each = is_one_each && !is_sum(steps_[s]);
      for (std::uint32_t i = 0; i < steps_[s].members.size(); ++i) {
        const Committed* const member = steps_[s].members[i];
        const std::uint32_t metric = place_of(member->metric, metrics_);
        expected_[s][metric].add(member->total, member->objects, member->rows);
        filter_.add(*member);
        rows += member->rows;
        most_rows = std::max(most_rows, member->rows);
        // A snapshot of several metrics is one push, and may stand for several steps.
        PushUse& use = uses_[member->push];
        if (use.steps.empty()) {
          use.pivot = pivot_ == nullptr ? 0 : place_of(pivot_->value(*member), pivot_values_);
          use.instance = is_sum(steps_[s]) ? i : 0;
          pushes_.push_back(member->push);
        }
        if (use.steps.empty() || use.steps.back() != s) use.steps.push_back(s);
      }
    }
    is_plain_ = is_one_each || (steps_.size() == 2 && rows <= kMostPlainRows);
    filter_.at_few_moments = steps_.size() == 2;
    // Sums are at most so many as each step has stacks; those of several instances may have more than one has.
    const std::uint64_t sums = is_plain_ ? rows : std::min(rows, 2 * most_rows * steps_.size());
    ranges_ = std::clamp<std::uint64_t>(sums / kRowsOfRange, 1, kMostRanges);
    number_slots();
  }

  /// Pushes of the same steps, and of the same value of the pivot, have one number.
  void number_slots() {
    std::map<std::pair<std::vector<std::uint32_t>, std::uint64_t>, std::uint64_t> numbers;
    for (const std::uint64_t push : pushes_) {
      PushUse& use = uses_.at(push);
      const auto [place, is_new] = numbers.try_emplace({use.steps, use.pivot}, slots_.size());
      if (is_new) slots_.push_back(push);
      slot_numbers_.push_back(place->second);
    }
  }

  void read_facts() {
    std::vector<std::uint64_t> firsts;
    for (const Step& step : steps_) {
      if (!step.members.empty()) firsts.push_back(step.members.front()->push);
    }
    from_.rows_of("facts", "SELECT push, facts FROM " + from_.table("snapshot") + " WHERE notEmpty(facts) AND push",
                  std::span<const std::uint64_t>(firsts), [&](RowReader& row) {
                    const auto push = row.number<std::uint64_t>();
                    const std::string_view bytes = row.text();
                    if (!row.whole()) return;
                    facts_.try_emplace(push, value_or_throw(decode_facts(bytes)));
                  });
  }

  /// Rows as they are, each with its push; or sums of them, each with the first push of those that are added up.
  std::string query(const std::string& range) const {
    const std::string label = pivot_ == nullptr ? "label" : "toUInt64(0)";
    const std::string metric =
        metrics_.size() == 1
            ? "toUInt16(0)"
            : "toUInt16(indexOf([" + list_of(std::span<const std::string>(metrics_)) + "], metric) - 1)";
    const std::string from = " FROM " + from_.table("sample") + filter_.text(range);
    if (is_plain_)
      return "SELECT stack, " + label + " AS l, " + metric + " AS m, push, value, objects, known, toUInt64(1)" + from;
    return "SELECT stack, " + label + " AS l, " + metric + " AS m, transform(push, [" +
           list_of(std::span<const std::uint64_t>(pushes_)) + "], [" + first_pushes() +
           "], toUInt64(0)) AS p, sum(value), sum(objects), groupBitOr(known), toUInt64(count())" + from +
           " GROUP BY stack, l, m, p SETTINGS distributed_group_by_no_merge = 1";
  }

  std::string first_pushes() const {
    std::vector<std::uint64_t> firsts;
    for (const std::uint64_t number : slot_numbers_) firsts.push_back(slots_[static_cast<std::size_t>(number)]);
    return list_of(std::span<const std::uint64_t>(firsts));
  }

  void read_rows() {
    found_.resize(steps_.size());
    below_.resize(steps_.size());
    for (std::uint64_t range = 0; range < ranges_; ++range) {
      StackSums part(steps_.size());
      from_.rows("sums of stacks", query(stack_range(range, ranges_)), [&](RowReader& row) { take_row(row, part); });
      if (floor_ > 0) part.take_below(floor_, below_);
      sums_.append(std::move(part));
    }
    if (beside_ != nullptr && is_plain_ && steps_.size() == 2) give_growth();
  }

  void take_row(RowReader& row, StackSums& into) {
    const Hash128 stack = row.hash();
    const auto label = row.number<std::uint64_t>();
    RowSum cell;
    cell.metric = row.number<std::uint16_t>();
    const auto push = row.number<std::uint64_t>();
    cell.value = row.number<std::int64_t>();
    cell.objects = row.number<std::int64_t>();
    cell.unknown = row.number<std::uint8_t>();
    const auto rows = row.number<std::uint64_t>();
    if (!row.whole()) return;
    const auto use = uses_.find(push);
    if (use == uses_.end() || cell.metric >= metrics_.size())
      fail({ErrorCode::malformed, "the answer names a snapshot or a metric that was not asked for"});
    cell.place = into.place(stack, pivot_ == nullptr ? label : use->second.pivot);
    for (const std::uint32_t step : use->second.steps) {
      found_[step][cell.metric].add(cell.value, cell.objects, rows);
      into.add(step, cell);
      if (beside_ != nullptr && is_plain_ && metrics_[cell.metric] == beside_->metric)
        growth_.push_back(
            {stack, label, use->second.instance, step == 0 ? wrapping_difference(0, cell.value) : cell.value});
    }
  }

  /// Rows of two moments, added up by stack, label and instance.
  void give_growth() {
    std::sort(growth_.begin(), growth_.end(), [](const InstanceGrowth& a, const InstanceGrowth& b) {
      return std::tie(a.stack, a.label, a.instance) < std::tie(b.stack, b.label, b.instance);
    });
    std::vector<InstanceGrowth> sums;
    for (const InstanceGrowth& one : growth_) {
      if (!sums.empty() && sums.back().growth == 0) sums.pop_back();
      if (!sums.empty() && sums.back().stack == one.stack && sums.back().label == one.label &&
          sums.back().instance == one.instance) {
        sums.back().growth = wrapping_sum(sums.back().growth, one.growth);
      } else {
        sums.push_back(one);
      }
    }
    if (!sums.empty() && sums.back().growth == 0) sums.pop_back();
    beside_->growth = std::move(sums);
  }

  /// Every byte that was committed is in the rows, or there is no answer.
  void check_totals() {
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      for (const auto& [metric, expected] : expected_[s]) {
        if (expected.overflow || found_.empty() ? expected.overflow : found_[s][metric].overflow)
          fail({ErrorCode::limit, "the sum of " + metrics_[metric] + " is beyond 2^63-1"});
        const Total found = found_.empty() ? Total{} : found_[s][metric];
        if (found != expected) fail(missing_rows(from_, steps_[s].members, metrics_[metric], filter_.where()));
      }
    }
  }

  void read_dictionary() {
    std::unordered_set<Hash128> stacks;
    std::unordered_set<std::uint64_t, KeyedHash> labels;
    for (const Place& place : sums_.places()) {
      stacks.insert(place.stack);
      if (pivot_ == nullptr && place.label != 0) labels.insert(place.label);
    }
    dictionary_.read_stacks({stacks.begin(), stacks.end()});
    dictionary_.read_labels({labels.begin(), labels.end()});
    for (const std::string& value : pivot_values_) {
      if (value.empty()) {  // has none, which is distinguished from one without letters
        pivot_sets_.push_back(LabelSetId{});
        continue;
      }
      Label label;
      label.key = builder_.string(pivot_->key);
      label.text = builder_.string(value);
      pivot_sets_.push_back(builder_.labels({label}));
    }
    if (std::any_of(below_.begin(), below_.end(), [](const Below& one) { return one.rows != 0; }))
      below_stack_ = builder_.pseudo_stack(kBelowThreshold);
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

  std::vector<Snapshot> build() {
    std::vector<Snapshot> out;
    for (const Step& step : steps_) {
      Snapshot snapshot;
      if (!step.members.empty()) {
        const auto found = facts_.find(step.members.front()->push);
        if (found == facts_.end())
          fail({ErrorCode::internal, "facts of a snapshot are missing on a server: " + step.members.front()->service +
                                         " " + step.members.front()->instance});
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
    Snapshot shared = value_or_throw(builder_.finish());
    fill(out);
    for (Snapshot& snapshot : out) {
      snapshot.dictionary = shared.dictionary;
      value_or_throw(validate(snapshot));
    }
    return out;
  }

  void fill(std::vector<Snapshot>& out) {
    std::vector<std::pair<StackId, LabelSetId>> rows;
    rows.reserve(sums_.places().size() + 1);
    for (const Place& place : sums_.places())
      rows.emplace_back(dictionary_.stack(place.stack), pivot_ != nullptr
                                                            ? pivot_sets_[static_cast<std::size_t>(place.label)]
                                                            : dictionary_.labels(place.label));
    const auto below_place = static_cast<std::uint32_t>(rows.size());
    rows.emplace_back(below_stack_, LabelSetId{});
    for (std::size_t s = 0; s < out.size(); ++s) {
      std::vector<RowSum> cells = sums_.take(s);
      if (s < below_.size() && below_[s].rows != 0)
        cells.push_back({below_[s].value, below_[s].objects, below_place, 0, 0});
      if (cells.empty()) continue;
      std::sort(cells.begin(), cells.end(),
                [&](const RowSum& a, const RowSum& b) { return rows[a.place] < rows[b.place]; });
      fill_step(cells, rows, facts_.at(steps_[s].members.front()->push).columns, out[s].samples);
    }
  }

  /// Cells in order of their rows become the rows of a snapshot; cells of one row are added up.
  void fill_step(std::span<const RowSum> cells, std::span<const std::pair<StackId, LabelSetId>> rows,
                 std::span<const StoredColumn> stored, SampleTable& samples) const {
    struct Target {
      std::size_t column, metric;
      bool is_objects;
    };
    std::vector<Target> targets;
    for (std::size_t c = 0; const StoredColumn& one : stored) {
      const auto metric = std::find(metrics_.begin(), metrics_.end(), one.metric);
      if (metric != metrics_.end())
        targets.push_back({c++, static_cast<std::size_t>(metric - metrics_.begin()), one.is_objects});
    }
    samples.stack.reserve(cells.size());
    samples.labels.reserve(cells.size());
    for (Column& column : samples.columns) column.value.reserve(cells.size());
    for (const RowSum& cell : cells) {
      const auto& [stack, labels] = rows[cell.place];
      if (samples.stack.empty() || samples.stack.back() != stack || samples.labels.back() != labels) {
        samples.stack.push_back(stack);
        samples.labels.push_back(labels);
        for (Column& column : samples.columns) {
          column.value.push_back(0);
          if (!column.known.empty()) column.known.push_back(1);
        }
      }
      for (const Target& target : targets) {
        if (target.metric != cell.metric) continue;
        Column& column = samples.columns[target.column];
        if ((cell.unknown & (target.is_objects ? 2U : 1U)) != 0) {
          column.known.resize(samples.stack.size(), 1);
          column.known.back() = 0;
        } else {
          column.value.back() = wrapping_sum(column.value.back(), target.is_objects ? cell.objects : cell.value);
        }
      }
    }
  }

  /// What a push stands for.
  struct PushUse {
    std::vector<std::uint32_t> steps;
    std::uint64_t pivot = 0;
    std::uint32_t instance = 0;
  };

  Fleet::Impl& from_;
  std::span<const Step> steps_;
  const Pivot* pivot_;
  std::int64_t floor_;
  SnapshotBuilder builder_;
  GrowthBeside* beside_;
  DictionaryReader dictionary_;
  RowFilter filter_;
  std::vector<std::string> metrics_, pivot_values_;
  std::vector<std::uint64_t> pushes_, slot_numbers_, slots_;
  std::unordered_map<std::uint64_t, PushUse, KeyedHash> uses_;
  bool is_plain_ = false;
  std::uint64_t ranges_ = 1;
  std::vector<std::map<std::uint32_t, Total>> expected_, found_;
  std::unordered_map<std::uint64_t, StoredFacts> facts_;
  StackSums sums_;
  std::vector<Below> below_;
  std::vector<InstanceGrowth> growth_;
  std::vector<LabelSetId> pivot_sets_;
  StackId below_stack_{};
};

}  // namespace

Result<std::vector<Snapshot>> Fleet::fetch(std::span<const Step> steps, const Pivot* pivot, std::int64_t floor,
                                           GrowthBeside* beside) {
  return when_replicas_agree(*impl_, [&] { return Fetch(*impl_, steps, pivot, floor, beside).run(); });
}

}  // namespace snapdiff::fleet
