#include <re2/re2.h>

#include <algorithm>
#include <limits>
#include <string>
#include <unordered_map>

#include "analyzer/base/frame_text.hpp"
#include "analyzer/base/number_text.hpp"
#include "analyzer/diff/diff.hpp"
#include "analyzer/diff/frame_keys.hpp"
#include "analyzer/diff/make_report.hpp"

namespace snapdiff::diff {
namespace {

constexpr std::uint32_t kNoFunction = std::numeric_limits<std::uint32_t>::max();

struct Sum {
  Change value, objects;
};

std::uint64_t pair_of(std::uint32_t caller, std::uint32_t callee) {
  return static_cast<std::uint64_t>(caller) << 32 | callee;
}

void sort_edges(std::vector<PeekEdge>& edges) {
  std::sort(edges.begin(), edges.end(), [](const PeekEdge& a, const PeekEdge& b) {
    const std::uint64_t size_a = magnitude(a.value.growth());
    const std::uint64_t size_b = magnitude(b.value.growth());
    if (size_a != size_b) return size_a > size_b;
    return a.value.current != b.value.current ? a.value.current > b.value.current : a.function < b.function;
  });
}

/// Rows whose stack holds a wanted function, as either build calls it.
std::vector<std::uint32_t> matched_rows(const GrowthReport& report, const RE2& wanted) {
  std::unordered_map<std::string, bool> known;
  std::vector<FrameView> frames;
  const auto holds = [&](StackRef stack) {
    report.view->frames(stack, frames);
    return std::any_of(frames.begin(), frames.end(), [&](const FrameView& frame) {
      const auto [found, fresh] = known.emplace(recorded_frame_text(frame), false);
      if (fresh) found->second = RE2::PartialMatch(found->first, wanted);
      return found->second;
    });
  };
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < report.rows.size(); ++row) {
    const Counterpart* const counterpart = report.counterpart(report.rows[row].key);
    if (counterpart != nullptr && (holds(report.stacks[report.rows[row].key]) || holds(counterpart->before)))
      rows.push_back(row);
  }
  std::stable_sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
    return magnitude(report.rows[a].value.growth()) > magnitude(report.rows[b].value.growth());
  });
  return rows;
}

/// What is summed of each function that matches, and of each edge at one of them.
struct PeekSums {
  std::vector<std::uint8_t> matches, seen;  // by function, as the next two
  std::vector<Change> flat, cumulative;
  std::unordered_map<std::uint64_t, Sum> edges;
};

PeekSums sum_up(const Comparison& c, const FrameKeys& keys, const RE2& wanted, Adder& adder) {
  PeekSums sums;
  sums.matches.resize(keys.size(), 0);
  sums.seen.resize(keys.size(), 0);
  sums.flat.resize(keys.size());
  sums.cumulative.resize(keys.size());
  std::vector<std::uint8_t>& matches = sums.matches;
  for (std::uint32_t key = 0; key < keys.size(); ++key) matches[key] = RE2::PartialMatch(keys.text(key), wanted);
  const auto add = [&adder](Change& sum, const Change& value) {
    adder.add(sum, value);
    adder.check(sum);
  };
  std::vector<std::uint32_t> last_seen(keys.size(), kNoFunction);
  std::vector<std::uint64_t> in_stack;
  for (std::size_t u = 0; u < c.unit_count(); ++u) {
    const UnitValue& unit = c.values[u];
    const VisibleFrames& frames = c.frames[u];
    in_stack.clear();
    std::uint32_t callee = kNoFunction;
    for (const FrameId frame : frames.frames()) {
      const std::uint32_t key = keys.key(frames.dictionary, frame);
      if (callee != kNoFunction && (matches[key] != 0 || matches[callee] != 0))
        in_stack.push_back(pair_of(key, callee));
      if (matches[key] != 0 && last_seen[key] != u) {
        last_seen[key] = static_cast<std::uint32_t>(u);
        sums.seen[key] = 1;
        add(sums.cumulative[key], unit.value);
        if (callee == kNoFunction) add(sums.flat[key], unit.value);
      }
      callee = key;
    }
    std::sort(in_stack.begin(), in_stack.end());
    in_stack.erase(std::unique(in_stack.begin(), in_stack.end()), in_stack.end());
    for (const std::uint64_t edge : in_stack) {
      Sum& sum = sums.edges[edge];
      add(sum.value, unit.value);
      add(sum.objects, unit.objects);
    }
  }
  return sums;
}

/// Heaviest first, by all that they call.
void add_functions(PeekReport& report, const PeekSums& sums, const FrameKeys& keys) {
  std::vector<std::size_t> place(keys.size(), 0);
  for (std::uint32_t key = 0; key < keys.size(); ++key) {
    if (sums.seen[key] == 0) continue;
    place[key] = report.functions.size();
    report.functions.push_back({keys.text(key), sums.flat[key], sums.cumulative[key], {}, {}});
  }
  for (const auto& [edge, sum] : sums.edges) {
    const auto caller = static_cast<std::uint32_t>(edge >> 32);
    const auto callee = static_cast<std::uint32_t>(edge & 0xffffffffU);
    if (sums.matches[callee] != 0) {
      report.functions[place[callee]].callers.push_back({keys.text(caller), sum.value, sum.objects});
    }
    if (sums.matches[caller] != 0) {
      report.functions[place[caller]].callees.push_back({keys.text(callee), sum.value, sum.objects});
    }
  }
  for (PeekFunction& function : report.functions) {
    sort_edges(function.callers);
    sort_edges(function.callees);
  }
  std::sort(report.functions.begin(), report.functions.end(), [](const PeekFunction& a, const PeekFunction& b) {
    const std::uint64_t size_a = magnitude(a.cumulative.growth());
    const std::uint64_t size_b = magnitude(b.cumulative.growth());
    return size_a != size_b ? size_a > size_b : a.function < b.function;
  });
}

}  // namespace

Result<PeekReport> peek(const SnapshotRef& baseline, const SnapshotRef& current, const std::string& regex,
                        const DiffOptions& options) {
  RE2::Options quiet;
  quiet.set_log_errors(false);
  const RE2 wanted(regex, quiet);
  if (!wanted.ok()) {
    return Error{ErrorCode::usage,
                 std::string("bad regular expression: '") + regex + "', expected RE2 syntax (" + wanted.error() + ")"};
  }
  const SnapshotRef both[] = {baseline, current};
  DiffOptions whole_stacks = options;
  whole_stacks.fold_recursion = false;  // a function that calls itself is its own caller here
  whole_stacks.by = GroupBy::stack;
  Result<Comparison> comparison = compare(both, whole_stacks);
  if (!comparison) return std::move(comparison).error();
  const Comparison& c = *comparison;
  FrameKeys keys(c.dictionaries, GroupBy::function);
  keys.rename(c.renamed);

  Adder adder;
  const PeekSums sums = sum_up(c, keys, wanted, adder);
  if (!adder.fits()) return beyond_64_bits("sum of " + c.metric);

  PeekReport report;
  report.baseline = baseline;
  report.current = current;
  report.metric = c.metric;
  report.unit = c.unit;
  report.regex = regex;
  report.total = {c.sides.front().total, c.sides.back().total};
  add_functions(report, sums, keys);
  if (!c.row_of_unit.empty()) {
    Result<GrowthReport> by_stack = make_report(c, {});
    if (!by_stack) return std::move(by_stack).error();
    report.matched_rows = matched_rows(*by_stack, wanted);
    report.by_stack = std::make_shared<const GrowthReport>(*std::move(by_stack));
  }
  return report;
}

}  // namespace snapdiff::diff
