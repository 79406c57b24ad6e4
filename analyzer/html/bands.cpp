#include "analyzer/html/bands.hpp"

#include <algorithm>

#include "analyzer/html/markup.hpp"
#include "analyzer/report/report.hpp"
#include "snapdiff/frame_text.hpp"
#include "snapdiff/function_name.hpp"

namespace snapdiff::html {
namespace {

constexpr std::size_t kMostBands = 3;
/// Of the largest total: less is not worth a layer.
constexpr std::int64_t kBandPart = 25;
constexpr std::int64_t kPassingPart = 8;

std::string name_of(const FrameView& frame) {
  if (frame.function.empty()) return bounded(address_text(frame), 80);
  return bounded(frame.pseudo ? std::string(frame.function) : without_std(short_function_name(frame.function)), 80);
}

std::string leaf_name(const GrowthReport& report, std::uint32_t row) {
  if (report.options.by != GroupBy::stack) return bounded(report.keys[report.rows[row].key], 80);
  std::vector<FrameView> frames;
  report.frames(report.rows[row], frames);
  return frames.empty() ? "[filtered out]" : name_of(frames.front());
}

std::vector<std::int64_t> sums(const Series& series, const std::vector<std::uint32_t>& rows, std::vector<bool>& used) {
  std::vector<std::int64_t> out(series.length(), 0);
  for (const std::uint32_t row : rows) {
    if (row >= series.rows() || used[row]) continue;
    used[row] = true;
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = wrapping_sum(out[i], series.at(row, i));
  }
  return out;
}

/// How far a row stood above both its ends.
std::int64_t rise_between(const Series& series, std::size_t row) {
  std::int64_t most = 0;
  for (std::size_t i = 0; i < series.length(); ++i) most = std::max(most, series.at(row, i));
  return most - std::max(series.at(row, 0), series.at(row, series.length() - 1));
}

std::string when(const std::string& name, const std::vector<std::int64_t>& v, std::string_view unit,
                 std::size_t first_number) {
  const auto peak = static_cast<std::size_t>(std::max_element(v.begin(), v.end()) - v.begin());
  std::size_t first = peak;
  std::size_t last = peak;
  while (first > 0 && v[first - 1] > v[peak] / 2) --first;
  while (last + 1 < v.size() && v[last + 1] > v[peak] / 2) ++last;
  std::string out = name + ": " + value(v[peak], unit) + ", live at " + std::to_string(first + first_number);
  if (last > first) out += " to " + std::to_string(last + first_number);
  if (last + 1 < v.size() && v[last + 1] == 0) out += ", gone at " + std::to_string(last + 1 + first_number);
  return out;
}

}  // namespace

std::vector<Band> bands(const Postmortem& report, const Series& series) {
  const GrowthReport& growth = report.growth();
  const std::vector<SeriesStep>& steps = report.trend.series.steps;
  if (steps.size() != series.length() || growth.rows.empty()) return {};
  std::int64_t most = 0;
  for (const SeriesStep& step : steps) {
    if (step.total < 0) return {};
    most = std::max(most, step.total);
  }
  for (std::size_t row = 0; row < series.rows(); ++row) {
    for (std::size_t i = 0; i < series.length(); ++i) {
      if (series.at(row, i) < 0) return {};
    }
  }

  std::vector<bool> used(growth.rows.size(), false);
  std::vector<Band> out;
  for (const Suspect& suspect : growth.suspects) {
    if (suspect.rows.empty() || suspect.path.empty() || out.size() == kMostBands) continue;
    out.push_back({suspect.growth >= 0 ? Band::Kind::grown : Band::Kind::shrunk, name_of(suspect.path.back()), "",
                   sums(series, suspect.rows, used)});
  }
  for (std::uint32_t row = 0; out.empty() && row < growth.rows.size() && row < kMostBands; ++row) {
    const std::int64_t change = growth.rows[row].value.growth();
    if (change <= most / kBandPart) break;
    out.push_back({Band::Kind::grown, leaf_name(growth, row), "", sums(series, {row}, used)});
  }
  std::reverse(out.begin(), out.end());

  std::uint32_t passing = 0;
  std::int64_t risen = 0;
  for (std::uint32_t row = 0; row < growth.rows.size(); ++row) {
    const std::int64_t rise = used[row] ? 0 : rise_between(series, row);
    if (rise > risen) {
      risen = rise;
      passing = row;
    }
  }
  if (risen > most / kPassingPart) {
    const std::string name = leaf_name(growth, passing);
    std::vector<std::int64_t> values = sums(series, {passing}, used);
    const std::string note = when(name, values, growth.unit, report.trend.left_out + 1);
    out.push_back({Band::Kind::passing, name, note, std::move(values)});
  }

  Band rest{Band::Kind::rest, out.empty() ? "all stacks" : "all others", "", {}};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    std::int64_t left = steps[i].total;
    for (const Band& band : out) left = wrapping_difference(left, band.values[i]);
    if (left < 0) return {};
    rest.values.push_back(left);
  }
  out.insert(out.begin(), std::move(rest));
  return out;
}

}  // namespace snapdiff::html
