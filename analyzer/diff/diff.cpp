#include "analyzer/diff/diff.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "analyzer/diff/engine.hpp"
#include "analyzer/diff/names.hpp"
#include "analyzer/diff/row_order.hpp"
#include "analyzer/diff/suspects.hpp"
#include "snapdiff/checked.hpp"

namespace snapdiff::diff {
namespace {

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
  r.has_error = first.blur.kind == Blur::Kind::known || last.blur.kind == Blur::Kind::known;
  r.exact = first.blur.kind == Blur::Kind::none && last.blur.kind == Blur::Kind::none;
  r.total = {first.total, last.total};
  r.total_objects = {first.total_objects, last.total_objects};
  r.unattributed = {first.unattributed, last.unattributed};
  r.unattributed_objects = {first.unattributed_objects, last.unattributed_objects};
  r.filtered = {first.filtered, last.filtered};
  r.filtered_objects = {first.filtered_objects, last.filtered_objects};
  r.total_error = error_of(c, first.total_variance + last.total_variance);
  r.rule_set = std::string(kRuleSet);
  r.possible_pairs = c.possible_pairs;
  r.notes = c.notes;
}

/// grew and shrank of the report. Errors: limit.
Status sum_parts(const Grouped& g, GrowthReport& r) {
  bool fits = true;
  const auto add = [&](std::int64_t& sum, std::int64_t value) { fits &= checked_add(sum, value, sum); };
  for (const GrowthRow& row : g.rows) {
    add(r.grew, row.grew);
    add(r.shrank, row.shrank);
  }
  for (const Change* change : {&r.unattributed, &r.filtered}) {
    std::int64_t growth = 0;
    fits &= checked_sub(change->current, change->baseline, growth);
    add(growth > 0 ? r.grew : r.shrank, growth);
  }
  std::int64_t ignored = 0;
  fits &= checked_sub(r.total.current, r.total.baseline, ignored) &&
          checked_sub(r.total_objects.current, r.total_objects.baseline, ignored) &&
          checked_sub(r.unattributed_objects.current, r.unattributed_objects.baseline, ignored) &&
          checked_sub(r.filtered_objects.current, r.filtered_objects.baseline, ignored);
  if (fits) return ok();
  return Error{ErrorCode::limit, std::string("growth of ") + r.metric + " is beyond 2^63-1, expected it to fit in 64 bits"};
}

void share_tiers(const Comparison& c, GrowthReport& r) {
  std::array<double, kMatchTiers> bytes{};
  double all = 0;
  for (std::size_t u = 0; u < c.unit_count(); ++u) {
    const Change& value = c.values[u].value;
    const double both = std::abs(static_cast<double>(value.baseline)) + std::abs(static_cast<double>(value.current));
    MatchTier tier = c.tier[u];
    if (!c.coarse_tier.empty() && c.coarse_tier[c.row_of(u)] != MatchTier::none) tier = c.coarse_tier[c.row_of(u)];
    bytes[static_cast<std::size_t>(tier)] += both;
    all += both;
  }
  const double pseudo = std::abs(static_cast<double>(r.unattributed.baseline)) +
                        std::abs(static_cast<double>(r.unattributed.current));
  bytes[static_cast<std::size_t>(MatchTier::function_line)] += pseudo;
  all += pseudo;
  if (all <= 0) return;
  for (std::size_t t = 0; t < kMatchTiers; ++t) r.matched[t] = bytes[t] / all;
}

/// Puts rows and all that is parallel to them in the order asked for; returns for each row the
/// number it had before.
std::vector<std::uint32_t> sort_rows(const Comparison& c, Grouped& g) {
  std::vector<std::uint64_t> keys(g.rows.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    keys[i] = sort_key(c.options.sort, g.rows[i].value, g.rows[i].objects);
  }
  std::vector<std::uint32_t> order;
  if (c.options.by == GroupBy::stack) {
    const FrameOrder by_text(c.dictionaries);
    std::vector<VisibleFrames> own;  // by row where rows are not units
    if (!c.row_of_unit.empty()) {
      for (const std::uint32_t unit : g.unit) own.push_back(c.frames[unit]);
    }
    const std::span<const VisibleFrames> frames = own.empty() ? std::span(c.frames) : std::span(own);
    order = order_rows(keys, [&](std::span<std::uint32_t> ties) { by_text.sort(ties, frames); });
  } else {
    order = order_rows(keys, [&](std::span<std::uint32_t> ties) {
      std::sort(ties.begin(), ties.end(), [&](std::uint32_t a, std::uint32_t b) { return g.keys[a] < g.keys[b]; });
    });
  }
  return order;
}

template <class T>
std::vector<T> permuted(const std::vector<T>& in, const std::vector<std::uint32_t>& order, std::size_t width = 1) {
  std::vector<T> out(in.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t k = 0; k < width; ++k) out[i * width + k] = in[order[i] * width + k];
  }
  return out;
}

void add_suspects(const Comparison& c, const std::vector<std::uint32_t>& unit_of_key, GrowthReport& r) {
  const bool blurred = r.has_error && !std::isnan(r.total_error);
  std::vector<std::uint32_t> place(unit_of_key.size());
  for (std::size_t i = 0; i < r.rows.size(); ++i) place[r.rows[i].key] = static_cast<std::uint32_t>(i);
  std::vector<StackGrowth> rows;
  for (std::size_t key = 0; key < unit_of_key.size(); ++key) {
    const GrowthRow& row = r.rows[place[key]];
    const std::int64_t growth = row.value.growth();
    if (growth == 0) continue;
    rows.push_back({unit_of_key[key], place[key], growth, r.has_objects ? row.objects.growth() : 0,
                    blurred ? row.error * row.error : 0});
  }
  SuspectList list = find_suspects(c, rows, r.grew, r.shrank, blurred);
  r.suspects = std::move(list.suspects);
  r.common_path = std::move(list.common_path);
}

Result<GrowthReport> conserved(GrowthReport report) {
  if (Status holds = check_conservation(report); !holds) return std::move(holds).error();
  return report;
}

}  // namespace

double error_of(const Comparison& c, double variance) {
  for (const Side* side : {&c.sides.front(), &c.sides.back()}) {
    if (side->blur.kind == Blur::Kind::unknown) return kUnknownError;
  }
  return std::sqrt(variance);
}

Result<GrowthReport> make_report(const Comparison& c, const ReportParts& parts) {
  GrowthReport r;
  fill_head(c, r);
  Result<Grouped> grouped = group(c, c.options.by, parts.series);
  if (!grouped) return std::move(grouped).error();
  Grouped& g = *grouped;
  if (Status sums = sum_parts(g, r); !sums) return std::move(sums).error();
  for (std::size_t i = 0; i < g.rows.size(); ++i) g.rows[i].error = error_of(c, g.variance[i]);
  share_tiers(c, r);

  const std::vector<std::uint32_t> order = sort_rows(c, g);
  r.rows = permuted(g.rows, order);
  r.cumulative = g.cumulative.empty() ? g.cumulative : permuted(g.cumulative, order);
  if (parts.series) {
    r.series = permuted(g.series, order, g.series_length);
    r.series_length = g.series_length;
  }
  auto view = std::make_shared<ComparisonView>(c);
  if (c.options.by == GroupBy::stack) {
    r.stacks.reserve(g.unit.size());
    for (const std::uint32_t unit : g.unit) r.stacks.push_back(view->refer(c.stack[unit], c.side[unit]));
    r.view = std::move(view);
    if (parts.suspects) add_suspects(c, g.unit, r);
  } else {
    r.keys = std::move(g.keys);
    r.view = std::move(view);
    if (!parts.suspects) return conserved(std::move(r));
    // Suspects are found on stacks, whatever the rows are.
    if (Result<Grouped> by_stack = group(c, GroupBy::stack, false); by_stack) {
      GrowthReport shadow;
      shadow.rows = std::move(by_stack->rows);
      shadow.has_objects = r.has_objects;
      shadow.has_error = r.has_error;
      shadow.total_error = r.total_error;
      shadow.grew = r.grew;
      shadow.shrank = r.shrank;
      for (std::size_t i = 0; i < shadow.rows.size(); ++i) shadow.rows[i].error = error_of(c, by_stack->variance[i]);
      add_suspects(c, by_stack->unit, shadow);
      r.suspects = std::move(shadow.suspects);
      for (Suspect& suspect : r.suspects) suspect.rows.clear();
      r.common_path = std::move(shadow.common_path);
    }
  }
  return conserved(std::move(r));
}

Result<GrowthReport> diff(const SnapshotRef& baseline, const SnapshotRef& current, const DiffOptions& options) {
  const std::array<SnapshotRef, 2> both = {baseline, current};
  Result<Comparison> comparison = compare(both, options);
  if (!comparison) return std::move(comparison).error();
  return make_report(*comparison, {});
}

}  // namespace snapdiff::diff
