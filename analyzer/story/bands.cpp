#include <algorithm>
#include <span>
#include <utility>

#include "analyzer/base/concat.hpp"
#include "analyzer/base/row_values.hpp"
#include "analyzer/story/story_parts.hpp"

namespace snapdiff::story {
namespace {

constexpr std::size_t kMostCulpritBands = 3;  // a plot with more layers can't be read

Prose passing_note(const GrowthReport& report, const Story& story, const Passing& passing, const Prose& name) {
  const std::size_t from = passing.allocated + story.first;
  const std::size_t to = passing.freed + story.first - 1;
  return prose_of(name, ": ", value(report, passing.peak), from < to ? ", snapshots " : ", snapshot ", from,
                  from < to ? concat(" to ", to) : std::string());
}

}  // namespace

std::vector<Band> bands_of(const GrowthReport& report, const Story& story) {
  if (report.series_length > 0 && report.series.size() != report.series_length * report.rows.size()) return {};
  std::vector<std::uint8_t> used(report.rows.size(), 0);
  const auto sum_of = [&](std::span<const std::uint32_t> rows) {
    std::vector<std::int64_t> sums(value_count(report), 0);
    for (const std::uint32_t row : rows) {
      if (std::exchange(used[row], 1) != 0) continue;
      for_each_value(report, row, [&](std::size_t i, std::int64_t value) { sums[i] = wrapping_sum(sums[i], value); });
    }
    return sums;
  };
  std::vector<Band> out;
  const auto add = [&](Band::Kind kind, std::size_t number, Prose name, Prose note, const auto& rows) {
    out.push_back({kind, number, std::move(name), std::move(note), sum_of(rows)});
  };
  // A row belongs to the first that takes it; the heaviest culprit lies on top of the others.
  const std::size_t culprits = std::min(story.culprits.size(), kMostCulpritBands);
  for (std::size_t i = 0; i < culprits; ++i)
    add(Band::Kind::culprit, i, story.culprits[i].text.name, {}, story.culprits[i].rows);
  if (!story.freed.empty()) add(Band::Kind::freed, 0, story.freed[0].text.name, {}, story.freed[0].rows);
  std::reverse(out.begin(), out.end());
  if (!story.passing.empty()) {
    const Passing& found = story.passing.front();
    const Prose name = Writer().last_of(found.path).take();
    add(Band::Kind::passing, 0, name, passing_note(report, story, found, name), found.rows);
  }
  std::erase_if(out, [](const Band& band) {
    return std::all_of(band.values.begin(), band.values.end(), [](std::int64_t v) { return v == 0; });
  });
  const bool lies = std::ranges::any_of(out, [](const Band& band) {
    return std::ranges::any_of(band.values, [](std::int64_t value) { return value < 0; });
  });
  return lies ? std::vector<Band>() : out;
}

}  // namespace snapdiff::story
