#include "analyzer/report/headline.hpp"

#include <algorithm>
#include <cmath>

#include "analyzer/base/first_notes.hpp"
#include "analyzer/base/function_name.hpp"
#include "analyzer/base/number_text.hpp"
#include "analyzer/base/words.hpp"
#include "analyzer/document/answer_parts.hpp"
#include "analyzer/document/match_words.hpp"
#include "analyzer/document/terms.hpp"
#include "analyzer/report/frame_names.hpp"

namespace snapdiff::report {

namespace {

constexpr std::size_t kLabelWidth = 8;

std::string value(const GrowthReport& report, std::int64_t number, bool sign) {
  return value_text(number, report.unit, sign);
}

HeadLine total_line(const GrowthReport& report, const Style& style, const Glyphs& glyphs) {
  const Change& total = report.total;
  const std::string before_after =
      value(report, total.baseline, false) + spaced(glyphs.arrow) + value(report, total.current, false);
  const Paint paint = total.growth() > 0 ? Paint::growth : total.growth() < 0 ? Paint::shrinkage : Paint::none;
  HeadLine line{metric_label(report.metric), {{before_after + "  (", Paint::none}}};
  if (report.story == nullptr) {
    line.pieces.emplace_back(value(report, total.growth(), true), paint);
    line.pieces.emplace_back(")", Paint::none);
    return line;
  }
  const Story& story = *report.story;
  line.pieces.emplace_back(plain_text(Span{story.figures, false}, style.utf8), paint);
  line.pieces.emplace_back(")", Paint::none);
  if (story.snapshots > 2)
    line.pieces.emplace_back(" over " + plain_text(Span{story.extent, false}, style.utf8), Paint::none);
  return line;
}

std::string sampling_words(const GrowthReport& report, bool brief) {
  if (report.exact) return brief ? "exact" : "exact, not sampled";
  const std::string periods = sampling_periods(report);
  if (periods.empty()) return "sampling not known";
  return brief ? "sampled every " + periods : "sampled every " + periods + ", values scaled";
}

HeadLine matched_line(const GrowthReport& report, const Style& style) {
  std::vector<std::size_t> tiers;
  for (std::size_t tier = 0; tier < kMatchTiers; ++tier) {
    if (report.matched[tier] > 0) tiers.push_back(tier);
  }
  std::ranges::stable_sort(tiers, [&](std::size_t a, std::size_t b) {
    // The unmatched part comes last, whatever its size.
    const bool a_none = a + 1 == kMatchTiers;
    const bool b_none = b + 1 == kMatchTiers;
    return a_none != b_none ? b_none : report.matched[a] > report.matched[b];
  });
  std::string text;
  for (const std::size_t tier : tiers) {
    const std::string of = !text.empty()            ? " "
                           : report.unit == "bytes" ? " of bytes "
                           : report.unit == "count" ? " of objects "
                                                    : " of the value ";
    text += (text.empty() ? "" : ", ") + share_text(report.matched[tier]) + of +
            std::string(document::match_words(report, static_cast<MatchTier>(tier)));
  }
  if (text.empty()) text = "nothing to match";
  if (tiers.size() == 1 && tiers.front() + 1 == kMatchTiers) text = "nothing: all is new or gone";
  const std::string full = text + "; " + sampling_words(report, false);
  const bool fits = kLabelWidth + 2 + full.size() <= style.width;
  return {"matched", {{fits ? full : text + "; " + sampling_words(report, true), Paint::none}}};
}

HeadLine unnamed_line(const GrowthReport& report, bool utf8) {
  return {"names", {{unnamed_text(report.unnamed, report.unit, utf8), Paint::none}}};
}

/// Where blanks of `text` become line ends so that no line is wider than `width`: after a comma,
/// semicolon or colon where one is in reach, else anywhere.
std::vector<std::size_t> break_points(const std::string& text, std::size_t width) {
  std::vector<std::size_t> points;
  std::size_t line = 0;
  while (display_width(std::string_view(text).substr(line)) > width) {
    std::size_t any = std::string::npos;
    std::size_t clause = std::string::npos;
    for (std::size_t i = text.find(' ', line); i != std::string::npos; i = text.find(' ', i + 1)) {
      if (display_width(std::string_view(text).substr(line, i - line)) > width) break;
      if (i == line) continue;
      any = i;
      if (text[i - 1] == ',' || text[i - 1] == ';' || text[i - 1] == ':') clause = i;
    }
    const std::size_t point = clause != std::string::npos ? clause : any;
    if (point == std::string::npos) break;
    points.push_back(point);
    line = point + 1;
  }
  return points;
}

}  // namespace

std::string HeadLine::plain() const {
  std::string text;
  for (const auto& [piece, paint] : pieces) text += piece;
  return text;
}

std::vector<HeadLine> headline(const GrowthReport& report, const Style& style) {
  const Glyphs glyphs = glyphs_for(style.utf8);
  std::vector<HeadLine> lines;
  if (report.story != nullptr) lines = event_lines(*report.story, style);
  for (const Note& note : report.notes.all()) {
    const bool an_event = report.story != nullptr && is_unrelated(note.text);
    if (comes_first(note.text) && !an_event)
      lines.push_back({"warning", {{printable(note.text, style.utf8), Paint::alarm}}});
  }
  lines.push_back(total_line(report, style, glyphs));
  if (report.story != nullptr) {
    const Story& story = *report.story;
    if (!story.hidden.empty())
      lines.push_back({"hidden", {{plain_text(Span{story.hidden, false}, style.utf8), Paint::none}}});
    for (HeadLine& line : story_lines(story, style)) lines.push_back(std::move(line));
  }
  lines.push_back(matched_line(report, style));
  if (report.unnamed.unnamed > 0) lines.push_back(unnamed_line(report, style.utf8));
  return lines;
}

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
  if (text.empty()) return {};
  const double apart = series.overall.matched[static_cast<std::size_t>(MatchTier::none)];
  return text + "; " + share_text(1 - apart) + " of the bytes at both ends matched";
}

std::vector<HeadLine> headline(const SeriesReport& series, const Style& style) {
  std::vector<HeadLine> lines = headline(series.overall, style);
  if (std::string from = releases_text(series, 0, style.utf8); !from.empty())
    lines.insert(lines.begin() + 1, {"releases", {{std::move(from), Paint::none}}});
  return lines;
}

std::string headline_text(const std::vector<HeadLine>& lines, const Style& style) {
  std::size_t label_width = kLabelWidth;
  for (const HeadLine& line : lines) label_width = std::max(label_width, display_width(line.label));
  const std::size_t indent = label_width + 2;
  const std::size_t width = std::max<std::size_t>(style.width, indent + 30);
  std::string out;
  for (const HeadLine& line : lines) {
    const std::string plain = line.plain();
    std::vector<std::size_t> breaks;
    if (line.wraps) breaks = break_points(plain, width - indent);
    out += painted(line.label, line.label_paint, style.colour);
    out.append(indent - display_width(line.label), ' ');
    // Each piece is written up to the next break, where the blank gives way to a new line.
    std::size_t at = 0;
    auto next = breaks.begin();
    for (const auto& [piece, paint] : line.pieces) {
      const std::size_t end = at + piece.size();
      while (at < end) {
        const std::size_t stop = next == breaks.end() ? end : std::min(end, *next);
        out += painted(std::string_view(plain).substr(at, stop - at), paint, style.colour);
        at = stop;
        if (next != breaks.end() && at == *next && at < end) {
          out += '\n';
          out.append(indent, ' ');
          ++at;
          ++next;
        }
      }
    }
    out += '\n';
  }
  return out;
}

std::vector<std::string> note_lines(const Notes& notes, bool utf8) {
  std::vector<std::string> lines;
  for (const Note* const note : document::by_gravity(notes)) {
    std::string line(note->severity == Severity::info ? "note" : to_text(note->severity));
    line += ": " + printable(note->text, utf8);
    if (note->count > 1) line += " (" + count_text(std::min<std::uint64_t>(note->count, INT64_MAX)) + " times)";
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<std::string> note_lines(const GrowthReport& report, bool utf8) {
  std::vector<std::string> lines = note_lines(report.notes, utf8);
  if (!report.renamed.empty()) lines.push_back("note: " + renamed_note(report.renamed, utf8));
  return lines;
}

std::string renamed_note(const std::vector<RenamedFunction>& renamed, bool utf8) {
  constexpr std::size_t kShown = 5;
  std::string text = "renamed: ";
  for (std::size_t i = 0; i < std::min(kShown, renamed.size()); ++i) {
    const RenamedFunction& one = renamed[i];
    std::string before = short_function_name(one.before), after = short_function_name(one.after);
    if (before == after) {  // other arguments
      before = one.before;
      after = one.after;
    }
    text += (i > 0 ? "; " : "") + printable(before, utf8) + (utf8 ? " → " : " -> ") + printable(after, utf8) + ", " +
            counted(one.stacks, "stack");
  }
  if (renamed.size() > kShown) text += "; " + std::to_string(renamed.size() - kShown) + " others";
  return text;
}

std::string wrapped(const std::string& text, std::size_t width, std::size_t indent) {
  std::string out;
  std::size_t used = 0;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = text.find(' ', text.find_first_not_of(' ', at));
    if (end == std::string::npos) end = text.size();
    std::string word = text.substr(at, end - at);
    at = end;
    if (used > 0 && used + display_width(word) > width) {
      out += "\n" + std::string(indent, ' ');
      used = indent;
      word.erase(0, std::min(word.size(), word.find_first_not_of(' ')));
    }
    used += display_width(word);
    out += word;
  }
  return out;
}

std::string unnamed_text(const Unnamed& unnamed, const std::string& unit, bool utf8) {
  constexpr std::size_t kModules = 3;
  const auto number = [](std::uint64_t n) { return count_text(std::min<std::uint64_t>(n, INT64_MAX)); };
  std::string text = unnamed.unnamed == unnamed.addresses ? std::string() : number(unnamed.unnamed) + " of ";
  text += number(unnamed.addresses) + " addresses without names: ";
  for (std::size_t i = 0; i < std::min(kModules, unnamed.modules.size()); ++i) {
    const UnnamedModule& module = unnamed.modules[i];
    const std::string name = module.module.empty() ? "[no module]" : printable(base_name(module.module), utf8);
    text += (i > 0 ? ", " : "") + name + " " + number(module.addresses) + " (" + value_text(module.value, unit) + ")";
  }
  if (unnamed.modules.size() > kModules) text += ", " + counted(unnamed.modules.size() - kModules, "more module");
  // Without a module nothing says which binary has the names.
  const bool can_be_named = std::any_of(unnamed.modules.begin(), unnamed.modules.end(),
                                        [](const UnnamedModule& module) { return !module.module.empty(); });
  return can_be_named ? text + "; add --symbols DIR" : text;
}

std::string operand_name(const SnapshotRef& ref, bool utf8) {
  return printable(ref.ref.empty() ? snapshot_name(ref, utf8) : std::string(base_name(ref.ref)), utf8);
}

std::string metric_label(const std::string& metric) {
  const std::string_view label = document::metric_term(metric).label;
  return label.empty() ? printable(metric) : std::string(label);
}

std::string share_text(double share) {
  if (std::isnan(share)) return "n/a";
  if (share <= 0) return "0 %";
  const auto percent = std::llround(100 * std::min(share, 1e6));
  if (share < 0.01) return "<1 %";
  if (percent == 100 && share < 1 - 1e-12) return ">99 %";
  return std::to_string(percent) + " %";
}

std::string snapshot_name(const SnapshotRef& ref, bool utf8) {
  if (ref.snapshot != nullptr && !ref.snapshot->facts.source.name.empty()) {
    return printable(base_name(ref.snapshot->facts.source.name), utf8);
  }
  return printable(ref.ref, utf8);
}

}  // namespace snapdiff::report
