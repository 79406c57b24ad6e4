#include "analyzer/postmortem/series_facts.hpp"

#include <algorithm>

namespace snapdiff::postmortem {
namespace {

constexpr std::size_t kRowsLookedAt = 64;
constexpr double kPassingShare = 0.05;

std::int64_t wrapping_sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

bool has_series(const GrowthReport& report) {
  return report.series_length > 0 && report.series.size() == report.rows.size() * report.series_length;
}

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

bool is_machinery(const FrameView& frame) {
  const std::string_view name = frame.function;
  // Return types come first in names with template arguments.
  const std::string_view start = name.substr(name.starts_with("at::TensorBase ") ? 15 : 0);
  for (const std::string_view prefix : {"c10::", "at::detail::", "at::(anonymous namespace)::create_out", "at::empty",
                                        "at::_ops::empty", "at::native::empty"}) {
    if (start.starts_with(prefix)) return true;
  }
  return false;
}

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

const Suspect* first_rising(const GrowthReport& report) {
  for (const Suspect& suspect : report.suspects) {
    if (suspect.growth > 0) return &suspect;
  }
  return nullptr;
}

std::vector<std::int64_t> values_of(const GrowthReport& report, std::uint32_t row) {
  if (!has_series(report)) return {report.rows[row].value.baseline, report.rows[row].value.current};
  const auto begin = report.series.begin() + static_cast<std::ptrdiff_t>(row * report.series_length);
  return {begin, begin + static_cast<std::ptrdiff_t>(report.series_length)};
}

std::vector<std::int64_t> values_of(const GrowthReport& report, const std::vector<std::uint32_t>& rows) {
  std::vector<std::int64_t> out;
  for (const std::uint32_t row : rows) {
    if (row >= report.rows.size()) continue;
    const std::vector<std::int64_t> values = values_of(report, row);
    out.resize(values.size(), 0);
    for (std::size_t i = 0; i < values.size(); ++i) out[i] = wrapping_sum(out[i], values[i]);
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
      const auto begin = report.object_series.begin() +
                         static_cast<std::ptrdiff_t>(report.object_place[row] * report.series_length);
      values.assign(begin, begin + static_cast<std::ptrdiff_t>(report.series_length));
    }
    out.resize(values.size(), 0);
    for (std::size_t i = 0; i < values.size(); ++i) out[i] = wrapping_sum(out[i], values[i]);
  }
  return out;
}

std::optional<std::uint32_t> heaviest_row(const GrowthReport& report, const Suspect& suspect) {
  std::optional<std::uint32_t> best;
  for (const std::uint32_t row : suspect.rows) {
    if (row >= report.rows.size()) continue;
    if (!best || report.rows[row].value.growth() > report.rows[*best].value.growth()) best = row;
  }
  return best;
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
    const std::int64_t step =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(values[i]) - static_cast<std::uint64_t>(values[i - 1]));
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

std::optional<Passing> passing_row(const Postmortem& report) {
  const GrowthReport& growth = report.growth();
  if (!has_series(growth) || growth.series_length < 3) return std::nullopt;
  double largest = 0;
  for (const SeriesStep& step : report.trend.series.steps)
    largest = std::max(largest, static_cast<double>(step.total));
  double most = kPassingShare * largest;
  std::optional<Passing> best;
  const std::size_t n = growth.series_length;
  for (std::uint32_t row = 0; row < growth.rows.size(); ++row) {
    const std::int64_t* values = growth.series.data() + row * n;
    const auto peak = static_cast<std::size_t>(std::max_element(values, values + n) - values);
    const double height =
        static_cast<double>(values[peak]) - static_cast<double>(std::max(values[0], values[n - 1]));
    if (height <= most) continue;
    most = height;
    Passing found;
    found.row = row;
    found.peak = static_cast<std::int64_t>(height);
    for (std::size_t i = 1; i < n; ++i) {
      const auto step = [&](std::size_t at) {
        return static_cast<double>(values[at]) - static_cast<double>(values[at - 1]);
      };
      if (i <= peak && (found.came == 0 || step(i) > step(found.came))) found.came = i;
      if (i > peak && (found.went == 0 || step(i) < step(found.went))) found.went = i;
    }
    best = found;
  }
  return best;
}

std::vector<std::uint32_t> rows_with(const Postmortem& report, std::string_view word, std::size_t most) {
  const GrowthReport& growth = report.growth();
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < growth.rows.size(); ++row) {
    const Verdict* verdict = verdict_of(report, row);
    if (verdict != nullptr && verdict->word == word && growth.rows[row].value.growth() > 0) rows.push_back(row);
  }
  std::stable_sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
    return growth.rows[a].value.growth() > growth.rows[b].value.growth();
  });
  if (rows.size() > most) rows.resize(most);
  return rows;
}

}  // namespace snapdiff::postmortem
