#include "analyzer/postmortem/series_facts.hpp"

#include <algorithm>

#include "analyzer/base/frame_kind.hpp"

namespace snapdiff::postmortem {
namespace {

constexpr std::size_t kRowsLookedAt = 64;

}  // namespace

bool has_bare_rows(const GrowthReport& report) {
  std::vector<FrameView> frames;
  const std::size_t rows = std::min(report.rows.size(), kRowsLookedAt);
  for (std::size_t row = 0; row < rows; ++row) {
    report.frames(report.rows[row], frames);
    if (frames.size() > 1 || (!frames.empty() && (!frames.front().file.empty() || !frames.front().module.empty())))
      return false;
  }
  return rows > 0;
}

bool is_machinery(const FrameView& frame) { return is_tensor_plumbing(frame.function); }

const FrameView* telling_frame(const std::vector<FrameView>& path) {
  for (std::size_t i = path.size(); i-- > 0;) {
    if (!is_machinery(path[i])) return &path[i];
  }
  return path.empty() ? nullptr : &path.back();
}

std::size_t telling_begin(const std::vector<FrameView>& frames) {
  const auto found = std::find_if(frames.begin(), frames.end(), [](const FrameView& f) { return !is_machinery(f); });
  return found == frames.end() ? 0 : static_cast<std::size_t>(found - frames.begin());
}

const FrameView* python_frame(const std::vector<FrameView>& path) {
  for (std::size_t i = path.size(); i-- > 0;) {
    if (path[i].file.ends_with(".py") && path[i].line > 0) return &path[i];
  }
  return nullptr;
}

std::vector<std::int64_t> values_of(const GrowthReport& report, const std::vector<std::uint32_t>& rows) {
  std::vector<std::int64_t> out;
  for (const std::uint32_t row : rows) {
    if (row >= report.rows.size()) continue;
    out.resize(value_count(report), 0);
    for_each_value(report, row, [&](std::size_t i, std::int64_t value) { out[i] = wrapping_sum(out[i], value); });
  }
  return out;
}

std::vector<std::int64_t> objects_of(const GrowthReport& report, const std::vector<std::uint32_t>& rows) {
  std::vector<std::int64_t> out;
  if (!report.has_objects) return out;
  const bool series = has_series(report) && report.object_place.size() == report.rows.size();
  for (const std::uint32_t row : rows) {
    if (row >= report.rows.size()) continue;
    std::vector<std::int64_t> values = {report.rows[row].objects.baseline, report.rows[row].objects.current};
    if (has_series(report)) {
      if (!series || report.object_place[row] == GrowthReport::kNoPlace) return {};
      values = report.object_series.values(report.object_place[row]);
    }
    out.resize(values.size(), 0);
    for (std::size_t i = 0; i < values.size(); ++i) out[i] = wrapping_sum(out[i], values[i]);
  }
  return out;
}

const Verdict* verdict_of(const Postmortem& report, std::uint32_t row) {
  if (!is_judged(report) || row >= report.trend.verdicts.size()) return nullptr;
  const Verdict& verdict = report.trend.verdicts[row];
  return verdict.word.empty() ? nullptr : &verdict;
}

Rise rise_of(const std::vector<std::int64_t>& values) {
  Rise out;
  if (values.size() < 2) return out;
  out.steps = values.size() - 1;
  for (std::size_t i = 1; i < values.size(); ++i) {
    const std::int64_t step = wrapping_difference(values[i], values[i - 1]);
    if (values[i] > values[i - 1]) ++out.rises;
    if (values[i] > values[i - 1] && step > out.largest_step) {
      out.largest_step = step;
      out.largest = i;
    }
    if (values[i] <= values.front()) out.since = 0;
    if (values[i] > values.front() && out.since == 0) out.since = i;
  }
  return out;
}

}  // namespace snapdiff::postmortem
