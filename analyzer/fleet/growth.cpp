#include <cstdint>
#include <string>
#include <utility>

#include "analyzer/fleet/impl.hpp"
#include "analyzer/fleet/missing_rows.hpp"
#include "analyzer/fleet/replicas.hpp"
#include "analyzer/fleet/row_filter.hpp"
#include "snapdiff/checked.hpp"

namespace snapdiff::fleet {
namespace {

using Pairs = std::span<const std::pair<const Committed*, const Committed*>>;

std::vector<InstanceGrowth> read_growth(Fleet::Impl& from, Pairs pairs, bool by_label) {
  RowFilter filter;
  filter.at_few_moments = true;
  std::vector<std::uint64_t> after, both, instances;
  std::int64_t expected = 0;
  for (std::uint64_t i = 0; i < pairs.size(); ++i) {
    // A snapshot at both ends did not grow; its rows would count as those of its end alone.
    if (pairs[i].first->push == pairs[i].second->push) continue;
    for (const Committed* const one : {pairs[i].first, pairs[i].second}) {
      both.push_back(one->push);
      instances.push_back(i);
      filter.add(*one);
    }
    after.push_back(pairs[i].second->push);
    expected = wrapping_sum(expected, wrapping_difference(pairs[i].second->total, pairs[i].first->total));
  }
  if (both.empty()) return {};
  const std::string query = "SELECT stack, " + std::string(by_label ? "label" : "toUInt64(0)") +
                            " AS l, toUInt32(transform(push, [" + list_of(std::span<const std::uint64_t>(both)) +
                            "], [" + list_of(std::span<const std::uint64_t>(instances)) +
                            "], 4294967295)) AS i, sum(if(push IN (" + list_of(std::span<const std::uint64_t>(after)) +
                            "), value, -value)) AS g FROM " + from.table("sample") + filter.text() +
                            " GROUP BY stack, l, i HAVING g != 0 SETTINGS distributed_group_by_no_merge = 1";
  std::vector<InstanceGrowth> out;
  std::int64_t found = 0;
  from.rows("growth per instance", query, [&](RowReader& row) {
    InstanceGrowth one;
    one.stack = row.hash();
    one.label = row.number<std::uint64_t>();
    one.instance = row.number<std::uint32_t>();
    one.growth = row.number<std::int64_t>();
    if (!row.whole()) return;
    if (one.instance >= pairs.size())
      fail({ErrorCode::malformed, "the answer names an instance that was not asked for"});
    found = wrapping_sum(found, one.growth);
    out.push_back(one);
  });
  if (found == expected) return out;
  std::vector<const Committed*> members;
  for (const auto& [first, last] : pairs) members.insert(members.end(), {first, last});
  fail(missing_rows(from, members, pairs.front().first->metric, filter.where()));
}

}  // namespace

Result<std::vector<InstanceGrowth>> Fleet::growth(Pairs pairs, bool by_label) {
  if (pairs.empty()) return std::vector<InstanceGrowth>{};
  return when_replicas_agree(*impl_, [&] { return read_growth(*impl_, pairs, by_label); });
}

}  // namespace snapdiff::fleet
