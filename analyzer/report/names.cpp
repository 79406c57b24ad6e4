#include "analyzer/report/names.hpp"

#include <algorithm>
#include <utility>

#include "snapdiff/frame_text.hpp"
#include "snapdiff/function_name.hpp"

namespace snapdiff::report {

namespace {

constexpr std::size_t kNarrowestStack = 12;

/// Enough folded frames to fill any terminal; a stack of a million frames is not walked to its end.
constexpr std::size_t kMostFramesShown = 256;

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
  const FrameView* frame = nullptr;
  bool recursive = false;
};

/// Frames as a table names them. `more` is set when frames are left beyond kMostFramesShown.
std::vector<Folded> fold(std::span<const FrameView> frames, const Glyphs& glyphs, bool& more) {
  std::size_t end = frames.size();
  while (end > 1 && is_start_code(frames[end - 1])) --end;
  std::vector<Folded> out;
  bool in_library = false;
  for (std::size_t i = 0; i < end; ++i) {
    const FrameView& frame = frames[i];
    if (!out.empty() && same_function(*out.back().frame, frame)) {
      out.back().recursive = true;
      continue;
    }
    if (out.size() == kMostFramesShown) {
      more = true;
      return out;
    }
    const std::string short_name =
        frame.function.empty() ? std::string() : short_function_name(frame.function, glyphs.ellipsis);
    const bool library = is_standard_library(short_name);
    Folded folded{frame.function.empty() ? frame_name(frame, glyphs) : printable(without_std(short_name), glyphs.utf8),
                  &frame, false};
    if (library && in_library) {
      out.back() = std::move(folded);
    } else {
      out.push_back(std::move(folded));
    }
    in_library = library;
  }
  return out;
}

}  // namespace

std::string frame_text(const FrameView& frame) {
  return frame.function.empty() ? address_text(frame) : std::string(frame.function);
}

std::string frame_name(const FrameView& frame, const Glyphs& glyphs) {
  if (frame.function.empty() || frame.pseudo) return printable(frame_text(frame), glyphs.utf8);
  return printable(without_std(short_function_name(frame.function, glyphs.ellipsis)), glyphs.utf8);
}

std::string site_text(const FrameView& frame, const Glyphs& glyphs) {
  if (frame.file.empty()) return {};
  std::string text = printable(base_name(frame.file), glyphs.utf8);
  if (frame.line > 0) text += ":" + std::to_string(frame.line);
  return text;
}

StackCell stack_cell(std::span<const FrameView> frames, std::size_t width, const Glyphs& glyphs) {
  width = std::max(width, kNarrowestStack);
  // Stacks whose every frame --hide or --show took away.
  if (frames.empty()) return {"[filtered out]", ""};
  bool more = false;
  std::vector<Folded> folded = fold(frames, glyphs, more);
  const auto name = [&](const Folded& frame) {
    std::string text = frame.name;
    if (frame.recursive) text.append(" ").append(glyphs.recursion);
    return text;
  };
  const std::string separator = spaced(glyphs.caller);
  std::string cut = separator;
  cut += glyphs.ellipsis;
  const std::size_t cut_width = display_width(cut);
  const std::size_t separator_width = display_width(separator);

  StackCell cell{name(folded[0]), site_text(*folded[0].frame, glyphs)};
  std::size_t used = display_width(cell.text);
  for (std::size_t i = 1; i < folded.size(); ++i) {
    const std::string next = name(folded[i]);
    const std::size_t next_width = separator_width + display_width(next);
    const bool last = i + 1 == folded.size() && !more;
    if (used + next_width + (last ? 0 : cut_width) > width) {
      if (i == 1 && used + cut_width > width) {
        // The leaf is the allocation site: it keeps what room there is.
        if (used > width) cell.text = cut_name(cell.text, width, glyphs.ellipsis);
      } else {
        cell.text += cut;
      }
      return cell;
    }
    cell.text += separator + next;
    used += next_width;
  }
  if (used > width) cell.text = cut_name(cell.text, width, glyphs.ellipsis);
  return cell;
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

}  // namespace snapdiff::report
