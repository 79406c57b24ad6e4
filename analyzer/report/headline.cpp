#include "analyzer/report/headline.hpp"

#include <algorithm>
#include <cmath>

#include "analyzer/report/names.hpp"
#include "analyzer/report/selection.hpp"
#include "analyzer/report/verdict_line.hpp"
#include "snapdiff/first_notes.hpp"
#include "snapdiff/function_name.hpp"
#include "snapdiff/number_text.hpp"

namespace snapdiff::report {

namespace {

constexpr std::size_t kLabelWidth = 8;

/// A net "hides" when growth and shrinkage both are more than a twentieth of all that moved: below
/// that the smaller one is churn at the edge of the table.
constexpr double kHiddenShare = 0.05;

std::string value(const GrowthReport& report, std::int64_t number, bool sign) {
  return snapdiff::value_text(number, report.unit, sign);
}

std::string error_text(const GrowthReport& report, double error) {
  if (std::isnan(error)) return "n/a";
  return snapdiff::value_text(std::llround(std::min(error, 9e18)), report.unit);
}

/// " (+562 % of baseline)", " (×12.3 of baseline)" beyond 999 %, "" when the baseline is 0.
std::string baseline_share(const Change& total, const Glyphs& glyphs) {
  if (total.baseline <= 0 || total.growth() == 0) return {};
  const double share = static_cast<double>(total.growth()) / static_cast<double>(total.baseline);
  if (share > 9.995) {
    const double ratio = static_cast<double>(total.current) / static_cast<double>(total.baseline);
    const std::string text = ratio < 99.95 ? std::to_string(std::llround(ratio * 10) / 10) + "." +
                                                 std::to_string(std::llround(ratio * 10) % 10)
                                           : snapdiff::count_text(std::llround(std::min(ratio, 9e18)));
    return " (" + std::string(glyphs.times) + text + " of baseline)";
  }
  const std::string percent = snapdiff::percent_text(total.growth(), total.baseline);
  const bool plus = total.growth() > 0 && percent[0] != '<';
  return std::string(" (") + (plus ? "+" : "") + percent + " of baseline)";
}

HeadLine total_line(const GrowthReport& report, const Style& style, const Glyphs& glyphs) {
  const Change& total = report.total;
  const std::string before_after =
      value(report, total.baseline, false) + spaced(glyphs.arrow) + value(report, total.current, false);
  const Paint paint = total.growth() > 0 ? Paint::growth : total.growth() < 0 ? Paint::shrinkage : Paint::none;
  HeadLine line{metric_label(report.metric), {{before_after + "   ", Paint::none}}};
  line.pieces.emplace_back(value(report, total.growth(), true), paint);
  if (report.has_error) {
    line.pieces.emplace_back(spaced(glyphs.plus_minus) + error_text(report, report.total_error), Paint::none);
    if (style.width < kWide) return line;
  }
  std::string rest = baseline_share(total, glyphs);
  if (report.has_objects) {
    const std::int64_t objects = report.total_objects.growth();
    rest += ", " + snapdiff::growth_count_text(objects) + (objects == 1 || objects == -1 ? " object" : " objects");
  }
  line.pieces.emplace_back(rest, Paint::none);
  return line;
}

bool hides(const GrowthReport& report) {
  const auto grew = static_cast<double>(report.grew);
  const auto shrank = -static_cast<double>(report.shrank);
  return std::min(grew, shrank) > kHiddenShare * (grew + shrank);
}

HeadLine hidden_line(const GrowthReport& report) {
  const std::string grew = value(report, report.grew, true);
  const std::string shrank = value(report, report.shrank, true);
  const std::string text = report.total.growth() < 0
                               ? "the net hides " + grew + " of growth under " + shrank + " of shrinkage"
                               : "the net hides " + shrank + " of shrinkage under " + grew + " of growth";
  return {"hidden", {{text, Paint::none}}};
}

/// "+2.69 MiB" -> {"+2.69", "MiB"}.
std::pair<std::string, std::string> split_unit(const std::string& text) {
  const std::size_t blank = text.rfind(' ');
  if (blank == std::string::npos || (text[blank + 1] >= '0' && text[blank + 1] <= '9')) return {text, ""};
  return {text.substr(0, blank), text.substr(blank + 1)};
}

std::string what_blurs(const GrowthReport& report) {
  return report.rounded ? "what the inputs are rounded to" : "its sampling error";
}

/// Row that lost most, when it outweighs every suspect; else null.
const GrowthRow* heaviest_release(const GrowthReport& report) {
  if (report.options.by != GroupBy::stack) return nullptr;
  const GrowthRow* found = nullptr;
  std::int64_t most_grown = 0;
  for (const GrowthRow& row : report.rows) {
    if (row.value.growth() < (found == nullptr ? 0 : found->value.growth())) found = &row;
    most_grown = std::max(most_grown, row.value.growth());
  }
  // -(growth + 1): the smallest growth has no negation.
  if (found == nullptr || -(found->value.growth() + 1) < most_grown) return nullptr;
  for (const Suspect& suspect : report.suspects) {
    if (suspect.growth > -(found->value.growth() + 1)) return nullptr;
  }
  return found;
}

bool all_others_within_error(const GrowthReport& report) {
  if (!report.has_error) return false;
  std::vector<char> below(report.rows.size(), 0);
  for (const Suspect& suspect : report.suspects) {
    for (const std::uint32_t row : suspect.rows) below[row] = 1;
  }
  bool any = false;
  for (std::size_t row = 0; row < report.rows.size(); ++row) {
    if (below[row] != 0 || report.rows[row].value.growth() == 0) continue;
    if (!within_error(report, report.rows[row])) return false;
    any = true;
  }
  return any;
}

std::string suspect_name(const Suspect& suspect, std::size_t width, const Glyphs& glyphs) {
  if (suspect.path.empty()) return "[no stack recorded]";
  return cut_name(frame_name(suspect.path.back(), glyphs), width, glyphs.ellipsis);
}

using Pieces = std::vector<std::pair<std::string, Paint>>;

/// The unit is printed once where it is the same for all: with shares on the first, else on the last.
Pieces suspect_pieces(const GrowthReport& report, const GrowthRow* release, bool others_within_error,
                      std::size_t name_width, bool with_common, const Glyphs& glyphs) {
  Pieces pieces;
  const bool shares = release == nullptr && !others_within_error;
  if (release != nullptr) {
    std::vector<FrameView> frames;
    report.frames(*release, frames);
    pieces.emplace_back(stack_cell(frames, name_width, glyphs).text, Paint::bold);
    pieces.emplace_back(" " + value(report, release->value.growth(), true), Paint::shrinkage);
    pieces.emplace_back(report.suspects.empty() ? " freed" : " freed; ", Paint::none);
  }
  // An address says nothing about where the paths part.
  const bool named = !report.common_path.empty() && report.common_path.find("+0x") == std::string::npos;
  if (with_common && release == nullptr && report.suspects.size() > 1 && named) {
    const std::string common = cut_name(
        printable(short_function_name(report.common_path, glyphs.ellipsis), glyphs.utf8), name_width, glyphs.ellipsis);
    pieces.emplace_back(std::to_string(report.suspects.size()) + " below " + common + ": ", Paint::none);
  }
  for (std::size_t i = 0; i < report.suspects.size(); ++i) {
    const Suspect& suspect = report.suspects[i];
    if (i > 0) pieces.emplace_back(", ", Paint::none);
    pieces.emplace_back(suspect_name(suspect, name_width, glyphs), Paint::bold);
    const auto [number, unit] = split_unit(value(report, suspect.growth, true));
    const auto unit_of = [&](std::size_t other) {
      return split_unit(value(report, report.suspects[other].growth, true)).second;
    };
    const bool said =
        shares ? i > 0 && unit_of(i - 1) == unit : i + 1 < report.suspects.size() && unit_of(i + 1) == unit;
    pieces.emplace_back(" " + number + (said || unit.empty() ? "" : " " + unit), Paint::growth);
    if (shares) pieces.emplace_back(" (" + share_text(suspect.share) + ")", Paint::none);
  }
  if (others_within_error)
    pieces.emplace_back(std::string("; every other change is within ") + what_blurs(report), Paint::none);
  return pieces;
}

std::size_t width_of(const Pieces& pieces) {
  std::size_t width = 0;
  for (const auto& [text, paint] : pieces) width += display_width(text);
  return width;
}

HeadLine suspects_line(const GrowthReport& report, const Style& style, const Glyphs& glyphs) {
  const GrowthRow* release = heaviest_release(report);
  const bool quiet = all_others_within_error(report);
  if (report.suspects.empty() && release == nullptr) {
    const std::string text = report.grew == 0 ? "none: nothing grew"
                             : quiet          ? "none: every change is within " + what_blurs(report)
                                              : "none: growth is spread, no path holds 20 % of it";
    return {"suspects", {{text, Paint::none}}};
  }
  // Long names give way, then where the paths part; numbers never.
  Pieces pieces;
  for (const bool with_common : {true, false}) {
    for (const std::size_t name_width : {60U, 48U, 40U, 32U, 26U, 20U, 16U}) {
      pieces = suspect_pieces(report, release, quiet && !report.suspects.empty(), name_width, with_common, glyphs);
      if (kLabelWidth + 2 + width_of(pieces) <= style.width) return {"suspects", pieces};
    }
  }
  return {"suspects", pieces};
}

/// The heaviest allocation site below each suspect.
HeadLine sites_line(const GrowthReport& report, const Glyphs& glyphs) {
  std::string text;
  for (const Suspect& suspect : report.suspects) {
    if (suspect.sites.empty()) continue;
    const FrameView& frame = suspect.sites.front().frame;
    const std::string where = site_text(frame, glyphs);
    if (where.empty()) continue;
    // Where there are no functions, frames are called by their place.
    const std::string name = cut_name(frame_name(frame, glyphs), 32, glyphs.ellipsis);
    const std::string site = name.ends_with(where) ? name : name + " " + where;
    if (text.find(site) != std::string::npos) continue;
    text += (text.empty() ? "" : ", ") + site;
  }
  return {"sites", {{text, Paint::none}}};
}

constexpr std::string_view tier_words(MatchTier tier) {
  switch (tier) {
    case MatchTier::build_id: return "by build id";
    case MatchTier::module_offset: return "by module and offset";
    case MatchTier::function_line: return "by function, file and line";
    case MatchTier::function_file: return "by function and file";
    case MatchTier::normalised: return "by normalised name";
    case MatchTier::inline_free: return "without inlined frames";
    case MatchTier::fuzzy: return "by likeness (fuzzy)";
    case MatchTier::none: return "unmatched (new or gone)";
  }
  return "";
}

std::string sampling_words(const GrowthReport& report, bool brief) {
  if (report.exact) return brief ? "exact" : "exact, every allocation recorded";
  std::string periods;
  for (const SnapshotRef* ref : {&report.baseline, &report.current}) {
    if (ref->snapshot == nullptr) continue;
    const SnapshotFacts& facts = ref->snapshot->facts;
    if (facts.sampling != Sampling::poisson || facts.period <= 1) continue;
    const std::string period = snapdiff::bytes_text(facts.period);
    if (periods == period) continue;
    periods += (periods.empty() ? "" : " and ") + period;
  }
  if (periods.empty()) return "sampling not known";
  return brief ? "sampled every " + periods : "sampled every " + periods + ", values scaled";
}

HeadLine matched_line(const GrowthReport& report, const Style& style) {
  std::vector<std::size_t> tiers;
  for (std::size_t tier = 0; tier < kMatchTiers; ++tier) {
    if (report.matched[tier] > 0) tiers.push_back(tier);
  }
  std::stable_sort(tiers.begin(), tiers.end(), [&](std::size_t a, std::size_t b) {
    // What is unmatched comes last, whatever its size.
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
            std::string(tier_words(static_cast<MatchTier>(tier)));
  }
  if (text.empty()) text = "nothing to match";
  const std::string full = text + "; " + sampling_words(report, false);
  const bool fits = kLabelWidth + 2 + full.size() <= style.width;
  return {"matched", {{fits ? full : text + "; " + sampling_words(report, true), Paint::none}}};
}

HeadLine unnamed_line(const GrowthReport& report, bool utf8) {
  return {"names", {{unnamed_text(report.unnamed, report.unit, utf8), Paint::none}}};
}

std::string fuzzy_note(std::uint64_t pairs) {
  return counted(static_cast<std::int64_t>(std::min<std::uint64_t>(pairs, INT64_MAX)), "stack") +
         (pairs == 1 ? " is" : " are") + " possibly the same as another (score 0.55 to 0.9), never subtracted";
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

std::vector<HeadLine> headline(const GrowthReport& report, const SeriesFacts& series, const Style& style) {
  const Glyphs glyphs = glyphs_for(style.utf8);
  std::vector<HeadLine> lines;
  for (const Note& note : report.notes.all()) {
    if (comes_first(note.text)) lines.push_back({"warning", {{printable(note.text, style.utf8), Paint::alarm}}});
  }
  lines.push_back(total_line(report, style, glyphs));
  const bool hidden = hides(report);
  if (hidden) lines.push_back(hidden_line(report));
  lines.push_back(suspects_line(report, style, glyphs));
  // Five lines answer; where one of them tells what the net hides, the table names the sites.
  if (!hidden && heaviest_release(report) == nullptr) {
    HeadLine sites = sites_line(report, glyphs);
    if (!sites.plain().empty()) lines.push_back(std::move(sites));
  }
  lines.push_back(verdict_line(report, series, glyphs));
  lines.push_back(matched_line(report, style));
  if (report.unnamed.unnamed > 0) lines.push_back(unnamed_line(report, style.utf8));
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
    const std::vector<std::size_t> breaks = break_points(plain, width - indent);
    out += pad_right(line.label, indent);
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
  for (const Severity severity : {Severity::data_loss, Severity::warning, Severity::info}) {
    for (const Note& note : notes.all()) {
      if (note.severity != severity) continue;
      std::string line(severity == Severity::info ? "note" : to_text(severity));
      line += ": " + printable(note.text, utf8);
      if (note.count > 1) {
        line += " (" + snapdiff::count_text(static_cast<std::int64_t>(std::min<std::uint64_t>(note.count, INT64_MAX))) +
                " times)";
      }
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

std::vector<std::string> note_lines(const GrowthReport& report, bool utf8) {
  std::vector<std::string> lines = note_lines(report.notes, utf8);
  if (report.possible_pairs > 0) lines.push_back("note: " + fuzzy_note(report.possible_pairs));
  return lines;
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
  const auto number = [](std::uint64_t n) {
    return snapdiff::count_text(static_cast<std::int64_t>(std::min<std::uint64_t>(n, INT64_MAX)));
  };
  std::string text = unnamed.unnamed == unnamed.addresses
                         ? "none of " + number(unnamed.addresses) + " addresses has one: "
                         : number(unnamed.unnamed) + " of " + number(unnamed.addresses) + " addresses have none: ";
  for (std::size_t i = 0; i < std::min(kModules, unnamed.modules.size()); ++i) {
    const UnnamedModule& module = unnamed.modules[i];
    const std::string name = module.module.empty() ? "[no module]" : printable(base_name(module.module), utf8);
    text += (i > 0 ? ", " : "") + name + " " + number(module.addresses) + " (" +
            snapdiff::value_text(module.value, unit) + ")";
  }
  if (unnamed.modules.size() > kModules) text += ", " + number(unnamed.modules.size() - kModules) + " more modules";
  return text + "; --symbols DIR with the binaries adds them";
}

std::string pool_text(const PoolId& pool) {
  return "(" + std::to_string(pool.first) + ", " + std::to_string(pool.second) + ")";
}

std::string operand_name(const SnapshotRef& ref, bool utf8) {
  return printable(ref.ref.empty() ? snapshot_name(ref, utf8) : std::string(base_name(ref.ref)), utf8);
}

std::string metric_label(const std::string& metric) {
  if (metric == "inuse_space") return "in use";
  if (metric == "alloc_space") return "allocated";
  if (metric == "inuse_objects") return "objects";
  return printable(metric);
}

std::string counted(std::int64_t count, const std::string& singular) {
  return snapdiff::count_text(count) + " " + singular + (count == 1 || count == -1 ? "" : "s");
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
