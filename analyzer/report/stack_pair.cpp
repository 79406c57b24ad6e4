#include <algorithm>
#include <string>
#include <vector>

#include "analyzer/document/terms.hpp"
#include "analyzer/report/frame_names.hpp"
#include "analyzer/report/headline.hpp"
#include "analyzer/report/report.hpp"
#include "analyzer/report/writers.hpp"

namespace snapdiff::report {
namespace {

constexpr std::size_t kMostCells = 1'000'000;
constexpr std::size_t kShownAtLeaf = 192, kShownAtRoot = 64;

/// Whether `path` is `end`, or ends in it after a folder.
bool is_path_end(std::string_view end, std::string_view path) {
  return path.ends_with(end) && (path.size() == end.size() || path[path.size() - end.size() - 1] == '/');
}

/// Name and place of a frame. A frame without a function is named by its place.
std::string line_text(const std::string& name, const std::string& site) {
  if (site.empty() || is_path_end(site, name)) return name;
  return is_path_end(name, site) ? site : name + "  " + site;
}

std::string line_text(const FrameView& frame, const Glyphs& glyphs) {
  return line_text(frame_name(frame, glyphs), site_text(frame, glyphs));
}

/// File and line with the folders from place `folder` of the path on.
std::string site_in_folder(const FrameView& frame, std::size_t folder, const Glyphs& glyphs) {
  std::string site = printable(frame.file.substr(folder), glyphs.utf8);
  if (frame.line > 0) site += ":" + std::to_string(frame.line);
  return site;
}

/// Where the first folder begins that is another one in both paths.
std::size_t first_other_folder(std::string_view before, std::string_view after) {
  const auto end = std::mismatch(before.begin(), before.end(), after.begin(), after.end()).first;
  const std::size_t slash = before.substr(0, static_cast<std::size_t>(end - before.begin())).rfind('/');
  return slash == std::string_view::npos ? 0 : slash + 1;
}

/// Places of the frames on both sides; kNone where a side has nothing there.
struct Place {
  std::size_t before, after;
};
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

/// Pairs the most equal names that keep their order; the others stand side by side in their order.
class Aligner {
 public:
  Aligner(const std::vector<std::string>& before, const std::vector<std::string>& after)
      : before_(before), after_(after) {
    std::size_t i = 0, end_before = before.size(), end_after = after.size();
    for (; i < end_before && i < end_after && before[i] == after[i]; ++i) pair(i, i);
    while (end_before > i && end_after > i && before[end_before - 1] == after[end_after - 1]) {
      --end_before;
      --end_after;
    }
    pair_between(i, end_before, end_after);
    for (; end_before < before.size(); ++end_before, ++end_after) pair(end_before, end_after);
  }

  const std::vector<Place>& places() const { return places_; }

 private:
  void pair_between(std::size_t begin, std::size_t end_before, std::size_t end_after) {
    const std::size_t rows = end_before - begin, width = end_after - begin + 1;
    if (rows > kMostCells / width) {
      close_gap(end_before, end_after);
      return;
    }
    // The most names that can be paired from here to the ends: one more than from there, or the better of two ways.
    std::vector<std::uint32_t> best((rows + 1) * width, 0);
    const auto equal = [&](std::size_t i, std::size_t j) { return before_[begin + i] == after_[begin + j]; };
    for (std::size_t i = rows; i-- > 0;) {
      for (std::size_t j = width - 1; j-- > 0;) {
        best[i * width + j] = equal(i, j) ? best[(i + 1) * width + j + 1] + 1
                                          : std::max(best[(i + 1) * width + j], best[i * width + j + 1]);
      }
    }
    for (std::size_t i = 0, j = 0; i < rows && j + 1 < width;) {
      if (equal(i, j)) {
        close_gap(begin + i, begin + j);
        pair(begin + i++, begin + j++);
      } else if (best[(i + 1) * width + j] >= best[i * width + j + 1]) {
        ++i;
      } else {
        ++j;
      }
    }
    close_gap(end_before, end_after);
  }

  void pair(std::size_t before, std::size_t after) {
    places_.push_back({before, after});
    next_before_ = before + 1;
    next_after_ = after + 1;
  }

  void close_gap(std::size_t end_before, std::size_t end_after) {
    while (next_before_ < end_before || next_after_ < end_after) {
      places_.push_back(
          {next_before_ < end_before ? next_before_++ : kNone, next_after_ < end_after ? next_after_++ : kNone});
    }
  }

  const std::vector<std::string>& before_;
  const std::vector<std::string>& after_;
  std::size_t next_before_ = 0, next_after_ = 0;
  std::vector<Place> places_;
};

}  // namespace

StackPairs::StackPairs(const GrowthReport& report, bool utf8) : report_(report), utf8_(utf8) {
  for (const RenamedFunction& one : report.renamed) renamed_.emplace(one.before, one.after);
}

std::string StackPairs::name(const FrameView& frame, bool of_baseline) const {
  std::string text = recorded_frame_text(frame);
  if (!of_baseline) return text;
  const auto found = renamed_.find(text);
  return found == renamed_.end() ? text : std::string(found->second);
}

PairedFrame StackPairs::paired(const FrameView* before, const FrameView* after) const {
  const Glyphs glyphs = glyphs_for(utf8_);
  if (before == nullptr) return {"", line_text(*after, glyphs)};
  if (after == nullptr) return {line_text(*before, glyphs), ""};
  std::string name_before = frame_name(*before, glyphs), name_after = frame_name(*after, glyphs);
  std::string site_before = site_text(*before, glyphs), site_after = site_text(*after, glyphs);
  if (name_before == name_after && renamed_.contains(recorded_frame_text(*before))) {  // other parameters
    name_before = printable(recorded_frame_text(*before), utf8_);
    name_after = printable(recorded_frame_text(*after), utf8_);
  } else if (name_before == name_after && site_before == site_after && before->file != after->file) {
    const std::size_t folder = first_other_folder(before->file, after->file);
    site_before = site_in_folder(*before, folder, glyphs);
    site_after = site_in_folder(*after, folder, glyphs);
  }
  return {line_text(name_before, site_before), line_text(name_after, site_after)};
}

std::optional<StackPair> StackPairs::of(const GrowthRow& row) const {
  if (report_.options.by != GroupBy::stack) return std::nullopt;
  const Counterpart* const counterpart = report_.counterpart(row.key);
  if (counterpart == nullptr) return std::nullopt;
  std::vector<FrameView> before, after;
  report_.view->frames(counterpart->before, before);
  report_.frames(row, after);
  std::vector<std::string> names_before, names_after;
  for (const FrameView& frame : before) names_before.push_back(name(frame, true));
  for (const FrameView& frame : after) names_after.push_back(name(frame, false));
  const Aligner aligner(names_before, names_after);
  const std::vector<Place>& places = aligner.places();

  const Glyphs glyphs = glyphs_for(utf8_);
  StackPair pair{&row, counterpart, {}};
  bool alike = true;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const FrameView* const old_frame = places[i].before == kNone ? nullptr : &before[places[i].before];
    const FrameView* const new_frame = places[i].after == kNone ? nullptr : &after[places[i].after];
    const bool both = old_frame != nullptr && new_frame != nullptr;
    if (places.size() > kShownAtLeaf + kShownAtRoot + 1 && i >= kShownAtLeaf && i + kShownAtRoot < places.size()) {
      alike = alike && both && *old_frame == *new_frame;
      if (i > kShownAtLeaf) continue;
      const std::string left_out = std::string(glyphs.ellipsis) + " " +
                                   counted(places.size() - kShownAtLeaf - kShownAtRoot, "frame") + " left out";
      pair.frames.push_back({left_out, left_out});
      continue;
    }
    const PairedFrame& frame = pair.frames.emplace_back(paired(old_frame, new_frame));
    alike = alike && frame.alike();
  }
  if (alike) return std::nullopt;
  return pair;
}

std::vector<StackPair> shown_pairs(const PeekReport& report, bool utf8) {
  constexpr std::size_t kMost = 3;
  std::vector<StackPair> shown;
  if (report.by_stack == nullptr) return shown;
  const StackPairs pairs(*report.by_stack, utf8);
  for (const std::uint32_t row : report.matched_rows) {
    if (shown.size() == kMost) break;
    if (std::optional<StackPair> pair = pairs.of(report.by_stack->rows[row])) shown.push_back(*std::move(pair));
  }
  return shown;
}

std::string matched_text(const StackPair& pair) {
  const Counterpart& counterpart = *pair.counterpart;
  const bool merged = pair.row->tier == MatchTier::merged;  // its words say so
  std::string text = (merged ? "merged " : "matched ") + std::string(document::tier_words(pair.row->tier));
  if (counterpart.stacks_before == 1 && counterpart.stacks_after == 1) return text;
  return text + ": " + counted(counterpart.stacks_before, "stack") + " before, " +
         std::to_string(counterpart.stacks_after) + " after";
}

}  // namespace snapdiff::report
