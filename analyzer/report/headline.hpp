#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/base/words.hpp"
#include "analyzer/report/report.hpp"
#include "analyzer/report/text_tools.hpp"
#include "snapdiff/allocator_state.hpp"
#include "snapdiff/growth.hpp"
#include "snapdiff/story.hpp"

/// The lines above a table: they answer the question (product.md, the first screen).
namespace snapdiff::report {

/// One labelled line, as pieces that may be painted.
struct HeadLine {
  std::string label;
  std::vector<std::pair<std::string, Paint>> pieces;
  Paint label_paint = Paint::none;
  bool wraps = true;  ///< false: columns that were made to fit

  std::string plain() const;
};

/// Total before -> after; what the net hides; the culprits and what else the story says; share matched; addresses
/// without names. Lines that have nothing to say are left out; the share is always there.
std::vector<HeadLine> headline(const GrowthReport& report, const Style& style);

/// The head of a series: that of its first and last snapshot, and where another build begins.
std::vector<HeadLine> headline(const SeriesReport& series, const Style& style);

/// "another build from snapshot 7 (svc.006.pb.gz) on"; "" for a single build. `left_out`: snapshots before the first.
std::string releases_text(const SeriesReport& series, std::size_t left_out, bool utf8);

/// The same with how much was matched across them: "...; 97 % of the bytes at both ends matched".
std::string releases_matched(const SeriesReport& series, std::size_t left_out, bool utf8);

/// Events before the headline: out of memory, a restart, a damaged input, two programs. Empty for most.
std::vector<HeadLine> event_lines(const Story& story, const Style& style);

/// One line per culprit, in columns: verdict, name, place, growth, share, pace; then what else is worth a line. Texts
/// of the story that do not fit the width are left out from the end of a line, numbers never.
std::vector<HeadLine> story_lines(const Story& story, const Style& style);

/// The fullest moment of a device's trace: what it holds, the heaviest lines of the user's code, advice.
std::vector<HeadLine> peak_lines(const PeakStory& peak, const Style& style);

/// How a verdict's word is painted.
Paint verdict_paint(std::string_view word);

/// The lines under each other, labels in one column, wrapped at `style.width`.
std::string headline_text(const std::vector<HeadLine>& lines, const Style& style);

/// Remarks, the gravest first, one line each: "data loss: ...", "warning: ...", "note: ...".
std::vector<std::string> note_lines(const Notes& notes, bool utf8);

/// The notes of a report plus what the engine found but did not use.
std::vector<std::string> note_lines(const GrowthReport& report, bool utf8);

/// "renamed: Cache::put → Store::insert, 41 stacks": the functions under another name that most matched stacks hold.
std::string renamed_note(const std::vector<RenamedFunction>& renamed, bool utf8);

/// `text` in lines of at most `width` columns, continued `indent` columns in; breaks at blanks.
std::string wrapped(const std::string& text, std::size_t width, std::size_t indent);
/// The same as a line of this terminal; its continuation is indented by two.
inline std::string wrapped_line(const std::string& text, const Style& style) {
  return wrapped(text, style.width, 2) + "\n";
}

/// "3 of 31 addresses without names: libc.so.6 3 (12 KiB); ...", and what helps.
std::string unnamed_text(const Unnamed& unnamed, const std::string& unit, bool utf8);

/// From this many columns on a screen has room for sites, verdicts and sparklines.
inline constexpr std::size_t kWide = 100;
inline constexpr std::size_t kSiteWidth = 28;
inline constexpr std::size_t kSparkWidth = 24;

/// How many of these rows a table shows.
inline std::size_t shown_of(std::size_t rows, const Style& style) {
  return style.max_rows == 0 ? rows : std::min(rows, style.max_rows);
}

/// The operand, without folders: "run.pickle@peak" says more than the file's name.
std::string operand_name(const SnapshotRef& ref, bool utf8);

/// "in use" for inuse_space; the metric's own name without a better word.
std::string metric_label(const std::string& metric);

/// A share 0..1 in whole percent, "<1 %" and ">99 %" at the ends.
std::string share_text(double share);

/// Base name of the source, else the operand.
std::string snapshot_name(const SnapshotRef& ref, bool utf8);

}  // namespace snapdiff::report
