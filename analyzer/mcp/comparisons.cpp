#include "analyzer/mcp/comparisons.hpp"

#include <algorithm>
#include <utility>

#include "analyzer/base/failure.hpp"
#include "analyzer/base/option_words.hpp"
#include "analyzer/base/size_text.hpp"
#include "analyzer/session/compared.hpp"
#include "analyzer/session/judged_series.hpp"

namespace snapdiff::mcp {
namespace {

constexpr std::size_t kMostKnown = 256;  // handles; older ones are forgotten
constexpr std::size_t kMostHeld = 2;     // comparisons whose snapshots stay in memory: the question and the one before

/// The view as the arguments change it.
DiffOptions view_of(DiffOptions view, const ToolArguments& arguments) {
  if (!arguments.metric.empty()) view.metric = arguments.metric;
  if (!arguments.focus.empty()) view.focus = arguments.focus;
  if (!arguments.ignore.empty()) view.ignore = arguments.ignore;
  view.by = value_of(kGroupWords, arguments.by).value_or(view.by);
  return view;
}

bool is_alike(const Comparison& a, const Comparison& b) {
  return a.paths == b.paths && a.series == b.series && a.format == b.format && a.view == b.view && a.limit == b.limit;
}

}  // namespace

bool Comparison::has_graph() const {
  return !loaded->snapshots.empty() && loaded->snapshots.back().ref.snapshot->graph != nullptr;
}

const GrowthReport& Comparison::growth() {
  const std::vector<SnapshotRef> all = refs();
  if (all.size() < 2)
    fail({ErrorCode::usage, "one snapshot: expected a second one to compare it with", std::nullopt, all.front().ref});
  if (all.size() > 2) return judged().series.overall;
  if (pair == nullptr)
    pair = std::make_shared<const GrowthReport>(value_or_throw(session::compare_two(all[0], all[1], view)));
  return *pair;
}

const TrendReport& Comparison::judged() {
  if (loaded->snapshots.size() < 3)
    fail({ErrorCode::usage, "too few snapshots for a trend: found " + std::to_string(loaded->snapshots.size()) +
                                ", expected at least 3; the tool diff compares two"});
  if (trend == nullptr) {
    session::TrendRequest wanted;
    wanted.limit = limit;
    trend = std::make_shared<const TrendReport>(value_or_throw(session::find_trend(*loaded, view, wanted)));
  }
  return *trend;
}

Comparison& Comparisons::find(const std::string& handle) {
  for (Comparison& one : all_) {
    if (one.handle == handle) return one;
  }
  fail({ErrorCode::usage, "of: found '" + handle + "', expected a handle of an earlier answer, as r1; or give paths"});
}

Comparison& Comparisons::take(Comparison wanted) {
  const auto known =
      std::find_if(all_.begin(), all_.end(), [&](const Comparison& one) { return is_alike(one, wanted); });
  if (known != all_.end()) {
    wanted.handle = known->handle;
    return *known = std::move(wanted);
  }
  wanted.handle = "r" + std::to_string(++made_);
  if (all_.size() == kMostKnown) all_.pop_front();
  return all_.emplace_back(std::move(wanted));
}

Comparison& Comparisons::open(const ToolArguments& arguments, const AllowedPaths& paths) {
  if (arguments.of.empty() == arguments.paths.empty())
    fail({ErrorCode::usage, arguments.of.empty() ? "found neither paths nor of, expected one of them"
                                                 : "found both paths and of, expected one of them"});
  Comparison wanted;
  if (arguments.of.empty()) {
    for (const std::string& path : arguments.paths) wanted.paths.push_back(value_or_throw(paths.resolve(path)));
  } else {
    wanted = find(arguments.of);
  }
  const Comparison before = wanted;
  if (!arguments.series.empty()) wanted.series = arguments.series;
  if (!arguments.format.empty()) wanted.format = arguments.format;
  wanted.view = view_of(wanted.view, arguments);
  if (!arguments.limit.empty()) {
    const std::optional<double> bytes = parse_bytes(arguments.limit);
    if (!bytes || *bytes < 1)
      fail({ErrorCode::usage, "limit: found '" + arguments.limit + "', expected a size, as 24GiB"});
    wanted.limit = static_cast<std::int64_t>(*bytes);
  }
  if (wanted.series != before.series || wanted.format != before.format) wanted.loaded = nullptr;
  if (!is_alike(wanted, before)) wanted.pair = nullptr, wanted.trend = nullptr;
  if (wanted.loaded == nullptr) {
    for (const std::string& path : wanted.paths) value_or_throw(paths.resolve(path));
    session::Request request;
    request.store = ":memory:";
    request.series = wanted.series;
    request.format = wanted.format;
    wanted.loaded = std::make_shared<const Loaded>(
        value_or_throw(session::load_compared(wanted.paths, wanted.view, request, session::Fallback::snapshots))
            .loaded);
  }
  wanted.last_used = ++uses_;
  Comparison& opened = take(std::move(wanted));
  for (Comparison& one : all_) {
    if (one.last_used + kMostHeld > uses_) continue;
    one.loaded = nullptr;
    one.pair = nullptr;
    one.trend = nullptr;
  }
  return opened;
}

}  // namespace snapdiff::mcp
