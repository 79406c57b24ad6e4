#include <algorithm>
#include <cmath>

#include "analyzer/base/function_name.hpp"
#include "analyzer/base/library_frames.hpp"
#include "analyzer/story/story_parts.hpp"

namespace snapdiff::story {
namespace {

constexpr double kHiddenShare = 0.05;  // of all that moved: below it the smaller of growth and shrinkage is churn
constexpr std::size_t kAlsoLevelled = 2;
constexpr double kUnlisted = 0.05;  // of all growth that is known: a stack of a list that was not on it before

class Words {
 public:
  Words(const GrowthReport& report, const TimeAxis* axis, Story& story) : report_(report), axis_(axis), story_(story) {}

  void fill() {
    for (std::vector<Culprit>* list : {&story_.culprits, &story_.levelled, &story_.freed}) {
      for (Culprit& culprit : *list) fill(culprit);
    }
    story_.headline = headline();
    story_.figures = figures();
    story_.extent = extent();
    story_.hidden = hidden();
    story_.no_culprit = no_culprit();
    story_.also = also();
    const bool any = !story_.culprits.empty() || !story_.freed.empty();
    if (any && story_.snapshots < kJudgedFrom)
      story_.no_verdict = "not enough data for a trend verdict (needs " + std::to_string(kJudgedFrom) + " snapshots)";
  }

 private:
  /// A figure of a fit, as the report's values are printed.
  std::string fitted(double number) const { return value(report_, whole_number(number)); }

  void fill(Culprit& culprit) const {
    culprit.text.label = label_of(culprit);
    culprit.text.growth = growth(report_, culprit.growth());
    culprit.text.share = percent_of(culprit.share);
    if (culprit.is_owner) return;  // object_graphs.cpp names it
    culprit.text.name = Writer().last_of(culprit.path).take();
    culprit.text.place = culprit.path.empty() ? Prose{} : place_of(culprit.path.back());
    if (!culprit.via.empty()) culprit.text.via = {{via_name(culprit.via), true}};
    culprit.text.pace = prose_of(pace(culprit));
  }

  static std::string label_of(const Culprit& culprit) {
    if (culprit.growth() < 0) return "freed";
    if (!culprit.verdict.word.empty()) return culprit.verdict.word;
    return culprit.value.baseline == 0 ? "NEW" : "growth";
  }

  std::string pace(const Culprit& culprit) const {
    const Verdict& verdict = culprit.verdict;
    if (verdict.word == "GROWING" || verdict.word == "RISING") {
      std::string text = growth(report_, whole_number(verdict.slope)) + " a snapshot";
      const double band = verdict.band();
      // A verdict by the number of objects says nothing of the bytes' band.
      if (band >= 0.5 && !verdict.by_objects) text += " \u00b1 " + fitted(band);
      text += ", in " + count(culprit.rises) + " of " + count(culprit.steps) + " steps";
      if (culprit.doubling) text += "; a table that doubles, its content still grows";
      if (culprit.rows_differ) text += "; its stacks one by one do not show it";
      return text;
    }
    if (!verdict.word.empty()) return verdict.reason;
    std::string text;
    if (report_.has_error && std::isfinite(culprit.error) && culprit.error > 0)
      text = "\u00b1 " + fitted(culprit.error) +
             (within_error(static_cast<double>(culprit.growth()), culprit.error) ? " (within error)" : "");
    if (report_.has_objects && report_.objects_metric != report_.metric && culprit.objects.growth() != 0)
      text.append(text.empty() ? "" : ", ").append(amount_of(culprit.objects.growth(), "object", true));
    return text;
  }

  Prose headline() const {
    Writer out;
    const std::string_view title = metric_term(report_.metric).title;
    title.empty() ? out.name(report_.metric) : out << title;
    out << " " << change_text(report_.total.baseline, report_.total.current, report_.unit, kPageNumbers);
    return out.take();
  }

  /// "+7.12 MiB, +17 596 objects".
  std::string figures() const {
    std::string text = growth(report_, report_.total.growth());
    if (report_.has_error && std::isfinite(report_.total_error) && report_.total_error > 0)
      text += " \u00b1 " + fitted(report_.total_error);
    if (report_.has_objects && report_.objects_metric != report_.metric)
      text += ", " + amount_of(report_.total_objects.growth(), "object", true);
    return text;
  }

  /// "13 snapshots, 68 min".
  std::string extent() const {
    std::string text = amount_of(story_.snapshots, "snapshot");
    if (axis_ != nullptr && axis_->step_seconds > 0 && axis_->seconds.size() > 1)
      text += ", " + duration(axis_->seconds.back());
    return text;
  }

  /// "the net hides ..."; empty where it hides nothing.
  std::string hidden() const {
    const auto grew = static_cast<double>(report_.grew);
    const double shrank = -static_cast<double>(report_.shrank);
    if (std::min(grew, shrank) <= kHiddenShare * (grew + shrank)) return {};
    std::string over = growth(report_, report_.grew) + " of growth",
                under = growth(report_, report_.shrank) + " of shrinkage";
    if (report_.total.growth() < 0) std::swap(over, under);
    return "the net hides " + under + " under " + over;
  }

  bool only_unnamed() const {
    std::vector<FrameView> frames;
    return std::none_of(report_.rows.begin(), report_.rows.end(), [&](const GrowthRow& row) {
      report_.frames(row, frames);
      return row.value.growth() > 0 && !frames.empty() && !frames.back().pseudo;
    });
  }

  std::string no_culprit() const {
    if (!story_.culprits.empty()) return {};
    if (report_.grew == 0) return report_.shrank == 0 ? "nothing changed" : "nothing grew";
    const auto changed = [](const GrowthRow& row) { return row.value.growth() != 0; };
    if (report_.filtered != Change{} && std::none_of(report_.rows.begin(), report_.rows.end(), changed))
      return "what changed is filtered out";
    if (story_.only_small) return "no function grew by " + bytes_text(kLeastLeak, kPageNumbers);
    if (story_.moved > 0) return "stacks grew by what others of the same function lost";
    if (report_.options.by == GroupBy::stack && only_unnamed()) return "what grew has no stack";
    return "growth is spread: no function holds 5" + std::string(kPageNumbers.before_unit) + "% of it";
  }

  /// The largest stack at the end that the first input does not list: it may hold more growth than all culprits do.
  Prose unlisted() const {
    const std::size_t end = std::max<std::size_t>(report_.series_length, 2) - 1;
    const ListedOnce* most = nullptr;
    for (const ListedOnce& row : report_.listed_once) {
      if (row.last == end && row.first > 0 && (most == nullptr || row.value.current > most->value.current)) most = &row;
    }
    if (most == nullptr || static_cast<double>(most->value.current) < kUnlisted * static_cast<double>(report_.grew))
      return {};
    std::vector<FrameView> frames;
    report_.view->frames(most->stack, frames);
    fold_library_frames(frames);
    if (!frames.empty()) frames.resize(1);
    Writer line;
    line.last_of(frames) << ": " << value(report_, most->value.current) << " at the end";
    if (most->first < most->last)
      line << ", " << growth(report_, most->value.growth()) << " since snapshot" << kPageNumbers.before_unit
           << most->first + story_.first;
    line << "; not listed before, so not judged";
    return line.take();
  }

  std::vector<Prose> also() const {
    std::vector<Prose> lines;
    if (Prose line = unlisted(); !line.empty()) lines.push_back(std::move(line));
    for (const Culprit& culprit : story_.culprits) {
      if (culprit.inlined > 0)
        lines.push_back(prose_of("V8 inlined ", culprit.text.name, ": the stacks of ", value(report_, culprit.inlined),
                                 " do not show it"));
      if (culprit.rise == 0) continue;
      lines.push_back(prose_of(culprit.text.name, ": ", culprit.text.growth,
                               " is its fitted rise; the last snapshot holds ", value(report_, -culprit.value.growth()),
                               " less than the first"));
    }
    if (!story_.passing.empty()) {
      const Passing& passing = story_.passing.front();
      lines.push_back(prose_of(Writer().last_of(passing.path).take(), ": ", value(report_, passing.peak),
                               " allocated (snapshot", kPageNumbers.before_unit, passing.allocated + story_.first,
                               ") and freed again (", passing.freed + story_.first, ")"));
    }
    std::size_t said = 0;
    for (const Culprit& culprit : story_.levelled) {
      if (said++ == kAlsoLevelled) break;
      lines.push_back(prose_of(culprit.text.name, " ", culprit.text.growth, " ", culprit.verdict.word, ": ",
                               culprit.verdict.reason));
    }
    const double moved = static_cast<double>(story_.moved) / std::max(1.0, static_cast<double>(report_.grew));
    if (moved >= kWorthSaying && !story_.culprits.empty()) {
      lines.push_back(prose_of(value(report_, story_.moved), " moved between stacks of one function"));
    }
    if (!story_.culprits.empty()) {
      const std::size_t n = story_.culprits.size();
      lines.push_back(prose_of(amount_of(n, "culprit"), n == 1 ? " holds " : " hold ", percent_of(story_.covered),
                               story_.judged ? " of the steady growth" : " of the growth"));
    }
    return lines;
  }

  const GrowthReport& report_;
  const TimeAxis* axis_;
  Story& story_;
};

}  // namespace

void put_into_words(const GrowthReport& report, const TimeAxis* axis, Story& story) {
  Words(report, axis, story).fill();
}

}  // namespace snapdiff::story
