
#include "analyzer/diff/diff.hpp"
#include "analyzer/diff/make_report.hpp"

namespace snapdiff::diff {

Result<TopReport> top(const SnapshotRef& snapshot, const DiffOptions& options) {
  Result<Comparison> comparison = compare(std::span(&snapshot, 1), options);
  if (!comparison) return std::move(comparison).error();
  Comparison& c = *comparison;
  // Growth from nothing: the same rows, the same order, the same checks.
  for (UnitValue& unit : c.values) unit.value.baseline = unit.objects.baseline = 0;
  c.sides.emplace_back();
  std::swap(c.sides.front(), c.sides.back());
  Side& nothing = c.sides.front();
  nothing.ref = snapshot;
  nothing.blur = {Blur::Kind::none, 0};
  for (std::uint32_t& side : c.side) side = 1;
  c.unit_of_entry.emplace(c.unit_of_entry.begin());
  Result<GrowthReport> report = make_report(c, {.series = {}, .by_stack = false});
  if (!report) return std::move(report).error();

  TopReport out;
  out.snapshot = snapshot;
  out.options = options;
  out.metric = report->metric;
  out.unit = report->unit;
  out.has_objects = report->has_objects;
  out.stacks = std::move(report->stacks);
  out.keys = std::move(report->keys);
  out.view = report->view;
  out.total = report->total.current;
  out.total_objects = report->total_objects.current;
  out.unattributed = report->unattributed.current;
  out.filtered = report->filtered.current;
  out.unnamed = std::move(report->unnamed);
  out.notes = std::move(report->notes);
  out.rows.reserve(report->rows.size());
  for (std::size_t i = 0; i < report->rows.size(); ++i) {
    const GrowthRow& row = report->rows[i];
    const Change& below = report->cumulative.empty() ? row.value : report->cumulative[i].value;
    out.rows.push_back({row.value.current, row.objects.current, below.current, row.error, row.key});
  }
  return out;
}

}  // namespace snapdiff::diff
