#include "analyzer/diff/stack_rows.hpp"

#include "analyzer/diff/comparison.hpp"

namespace snapdiff::diff {

Result<std::optional<StackRows>> rows_of_stacks(const SnapshotRef& baseline, const SnapshotRef& current) {
  const SnapshotRef both[] = {baseline, current};
  const Result<Comparison> comparison = compare(both, {});
  if (!comparison) return comparison.error();
  const Comparison& c = *comparison;
  if (c.row_of_unit.empty()) return std::optional<StackRows>();
  const auto rows_of = [&c](std::size_t s) {
    const Side& side = c.sides[s];
    std::vector<std::uint32_t> rows(side.ref.snapshot->dictionary->stacks.size(), StackRows::kNone);
    for (std::size_t entry = 0; entry < side.stack.size(); ++entry)
      rows[index_of(side.stack[entry])] = c.row_of(c.unit_of_entry[s][entry]);
    return rows;
  };
  return std::optional(StackRows{rows_of(0), rows_of(1)});
}

}  // namespace snapdiff::diff
