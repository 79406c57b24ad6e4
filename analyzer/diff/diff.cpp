#include "analyzer/diff/diff.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "analyzer/base/first_notes.hpp"
#include "analyzer/base/parallel.hpp"
#include "analyzer/diff/make_report.hpp"
#include "analyzer/diff/names.hpp"
#include "analyzer/diff/row_order.hpp"

namespace snapdiff::diff {
namespace {

/// Of both sides, without their signs.
double both_of(const Change& value) {
  return std::abs(static_cast<double>(value.baseline)) + std::abs(static_cast<double>(value.current));
}

/// What one sample stands for: the variance of sampled values is as many times their sum.
double sample_of(double variance, const Change& value) {
  const double sum = both_of(value);
  return sum > 0 ? variance / sum : 0;
}

/// V8's agents name functions without one by their place, which is another one wherever a line was added.
bool is_told(const RenamedFunction& one) {
  constexpr std::string_view kByPlace = "(anonymous:L#";
  return one.stacks > 0 && !(one.before.starts_with(kByPlace) && one.after.starts_with(kByPlace));
}

/// To six digits: more say nothing of a standard deviation, and the last ones of a sum depend on the order of its rows,
/// which is another in a store than in the file.
double rounded_error(double error) {
  constexpr int kDigits = 6;
  if (!(error > 0) || !std::isfinite(error)) return error;
  const int power = kDigits - 1 - static_cast<int>(std::floor(std::log10(error)));
  if (power > 300 || power < -300) return error;
  // Division by a whole power of ten gives the number that its digits name.
  const double scale = std::pow(10.0, std::abs(power));
  return power >= 0 ? std::round(error * scale) / scale : std::round(error / scale) * scale;
}

/// One standard deviation of what has this variance; NaN where a side's sampling is unknown.
double error_of(const Comparison& c, double variance) {
  for (const Side* side : {&c.sides.front(), &c.sides.back()}) {
    if (side->blur.kind == Blur::Kind::unknown) return kUnknownError;
  }
  return rounded_error(std::sqrt(variance));
}

void fill_head(const Comparison& c, GrowthReport& r) {
  const Side& first = c.sides.front();
  const Side& last = c.sides.back();
  r.baseline = first.ref;
  r.current = last.ref;
  r.options = c.options;
  r.metric = c.metric;
  r.unit = c.unit;
  r.objects_metric = c.objects_metric;
  r.has_objects = c.has_objects;
  const bool sampled = first.blur.kind == Blur::Kind::known || last.blur.kind == Blur::Kind::known;
  const bool rounded = first.rounded || last.rounded;
  r.has_error = sampled || rounded || first.unlisted > 0 || last.unlisted > 0;
  r.rounded = rounded && !sampled;
  r.exact = first.blur.kind == Blur::Kind::none && last.blur.kind == Blur::Kind::none && !rounded;
  r.total = {first.total, last.total};
  r.total_objects = {first.total_objects, last.total_objects};
  r.unattributed = {first.unattributed, last.unattributed};
  r.unattributed_objects = {first.unattributed_objects, last.unattributed_objects};
  r.filtered = {first.filtered, last.filtered};
  r.filtered_objects = {first.filtered_objects, last.filtered_objects};
  const double of_ends = first.total_variance + last.total_variance;
  r.error_since_baseline = c.since_baseline.has_value();
  r.total_error = error_of(c, c.since_baseline ? c.since_baseline->total : of_ends);
  r.total_sample = sample_of(of_ends, r.total);
  r.rule_set = std::string(kRuleSet);
  r.possible_pairs = c.possible_pairs;
  for (const RenamedFunction& one : c.renamed) {
    if (is_told(one)) r.renamed.push_back(one);
  }
  r.notes = c.notes;
}

/// grew and shrank of the report. Errors: limit.
Status sum_parts(const Comparison& c, const Grouped& g, GrowthReport& r) {
  Adder adder;
  for (const GrowthRow& row : g.rows) {
    adder.add(r.grew, row.grew);
    adder.add(r.shrank, row.shrank);
  }
  for (const Change* change : {&r.unattributed, &r.filtered}) adder.add_growth(r.grew, r.shrank, *change);
  for (const Change* change : {&r.total, &r.total_objects, &r.unattributed_objects, &r.filtered_objects})
    adder.check(*change);
  return adder.status(c);
}

void share_tiers(const Comparison& c, GrowthReport& r) {
  std::vector<std::array<double, kMatchTiers>> blocks(blocks_of(c.unit_count()));
  for_each_block(c.unit_count(), [&](std::size_t block, std::size_t begin, std::size_t end) {
    for (std::size_t u = begin; u < end; ++u) {
      MatchTier tier = c.tier[u];
      if (!c.coarse_tier.empty() && c.coarse_tier[c.row_of(u)] != MatchTier::none) tier = c.coarse_tier[c.row_of(u)];
      blocks[block][static_cast<std::size_t>(tier)] += both_of(c.values[u].value);
    }
  });
  std::array<double, kMatchTiers> bytes{};
  double all = 0;
  for (const auto& block : blocks) {
    for (std::size_t t = 0; t < kMatchTiers; ++t) bytes[t] += block[t];
  }
  for (const double of_tier : bytes) all += of_tier;
  const double pseudo = both_of(r.unattributed);
  bytes[static_cast<std::size_t>(MatchTier::function_line)] += pseudo;
  all += pseudo;
  if (all <= 0) return;
  for (std::size_t t = 0; t < kMatchTiers; ++t) r.matched[t] = bytes[t] / all;
  const bool nothing = bytes[static_cast<std::size_t>(MatchTier::none)] >= all;
  // What a filter left out may be what they have in common.
  const bool whole = c.options.focus.empty() && c.options.ignore.empty();
  if (nothing && whole && r.total.baseline != 0 && r.total.current != 0)
    r.notes.add(Severity::warning, c.options.match_strictly ? kNothingRecordedAlike : kNothingInCommon);
}

/// The rows in the order asked for.
std::vector<std::uint32_t> sort_rows(const Comparison& c, GroupBy by, const Grouped& g) {
  RowKeys keys;
  keys.resize(c.options.sort, g.rows.size());
  for (std::size_t i = 0; i < g.rows.size(); ++i) keys.set(c.options.sort, i, g.rows[i].value, g.rows[i].objects);
  if (by == GroupBy::stack) {
    std::vector<VisibleFrames> stacks;
    for (const std::uint32_t unit : g.unit) stacks.push_back(c.frames[unit]);
    return order_stacks(c, keys, stacks);
  }
  return order_rows(keys, [&](std::span<std::uint32_t> ties) {
    std::sort(ties.begin(), ties.end(), [&](std::uint32_t a, std::uint32_t b) { return g.keys[a] < g.keys[b]; });
  });
}

/// in[order[i]] for each i, in the place of `in`: a million rows need not be there twice.
template <class T>
std::vector<T> permuted(std::vector<T> in, const std::vector<std::uint32_t>& order) {
  if (in.empty() || order.empty()) return in;
  std::vector<bool> done(order.size(), false);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (done[i]) continue;
    T first = std::move(in[i]);
    std::size_t to = i;
    for (std::size_t from = order[to]; from != i; to = from, from = order[to]) {
      in[to] = std::move(in[from]);
      done[to] = true;
    }
    in[to] = std::move(first);
    done[to] = true;
  }
  return in;
}

__extension__ using Wide = __int128;

Status broken(const std::string& what) {
  return Error{ErrorCode::internal, std::string("conservation: ") + what +
                                        ", expected the rows, [unattributed] and the filtered " +
                                        "stacks to add up to the total"};
}

Result<GrowthReport> conserved(GrowthReport report) {
  if (Status holds = check_conservation(report); !holds) return std::move(holds).error();
  return report;
}

Result<GrowthReport> make_report_by(const Comparison& c, GroupBy by, const SeriesOf& series) {
  GrowthReport r;
  fill_head(c, r);
  r.options.by = by;
  Result<Grouped> grouped = group(c, by, series);
  if (!grouped) return std::move(grouped).error();
  Grouped& g = *grouped;
  if (Status sums = sum_parts(c, g, r); !sums) return std::move(sums).error();
  for_each_block(g.rows.size(), [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      g.rows[i].error = error_of(c, g.rows[i].error);
      g.rows[i].sample = sample_of(g.rows[i].sample, g.rows[i].value);
    }
  });
  share_tiers(c, r);

  // Neither needs anything of the other.
  std::vector<std::uint32_t> order;
  for_each_parallel(2, c.unit_count(), [&](std::size_t task) {
    if (task == 0) {
      if (!g.sorted) order = sort_rows(c, by, g);
    } else {
      const Side& last = c.sides.back();
      r.unnamed = find_unnamed(last, c.dictionaries[last.dictionary]->dictionary());
    }
  });
  r.rows = permuted(std::move(g.rows), order);
  r.cumulative = permuted(std::move(g.cumulative), order);
  if (series.wanted) {
    if (!g.sorted) g.series.permute(order);
    r.series = std::move(g.series);
    r.series_length = g.series_length;
    r.object_place = permuted(std::move(g.object_place), order);
    r.object_series = std::move(g.object_series);
  }
  auto view = std::make_shared<ComparisonView>(c);
  if (by == GroupBy::stack) {
    r.stacks.reserve(g.unit.size());
    for (const std::uint32_t unit : g.unit) r.stacks.push_back(view->refer(c.stack[unit], c.side[unit]));
    r.counterparts = counterparts_of(c, g, *view);
  } else {
    r.keys = std::move(g.keys);
  }
  r.listed_once_value = c.listed_once_value;
  for (const ListedOnceUnit& unit : c.listed_once)
    r.listed_once.push_back({view->refer(unit.stack, unit.side), unit.first, unit.last, unit.value, unit.objects});
  r.view = std::move(view);
  return conserved(std::move(r));
}

}  // namespace

Result<GrowthReport> make_report(const Comparison& c, const ReportParts& parts) {
  Result<GrowthReport> report = make_report_by(c, c.options.by, parts.series);
  if (!report || !parts.by_stack || c.options.by == GroupBy::stack) return report;
  Result<GrowthReport> stacks = make_report_by(c, GroupBy::stack, parts.series);
  if (!stacks) return stacks;
  report->by_stack = std::make_shared<const GrowthReport>(*std::move(stacks));
  return report;
}

Result<GrowthReport> diff(const SnapshotRef& baseline, const SnapshotRef& current, const DiffOptions& options) {
  const std::array<SnapshotRef, 2> both = {baseline, current};
  Result<Comparison> comparison = compare(both, options);
  if (!comparison) return std::move(comparison).error();
  return make_report(*comparison, {});
}

namespace {

struct Sums {
  Wide baseline = 0, current = 0, baseline_objects = 0, current_objects = 0, grew = 0, shrank = 0;
  bool parts_hold = true;

  void add(const Change& value, const Change& objects) {
    baseline += value.baseline;
    current += value.current;
    baseline_objects += objects.baseline;
    current_objects += objects.current;
  }
  void add(const GrowthRow& row) {
    add(row.value, row.objects);
    grew += row.grew;
    shrank += row.shrank;
    if (row.grew < 0 || row.shrank > 0 || Wide{row.grew} + row.shrank != Wide{row.value.current} - row.value.baseline)
      parts_hold = false;
  }
  void add(const Sums& other) {
    baseline += other.baseline;
    current += other.current;
    baseline_objects += other.baseline_objects;
    current_objects += other.current_objects;
    grew += other.grew;
    shrank += other.shrank;
    parts_hold = parts_hold && other.parts_hold;
  }
};

}  // namespace

Status check_conservation(const GrowthReport& r) {
  std::vector<Sums> blocks(blocks_of(r.rows.size()));
  for_each_block(r.rows.size(), [&](std::size_t block, std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) blocks[block].add(r.rows[row]);
  });
  Sums all;
  for (const Sums& block : blocks) all.add(block);
  if (!all.parts_hold) return broken("grown and shrunk parts of a row are not its growth");
  all.add(r.unattributed, r.unattributed_objects);
  all.add(r.filtered, r.filtered_objects);
  for (const Change* change : {&r.unattributed, &r.filtered}) {
    const Wide growth = Wide{change->current} - change->baseline;
    (growth > 0 ? all.grew : all.shrank) += growth;
  }
  if (all.baseline != r.total.baseline) return broken("the baseline values do not add up");
  if (all.current != r.total.current) return broken("the current values do not add up");
  if (all.baseline_objects != r.total_objects.baseline) return broken("the baseline objects do not add up");
  if (all.current_objects != r.total_objects.current) return broken("the current objects do not add up");
  if (all.grew != r.grew || all.shrank != r.shrank ||
      Wide{r.grew} + r.shrank != Wide{r.total.current} - r.total.baseline)
    return broken("grown and shrunk parts do not add up");
  for (const CumulativeChange& sum : r.cumulative) {
    if (Wide{sum.grew} + sum.shrank != Wide{sum.value.current} - sum.value.baseline)
      return broken("grown and shrunk parts of a cumulative value are not its growth");
  }
  return ok();
}

}  // namespace snapdiff::diff
