#include "analyzer/report/releases.hpp"

#include "analyzer/report/frame_names.hpp"

namespace snapdiff::report {

std::string releases_text(const SeriesReport& series, std::size_t left_out, bool utf8) {
  constexpr std::size_t kShown = 4;
  std::string text;
  std::size_t count = 0;
  for (std::size_t i = 0; i < series.steps.size(); ++i) {
    const SeriesStep& step = series.steps[i];
    if (!step.other_build || ++count > kShown) continue;
    text += (text.empty() ? "another build from snapshot " : ", from ") + std::to_string(left_out + i + 1) + " (" +
            printable(snapshot_name(step.snapshot, true), utf8) + ")";
  }
  if (count > kShown) text += " and " + std::to_string(count - kShown) + " more";
  return text.empty() ? text : text + " on";
}

std::string releases_matched(const SeriesReport& series, std::size_t left_out, bool utf8) {
  const std::string text = releases_text(series, left_out, utf8);
  if (text.empty()) return text;
  const double apart = series.overall.matched[static_cast<std::size_t>(MatchTier::none)];
  return text + "; " + share_text(1 - apart) + " of the bytes at both ends matched";
}

std::vector<HeadLine> headline(const SeriesReport& series, const Style& style) {
  std::vector<HeadLine> lines = headline(series.overall, style);
  if (std::string from = releases_text(series, 0, style.utf8); !from.empty())
    lines.insert(lines.begin() + 1, {"releases", {{std::move(from), Paint::none}}});
  return lines;
}

}  // namespace snapdiff::report
