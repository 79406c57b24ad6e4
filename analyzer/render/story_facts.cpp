#include "analyzer/render/story_facts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace snapdiff::render {
namespace {

/// A change smaller than this share of the largest total is not worth a band of its own.
constexpr double kBandShare = 0.04;
constexpr double kPassingShare = 0.15;
constexpr std::size_t kGrowthBands = 3;
/// Rows come by size of change: a band is not found further down.
constexpr std::uint32_t kBandRows = 64;
/// Below this share of growth, shrinkage is not worth a sentence.
constexpr double kHidesShare = 0.1;

std::string number_word(std::size_t n) {
  constexpr std::array<std::string_view, 5> kWords = {"No", "One", "Two", "Three", "Four"};
  return n < kWords.size() ? std::string(kWords[n]) : std::to_string(n);
}

/// "1.02" and "6.72 MiB" where both have one unit.
/// Names in a sentence: longer ones would bury it.
constexpr std::size_t kSentenceName = 48;

std::string name_of_suspect(const GrowthReport& report, const Suspect& suspect, bool with_share) {
  std::string text = suspect.path.empty() ? std::string("a path without frames")
                                          : shortened(frame_name(suspect.path.back()), kSentenceName);
  if (suspect.path.size() > 1) {
    const std::string caller = frame_name(suspect.path[suspect.path.size() - 2]);
    if (caller != report.common_path) text.append(", called by ").append(shortened(caller, kSentenceName));
  }
  if (with_share) text.append(" (").append(share_text(suspect.share)).append(")");
  return text;
}

/// "Two call paths below main hold 88 % of the growth: ...; background released 4.00 MiB."
std::string paths_sentence(const GrowthReport& report) {
  double share = 0;
  std::vector<const Suspect*> rising;
  std::vector<const Suspect*> falling;
  for (const Suspect& suspect : report.suspects) {
    (suspect.growth > 0 ? rising : falling).push_back(&suspect);
    if (suspect.growth > 0) share += suspect.share;
  }
  std::string text;
  const std::size_t n = rising.size();
  if (n > 0) {
    text = number_word(n).append(n == 1 ? " call path" : " call paths");
    if (!report.common_path.empty()) text.append(" below ").append(printable(report.common_path));
    text.append(n == 1 ? " holds " : " hold ").append(share_text(std::min(share, 1.0))).append(" of the growth: ");
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (i > 0) text += i + 1 == n ? (n == 2 ? ", and " : " and ") : ", ";
    text += name_of_suspect(report, *rising[i], n > 1);
  }
  if (n > 0) text += ".";
  const Quantity q = quantity_of(report.unit);
  for (const Suspect* suspect : falling) {
    if (!text.empty()) text += ' ';
    text.append(name_of_suspect(report, *suspect, false)).append(", shrank by ").append(q.size(suspect->growth));
    text.append(", ").append(share_text(suspect->share)).append(" of the shrinkage.");
  }
  return text;
}

std::string heaviest_sentence(const GrowthReport& report) {
  const Quantity q = quantity_of(report.unit);
  const GrowthRow* heaviest = nullptr;
  for (const GrowthRow& row : report.rows) {
    if (heaviest == nullptr || row.grew - row.shrank > heaviest->grew - heaviest->shrank) heaviest = &row;
  }
  if (heaviest == nullptr || heaviest->value.growth() == 0) return "";
  std::string leaf;
  std::string site;
  const std::vector<std::string> path = callers(report, *heaviest, leaf, site);
  std::string text = std::string("The largest change is ")
                         .append(q.growth(heaviest->value.growth()))
                         .append(", allocated in ")
                         .append(shortened(leaf, kSentenceName));
  if (!path.empty()) text.append(", called by ").append(shortened(path.front(), kSentenceName));
  return text.append(".");
}

/// "The net hides 509 KiB of growth under 4.00 MiB of shrinkage."
std::string hidden_sentence(const GrowthReport& report) {
  const auto grew = static_cast<double>(report.grew);
  const double shrank = -static_cast<double>(report.shrank);
  if (std::min(grew, shrank) < kHidesShare * std::max(grew, shrank) || grew == 0) return "";
  const Quantity q = quantity_of(report.unit);
  return std::string("The net hides ")
      .append(q.growth(report.grew))
      .append(" of growth under ")
      .append(q.growth(report.shrank))
      .append(" of shrinkage.");
}

void add_sentence(std::string& text, const std::string& sentence) {
  if (sentence.empty()) return;
  if (!text.empty()) text += ' ';
  text += sentence;
}

std::uint64_t wrapping(std::int64_t v) { return static_cast<std::uint64_t>(v); }

}  // namespace

std::string headline(const GrowthReport& report) {
  return metric_title(report.metric)
      .append(" ")
      .append(quantity_of(report.unit).change(report.total.baseline, report.total.current));
}

std::string summary_sentence(const Story& story) {
  const GrowthReport& report = story.overall;
  std::string text;
  if (report.grew == 0 && report.shrank == 0) {
    text = std::string("No stack changed between the first and the last snapshot.");
  } else if (!report.suspects.empty()) {
    text = paths_sentence(report);
  } else {
    text = heaviest_sentence(report);
    if (report.grew > 0) add_sentence(text, "No call path below the entry points holds 20\u2009% of the growth.");
  }
  if (!report.suspects.empty()) {
    const Story::Verdict* verdict = suspect_verdict(story, report.suspects.front());
    if (verdict != nullptr && !verdict->reason.empty() && !report.suspects.front().path.empty())
      add_sentence(text, shortened(frame_name(report.suspects.front().path.back()), kSentenceName)
                             .append(": ")
                             .append(printable(verdict->reason))
                             .append("."));
  }
  add_sentence(text, hidden_sentence(report));
  if (story.verdicts.empty() && report.grew != 0) {
    add_sentence(text, story.steps.size() <= 2
                           ? std::string("Two snapshots show a difference, not a trend.")
                           : std::to_string(story.steps.size()).append(" snapshots are too few to call it a trend."));
  }
  return text;
}

std::string pair_sentence(const GrowthReport& report) {
  if (report.grew == 0 && report.shrank == 0) return "No stack changed in this step.";
  std::string text = heaviest_sentence(report);
  const std::string hidden = hidden_sentence(report);
  if (!hidden.empty()) {
    add_sentence(text, hidden);
  } else if (report.shrank == 0) {
    add_sentence(text, "Nothing shrank.");
  } else if (report.grew == 0) {
    add_sentence(text, "Nothing grew.");
  }
  return text;
}

const Story::Verdict* suspect_verdict(const Story& story, const Suspect& suspect) {
  const Story::Verdict* best = nullptr;
  std::int64_t most = 0;
  for (const std::uint32_t row : suspect.rows) {
    if (row >= story.verdicts.size() || row >= story.overall.rows.size()) continue;
    const std::int64_t growth = story.overall.rows[row].value.growth();
    if (best != nullptr && growth <= most) continue;
    best = &story.verdicts[row];
    most = growth;
  }
  return best;
}

std::string headline_verdict(const Story& story) {
  if (story.verdicts.empty() || story.overall.suspects.empty()) return "";
  const Story::Verdict* verdict = suspect_verdict(story, story.overall.suspects.front());
  return verdict == nullptr ? "" : verdict->word;
}

std::string snapshot_name(const SnapshotRef& ref) {
  if (ref.snapshot != nullptr && !ref.snapshot->facts.source.name.empty())
    return printable(base_name(ref.snapshot->facts.source.name));
  return printable(base_name(ref.ref));
}

std::string short_hash(const SnapshotRef& ref) {
  return ref.snapshot == nullptr ? "" : printable(std::string_view(ref.snapshot->facts.source.sha256).substr(0, 8));
}

double matched_share(const GrowthReport& report) {
  double sum = 0;
  for (std::size_t tier = 0; tier + 1 < kMatchTiers; ++tier) sum += report.matched[tier];
  return std::clamp(sum, 0.0, 1.0);
}

std::string_view matching_text(const GrowthReport& report) {
  std::size_t best = kMatchTiers - 1;
  for (std::size_t tier = 0; tier + 1 < kMatchTiers; ++tier) {
    if (report.matched[tier] > (best == kMatchTiers - 1 ? 0.0 : report.matched[best])) best = tier;
  }
  return matched_by(static_cast<MatchTier>(best));
}

std::string footer_text(const GrowthReport& report) {
  const auto side = [](const SnapshotRef& ref) {
    std::string name = snapshot_name(ref);
    const std::string hash = short_hash(ref);
    return hash.empty() ? name : name.append(" ").append(hash);
  };
  constexpr std::string_view kDot = "  \u00b7  ";
  std::string text = side(report.baseline).append("  \u2192  ").append(side(report.current)).append(kDot);
  text.append(printable(report.metric)).append(kDot).append("matched by ").append(matching_text(report));
  return text.append(kDot).append("rule set ").append(printable(report.rule_set));
}

std::vector<std::string> suspect_path(const GrowthReport& report, const Suspect& suspect) {
  constexpr std::size_t kFrames = 4;
  std::vector<std::string> names;
  for (const FrameView& frame : suspect.path) {
    std::string name = frame_name(frame);
    if (names.empty() || names.back() != name) names.push_back(std::move(name));
  }
  const auto common = std::find(names.begin(), names.end(), printable(report.common_path));
  if (!report.common_path.empty() && common != names.end() && common + 1 != names.end())
    names.erase(names.begin(), common + 1);
  if (names.size() > kFrames) names.erase(names.begin(), names.end() - kFrames);
  return names;
}

std::vector<std::string> callers(const GrowthReport& report, const GrowthRow& row, std::string& leaf,
                                 std::string& site) {
  std::vector<FrameView> frames;
  report.frames(row, frames);
  leaf = frames.empty() ? std::string("[every frame hidden]") : frame_name(frames.front());
  site.clear();
  if (!frames.empty() && !frames.front().file.empty()) {
    site = printable(base_name(frames.front().file));
    if (frames.front().line > 0) site.append(":").append(std::to_string(frames.front().line));
  }
  const std::string common = report.common_path.empty() ? std::string("\n") : printable(report.common_path);
  constexpr std::size_t kCallers = 24;  // far more than a line has room for
  std::vector<std::string> names;
  std::string last = leaf;
  for (std::size_t i = 1; i < frames.size() && names.size() < kCallers; ++i) {
    std::string name = frame_name(frames[i]);
    if (name == last) {
      std::string& folded = names.empty() ? leaf : names.back();
      if (!folded.ends_with("\u21bb")) folded.append(" \u21bb");
      continue;
    }
    last = name;
    // Further up all rows are alike, and the headline says so.
    const bool shared = name == common;
    if (!shared || names.empty()) names.push_back(std::move(name));
    if (shared) break;
  }
  return names;
}

std::int64_t value_at(const GrowthReport& report, std::size_t row, std::size_t i) {
  if (report.series_length > 0 && report.series.size() == report.rows.size() * report.series_length)
    return report.series[row * report.series_length + i];
  return i == 0 ? report.rows[row].value.baseline : report.rows[row].value.current;
}

std::vector<std::int64_t> row_series(const GrowthReport& report, std::size_t row) {
  if (report.series_length == 0 || report.series.size() != report.rows.size() * report.series_length) return {};
  const auto begin = report.series.begin() + static_cast<std::ptrdiff_t>(row * report.series_length);
  return {begin, begin + static_cast<std::ptrdiff_t>(report.series_length)};
}

namespace {

double largest_total(const Story& story) {
  double most = 0;
  for (const SeriesStep& step : story.steps) most = std::max(most, static_cast<double>(step.total));
  return most;
}

bool has_series(const Story& story) {
  const GrowthReport& report = story.overall;
  if (story.steps.size() == 2) return true;
  return report.series_length == story.steps.size() &&
         report.series.size() == report.rows.size() * report.series_length;
}

/// Adds rows up into bands, each row into one at most.
class BandMaker {
 public:
  explicit BandMaker(const Story& story) : story_(story), used_(story.overall.rows.size(), 0) {
    other_.name = "other stacks";
    for (const SeriesStep& step : story.steps) other_.values.push_back(static_cast<double>(step.total));
  }
  Band band(std::string name, Band::Kind kind, const std::vector<std::uint32_t>& rows) {
    Band out{std::move(name), kind, std::vector<double>(story_.steps.size(), 0)};
    for (const std::uint32_t row : rows) {
      if (row >= used_.size() || used_[row] != 0) continue;
      used_[row] = 1;
      for (std::size_t i = 0; i < out.values.size(); ++i) {
        const auto value = static_cast<double>(value_at(story_.overall, row, i));
        out.values[i] += value;
        other_.values[i] -= value;
      }
    }
    return out;
  }
  bool used(std::size_t row) const { return used_[row] != 0; }
  const Band& other() const { return other_; }

 private:
  const Story& story_;
  std::vector<std::uint8_t> used_;
  Band other_;
};

std::string leaf_name(const GrowthReport& report, std::size_t row) {
  std::string leaf;
  std::string site;
  callers(report, report.rows[row], leaf, site);
  return leaf;
}

}  // namespace

std::ptrdiff_t passing_row(const Story& story) {
  if (!has_series(story) || story.steps.size() < 3) return -1;
  const GrowthReport& report = story.overall;
  double most = kPassingShare * largest_total(story);
  std::ptrdiff_t best = -1;
  for (std::size_t row = 0; row < report.rows.size(); ++row) {
    const double ends = static_cast<double>(std::max(report.rows[row].value.baseline, report.rows[row].value.current));
    double peak = ends;
    for (std::size_t i = 0; i < report.series_length; ++i)
      peak = std::max(peak, static_cast<double>(value_at(report, row, i)));
    if (peak - ends <= most) continue;
    most = peak - ends;
    best = static_cast<std::ptrdiff_t>(row);
  }
  return best;
}

std::vector<Band> plot_bands(const Story& story) {
  if (!has_series(story)) return {};
  const GrowthReport& report = story.overall;
  const double least = kBandShare * largest_total(story);
  BandMaker maker(story);
  std::vector<Band> growing;
  for (const Suspect& suspect : report.suspects) {
    if (!suspect.path.empty() && !suspect.rows.empty() && suspect.growth > 0)
      growing.push_back(maker.band(frame_name(suspect.path.back()), Band::Kind::suspect, suspect.rows));
  }
  std::vector<Band> passing;
  const std::ptrdiff_t passed = passing_row(story);
  if (passed >= 0 && !maker.used(static_cast<std::size_t>(passed)))
    passing.push_back(maker.band(leaf_name(report, static_cast<std::size_t>(passed)), Band::Kind::passing,
                                 {static_cast<std::uint32_t>(passed)}));
  std::vector<Band> shrunk;
  // What lies below a growing path as well has been counted there.
  for (const Suspect& suspect : report.suspects) {
    if (!suspect.path.empty() && !suspect.rows.empty() && suspect.growth < 0 && shrunk.empty())
      shrunk.push_back(maker.band(frame_name(suspect.path.back()), Band::Kind::shrunk, suspect.rows));
  }
  for (std::uint32_t row = 0; row < report.rows.size() && row < kBandRows; ++row) {
    const auto growth = static_cast<double>(report.rows[row].value.growth());
    if (maker.used(row) || std::fabs(growth) < least || growth == 0) continue;
    if (growth > 0 && growing.size() < kGrowthBands)
      growing.push_back(maker.band(leaf_name(report, row), Band::Kind::grown, {row}));
    if (growth < 0 && shrunk.empty()) shrunk.push_back(maker.band(leaf_name(report, row), Band::Kind::shrunk, {row}));
  }
  std::vector<Band> out;
  if (growing.empty() && passing.empty() && shrunk.empty()) return out;
  out.push_back(maker.other());
  out.insert(out.end(), std::make_move_iterator(shrunk.begin()), std::make_move_iterator(shrunk.end()));
  std::stable_sort(growing.begin(), growing.end(),
                   [](const Band& a, const Band& b) { return a.values.back() < b.values.back(); });
  out.insert(out.end(), std::make_move_iterator(growing.begin()), std::make_move_iterator(growing.end()));
  out.insert(out.end(), std::make_move_iterator(passing.begin()), std::make_move_iterator(passing.end()));
  for (const Band& band : out) {
    for (const double value : band.values) {
      if (value < 0) return {};
    }
  }
  return out;
}

Others others(const GrowthReport& report, const std::vector<std::size_t>& shown) {
  // Wrapping arithmetic: the result is what the other rows sum up to, in whatever order.
  std::array<std::uint64_t, 4> left = {
      wrapping(report.total.baseline) - wrapping(report.unattributed.baseline) - wrapping(report.filtered.baseline),
      wrapping(report.total.current) - wrapping(report.unattributed.current) - wrapping(report.filtered.current),
      wrapping(report.total_objects.baseline) - wrapping(report.unattributed_objects.baseline) -
          wrapping(report.filtered_objects.baseline),
      wrapping(report.total_objects.current) - wrapping(report.unattributed_objects.current) -
          wrapping(report.filtered_objects.current)};
  std::vector<std::uint8_t> is_shown(report.rows.size(), 0);
  Others out;
  out.rows = report.rows.size() - shown.size();
  for (const std::size_t row : shown) {
    is_shown[row] = 1;
    left[0] -= wrapping(report.rows[row].value.baseline);
    left[1] -= wrapping(report.rows[row].value.current);
    left[2] -= wrapping(report.rows[row].objects.baseline);
    left[3] -= wrapping(report.rows[row].objects.current);
  }
  for (std::size_t row = 0; row < report.rows.size() && out.unchanged; ++row)
    out.unchanged = is_shown[row] != 0 || (report.rows[row].grew == 0 && report.rows[row].shrank == 0);
  out.value = {static_cast<std::int64_t>(left[0]), static_cast<std::int64_t>(left[1])};
  out.objects = {static_cast<std::int64_t>(left[2]), static_cast<std::int64_t>(left[3])};
  return out;
}

}  // namespace snapdiff::render
