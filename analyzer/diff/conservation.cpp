#include <string>

#include "analyzer/diff/diff.hpp"

namespace snapdiff::diff {
namespace {

__extension__ using Wide = __int128;

Status broken(const std::string& what) {
  return Error{ErrorCode::internal, std::string("conservation: ") + what +
                                        ", expected the rows, [unattributed] and the filtered " +
                                        "stacks to add up to the total"};
}

}  // namespace

Status check_conservation(const GrowthReport& r) {
  Wide baseline = 0, current = 0, baseline_objects = 0, current_objects = 0, grew = 0, shrank = 0;
  const auto add = [&](const Change& value, const Change& objects) {
    baseline += value.baseline;
    current += value.current;
    baseline_objects += objects.baseline;
    current_objects += objects.current;
  };
  for (const GrowthRow& row : r.rows) {
    add(row.value, row.objects);
    grew += row.grew;
    shrank += row.shrank;
    if (row.grew < 0 || row.shrank > 0 || Wide{row.grew} + row.shrank != Wide{row.value.current} - row.value.baseline)
      return broken("grown and shrunk parts of a row are not its growth");
  }
  add(r.unattributed, r.unattributed_objects);
  add(r.filtered, r.filtered_objects);
  for (const Change* change : {&r.unattributed, &r.filtered}) {
    const Wide growth = Wide{change->current} - change->baseline;
    (growth > 0 ? grew : shrank) += growth;
  }
  if (baseline != r.total.baseline) return broken("the baseline values do not add up");
  if (current != r.total.current) return broken("the current values do not add up");
  if (baseline_objects != r.total_objects.baseline) return broken("the baseline objects do not add up");
  if (current_objects != r.total_objects.current) return broken("the current objects do not add up");
  if (grew != r.grew || shrank != r.shrank || Wide{r.grew} + r.shrank != Wide{r.total.current} - r.total.baseline)
    return broken("grown and shrunk parts do not add up");
  for (const CumulativeChange& sum : r.cumulative) {
    if (Wide{sum.grew} + sum.shrank != Wide{sum.value.current} - sum.value.baseline)
      return broken("grown and shrunk parts of a cumulative value are not its growth");
  }
  return ok();
}

}  // namespace snapdiff::diff
