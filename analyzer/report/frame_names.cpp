#include "analyzer/report/frame_names.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "analyzer/base/frame_kind.hpp"
#include "analyzer/base/frame_text.hpp"
#include "analyzer/base/function_name.hpp"
#include "analyzer/base/library_frames.hpp"
#include "analyzer/report/short_names.hpp"

namespace snapdiff::report {

namespace {

constexpr std::size_t kNarrowestStack = 12;
constexpr std::size_t kShortestName = 8;  // columns; less of a name tells nothing

/// Enough folded frames to fill any terminal; a stack of a million frames is not walked to its end.
constexpr std::size_t kMostFramesShown = 256;

/// People do not compare more rows by eye.
constexpr std::size_t kMostToldApart = 500;

/// Unsymbolized frames of the C library below main.
bool is_start_code(const FrameView& frame) {
  if (!frame.function.empty()) return is_entry_point(frame.function);
  const std::string_view module = base_name(frame.module);
  return module.substr(0, 8) == "libc.so." || module.substr(0, 5) == "libc-" || module.substr(0, 9) == "ld-linux-" ||
         module.substr(0, 10) == "libpthread";
}

bool same_function(const FrameView& a, const FrameView& b) {
  if (a.function.empty() || b.function.empty()) {
    return a.function.empty() && b.function.empty() && a.module == b.module && a.offset == b.offset;
  }
  return a.function == b.function;
}

struct Folded {
  std::string name;
  const FrameView* frame = nullptr;  ///< where it came from: dangles when that is gone
  std::int32_t line = 0;             ///< of the frame of a recursion that is nearest the leaf; 0: unknown
  bool recursive = false;
  std::string via;  ///< "vector<float>": what the leaf's own frame called to allocate
  std::string at;   ///< ":31" where the line is shown

  bool reads_as(const Folded& other) const { return name == other.name && at == other.at; }
};

/// Frames as a table names them, those of libraries too where `whole`. `more` is set when frames are left beyond
/// kMostFramesShown.
std::vector<Folded> fold(std::span<const FrameView> frames, const Glyphs& glyphs, bool whole, bool& more) {
  std::size_t end = frames.size();
  while (end > 1 && is_start_code(frames[end - 1])) --end;
  // A library's inner frames belong to its caller; a stack of libraries alone shows all frames.
  const bool has_own = !whole && std::any_of(frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(end),
                                             [](const FrameView& frame) { return !frame.library; });
  std::vector<Folded> out;
  std::string_view called;
  for (std::size_t i = 0; i < end; ++i) {
    const FrameView& frame = frames[i];
    if (has_own && frame.library) continue;
    if (has_own && out.empty() && i > 0) called = called_name(frames.first(i));
    if (!out.empty() && same_function(*out.back().frame, frame)) {
      out.back().recursive = true;
      continue;
    }
    if (out.size() == kMostFramesShown) {
      more = true;
      return out;
    }
    out.push_back({frame_name(frame, glyphs), &frame, std::max(frame.line, 0), false, {}, {}});
    if (out.size() == 1 && !called.empty()) out.front().via = printable(via_name(called), glyphs.utf8);
  }
  return out;
}

}  // namespace

std::string frame_name(const FrameView& frame, const Glyphs& glyphs) {
  if (frame.function.empty() || frame.pseudo) return printable(recorded_frame_text(frame), glyphs.utf8);
  return printable(without_std(short_function_name(frame.function, glyphs.ellipsis)), glyphs.utf8);
}

std::string site_text(const FrameView& frame, const Glyphs& glyphs) {
  return printable(snapdiff::site_text(frame), glyphs.utf8);
}

namespace {

struct FoldedStack {
  std::vector<Folded> frames;
  bool more = false;
  bool whole = false;  ///< its frames are those of libraries too
};

FoldedStack fold(std::span<const FrameView> frames, const Glyphs& glyphs, bool whole = false) {
  FoldedStack stack;
  stack.whole = whole;
  stack.frames = fold(frames, glyphs, whole, stack.more);
  return stack;
}

std::string with_marks(std::string text, const std::string& via, bool recursive, const Glyphs& glyphs) {
  if (recursive) text.append(" ").append(glyphs.recursion);
  return via.empty() ? text : text.append(" (").append(via).append(")");
}

/// The frame in at most `width` columns: first what it calls is written shorter, then its name, then what it calls
/// goes, and at last the name is cut.
std::string name_of(const Folded& frame, const Glyphs& glyphs, std::size_t width) {
  const auto marked = [&](const std::string& name, const std::string& via) {
    return with_marks(name + frame.at, via, frame.recursive, glyphs);
  };
  const auto vias = shorter_names(frame.via, glyphs.ellipsis);
  const auto names = shorter_names(frame.name, glyphs.ellipsis);
  const std::string& via = vias.empty() ? frame.via : vias.back();
  std::string text = marked(frame.name, frame.via);
  if (display_width(text) <= width) return text;
  text = marked(frame.name, via);
  for (std::size_t i = 0; display_width(text) > width && i < names.size(); ++i) text = marked(names[i], via);
  if (display_width(text) <= width) return text;
  const std::size_t mark = display_width(marked({}, {}));
  return marked(cut_name(frame.name, width - std::min(width, mark), glyphs.ellipsis), {});
}

std::string name_of(const Folded& frame, const Glyphs& glyphs) {
  return with_marks(frame.name + frame.at, frame.via, frame.recursive, glyphs);
}

/// The leaf, then the frames from `from` on; what is between them is left out with a mark. Where both do not fit, they
/// share the width; where that is too little for two names, the leaf goes.
std::string cell_text(const FoldedStack& stack, std::size_t from, std::size_t width, const Glyphs& glyphs) {
  const std::string separator = spaced(glyphs.caller);
  const std::string cut = separator + std::string(glyphs.ellipsis);
  const std::size_t cut_width = display_width(cut);
  const std::size_t count = stack.frames.size();
  const auto rest_width = [&](std::size_t i) { return i + 1 == count && !stack.more ? 0 : cut_width; };

  std::string text = name_of(stack.frames[0], glyphs, width);
  std::size_t i = 1;
  if (from > 0) {
    const std::string between = from > 1 ? cut + separator : separator;
    const std::size_t room = width - std::min(width, display_width(between) + rest_width(from));
    const std::string second = name_of(stack.frames[from], glyphs);
    const std::size_t of_leaf = std::max(room / 2, room - std::min(room, display_width(second)));
    text = name_of(stack.frames[0], glyphs, of_leaf);
    if (display_width(text) + display_width(second) > room && room < 2 * kShortestName) {
      text = std::string(glyphs.ellipsis).append(separator).append(second);
    } else {
      const std::size_t left = room - std::min(room, display_width(text));
      text.append(between).append(name_of(stack.frames[from], glyphs, left));
    }
    i = from + 1;
  }
  std::size_t used = display_width(text);
  for (; i < count; ++i) {
    const std::string next = separator + name_of(stack.frames[i], glyphs);
    const std::size_t next_width = display_width(next);
    if (used + next_width + rest_width(i) > width) break;
    text += next;
    used += next_width;
  }
  // Where not even the mark fits, the name keeps what room there is.
  if ((i < count || stack.more) && used + cut_width <= width) text += cut;
  return display_width(text) > width ? cut_name(text, width, glyphs.ellipsis) : text;
}

/// A stack whose cell shows the frames from `from` on.
struct ShownStack {
  FoldedStack stack;
  std::size_t from = 0;
  std::span<const Folded> rest() const { return std::span(stack.frames).subspan(from); }
};

/// The texts of rows below one another, made to differ where the stacks do.
class DistinctCells {
 public:
  DistinctCells(std::size_t count, const FramesOf& frames_of, const WidthOf& width_of, const Glyphs& glyphs)
      : frames_of_(frames_of), width_of_(width_of), glyphs_(glyphs), texts_(count) {
    for (std::size_t row = 0; row < count; ++row) {
      frames_of_(row, frames_);
      texts_[row] = stack_cell(frames_, width_of_(row), glyphs_).text;
    }
    stacks_.resize(std::min(count, kMostToldApart));  // folded when first asked for: most rows never are
  }

  /// Looks further down the stacks of what still reads alike; a row ends where its stack does.
  void by_functions() {
    for (bool changed = true; changed;) {
      changed = false;
      for (const std::vector<std::size_t>& group : alike()) {
        const std::size_t common = common_frames(group);
        if (common == 0) continue;
        for (const std::size_t row : group) {
          if (stacks_[row].rest().size() <= common) continue;
          show(row, stacks_[row].from + common);
          changed = true;
        }
      }
    }
  }

  /// Of stacks with the same functions, the frame nearest the leaf whose line differs gets its line: "init:507".
  /// The leaf itself only where its line is not shown beside it.
  void by_lines(LeafSite site) {
    for (bool changed = true; changed;) {
      changed = false;
      for (const std::vector<std::size_t>& group : alike()) {
        const std::optional<std::size_t> frame = differing_line(group, site == LeafSite::beside ? 1 : 0);
        if (!frame) continue;
        for (const std::size_t row : group) show_line(row, *frame);
        changed = true;
      }
    }
  }

  /// What still reads alike differs in what a library does below the own frame: its allocating frame is shown, then
  /// the own frame, and where those are equal as well the stack from its leaf on.
  void by_leaf() {
    for (const std::vector<std::size_t>& group : alike()) {
      for (const std::size_t row : group) {
        frames_of_(row, frames_);
        if (std::none_of(frames_.begin(), frames_.end(), [](const FrameView& frame) { return frame.library; }))
          continue;
        FoldedStack& stack = stacks_[row].stack = fold(frames_, glyphs_, true);
        // A stack of libraries alone has no own frame: its last one stands for it.
        show(row, std::min(first_own(), stack.frames.size() - 1));
      }
    }
    for (const std::vector<std::size_t>& group : alike()) {
      for (const std::size_t row : group) {
        if (stacks_[row].stack.whole) show(row, 0);
      }
    }
  }

  std::vector<std::string> take() { return std::move(texts_); }

 private:
  /// Of the frames at hand, as fold() numbers them when it keeps all.
  std::size_t first_own() const {
    std::size_t number = 0;
    for (std::size_t i = 0; i < frames_.size() && frames_[i].library; ++i)
      number += i + 1 < frames_.size() && same_function(frames_[i], frames_[i + 1]) ? 0U : 1U;
    return std::min(number, kMostFramesShown - 1);
  }

  /// Rows of one text, those alone with theirs left out; their stacks are folded.
  std::vector<std::vector<std::size_t>> alike() {
    std::map<std::string_view, std::vector<std::size_t>> by_text;
    for (std::size_t row = 0; row < stacks_.size(); ++row) by_text[texts_[row]].push_back(row);
    std::vector<std::vector<std::size_t>> groups;
    for (auto& [text, group] : by_text) {
      if (group.size() < 2) continue;
      for (const std::size_t row : group) {
        if (!stacks_[row].stack.frames.empty()) continue;
        frames_of_(row, frames_);
        if (!frames_.empty()) stacks_[row].stack = fold(frames_, glyphs_);
      }
      groups.push_back(std::move(group));
    }
    return groups;
  }

  /// How many frames these show alike.
  std::size_t common_frames(const std::vector<std::size_t>& group) const {
    const std::span<const Folded> first = stacks_[group.front()].rest();
    std::size_t common = first.size();
    for (const std::size_t row : group) {
      const std::span<const Folded> other = stacks_[row].rest();
      std::size_t same = 0;
      while (same < common && same < other.size() && first[same].reads_as(other[same]) &&
             first[same].recursive == other[same].recursive)
        ++same;
      common = same;
    }
    return common;
  }

  /// The first frame from `begin` on whose line is not the same in all of these stacks of the same functions. None
  /// where they differ in more than lines.
  std::optional<std::size_t> differing_line(const std::vector<std::size_t>& group, std::size_t begin) const {
    const std::vector<Folded>& first = stacks_[group.front()].stack.frames;
    std::size_t found = first.size();
    for (const std::size_t row : group) {
      const std::vector<Folded>& other = stacks_[row].stack.frames;
      if (other.size() != first.size()) return std::nullopt;
      for (std::size_t i = 0; i < first.size(); ++i) {
        if (!other[i].reads_as(first[i])) return std::nullopt;
        if (i >= begin && i < found && other[i].line != first[i].line) found = i;
      }
    }
    return found < first.size() ? std::optional(found) : std::nullopt;
  }

  /// Its line becomes a part of the frame's name, so that it differs no more but there.
  void show_line(std::size_t row, std::size_t frame) {
    Folded& shown = stacks_[row].stack.frames[frame];
    if (shown.line > 0) shown.at = ":" + std::to_string(std::exchange(shown.line, 0));
    show(row, frame);
  }

  void show(std::size_t row, std::size_t from) {
    stacks_[row].from = from;
    texts_[row] = cell_text(stacks_[row].stack, from, std::max(width_of_(row), kNarrowestStack), glyphs_);
  }

  const FramesOf& frames_of_;
  const WidthOf& width_of_;
  const Glyphs& glyphs_;
  std::vector<FrameView> frames_;
  std::vector<ShownStack> stacks_;
  std::vector<std::string> texts_;
};

}  // namespace

StackCell stack_cell(std::span<const FrameView> frames, std::size_t width, const Glyphs& glyphs) {
  // Stacks whose every frame --hide or --show took away.
  if (frames.empty()) return {"[filtered out]", ""};
  const FoldedStack stack = fold(frames, glyphs);
  return {cell_text(stack, 0, std::max(width, kNarrowestStack), glyphs), site_text(*stack.frames[0].frame, glyphs)};
}

std::vector<std::string> stack_cells(std::size_t count, const FramesOf& frames_of, const WidthOf& width_of,
                                     const Glyphs& glyphs, LeafSite site) {
  DistinctCells cells(count, frames_of, width_of, glyphs);
  cells.by_functions();
  cells.by_lines(site);
  cells.by_leaf();
  cells.by_functions();
  cells.by_lines(site);
  return cells.take();
}

std::string key_text(const std::string& key, GroupBy by, std::size_t width, const Glyphs& glyphs) {
  width = std::max(width, kNarrowestStack);
  if (key.empty()) return "[unknown]";
  if (by == GroupBy::file || by == GroupBy::line || by == GroupBy::module) {
    return cut_path(printable(key, glyphs.utf8), width, glyphs.ellipsis);
  }
  const std::string name = by == GroupBy::function ? without_std(short_function_name(key, glyphs.ellipsis)) : key;
  return cut_name(printable(name, glyphs.utf8), width, glyphs.ellipsis);
}

std::string row_text(const GrowthReport& report, const GrowthRow& row, std::size_t width, const Glyphs& glyphs) {
  if (report.options.by != GroupBy::stack) return key_text(report.keys[row.key], report.options.by, width, glyphs);
  std::vector<FrameView> frames;
  report.frames(row, frames);
  return stack_cell(frames, width, glyphs).text;
}

std::vector<std::string> row_texts(const GrowthReport& report, std::span<const std::uint32_t> rows, std::size_t width,
                                   const Glyphs& glyphs) {
  if (report.options.by == GroupBy::stack) {
    return stack_cells(
        rows.size(),
        [&](std::size_t i, std::vector<FrameView>& frames) { report.frames(report.rows[rows[i]], frames); },
        [width](std::size_t) { return width; }, glyphs, LeafSite::nowhere);
  }
  std::vector<std::string> texts;
  for (const std::uint32_t row : rows) texts.push_back(row_text(report, report.rows[row], width, glyphs));
  return texts;
}

}  // namespace snapdiff::report
