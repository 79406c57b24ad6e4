#include <unordered_set>

#include "formats/input/all_formats.hpp"
#include "formats/input/type_row.hpp"
#include "formats/text/in_quotes.hpp"
#include "formats/text/log_lines.hpp"
#include "formats/text/printed_frame.hpp"
#include "formats/text/time_stamp.hpp"

namespace snapdiff::formats {
namespace {

/// "main;handle;alloc 4096": the text before the last blank, and the number behind it.
struct FoldedLine {
  std::string_view stack;  ///< root first
  std::int64_t value = 0;
  bool has_end = false;  ///< a semicolon is behind the last frame, too: heaptrack_print
};

/// Evidence from the complete lines of a head.
///   is_folded  each line is a stack with a number, most have several frames, and none looks like a line of a log
///   repeats    stacks that come again, which writers add up and logs repeat
///   is_java    some frame lies in java.*: names have slashes for dots
///   is_fil     each leaf is a frame as fil writes it: bytes, at the peak
///   has_types  each leaf is marked as async-profiler marks the class that was allocated
struct FoldedText {
  bool is_folded = false;
  bool is_austin = false;
  bool is_cpu = false;  ///< of austin: not of memory
  bool is_java = false;
  bool has_types = false;
  bool is_fil = false;
  bool is_heaptrack = false;  ///< each line has a semicolon behind its last frame
  std::size_t lines = 0;
  std::size_t repeats = 0;
  std::size_t roots = 0;  ///< distinct first frames: programs have few, words of logs many
};

using text::is_blank;

/// Cuts the next frame off the front of `stack`.
std::string_view take_frame(std::string_view& stack) {
  const std::size_t end = std::min(stack.find(';'), stack.size());
  const std::string_view frame = stack.substr(0, end);
  stack.remove_prefix(std::min(end + 1, stack.size()));
  return frame;
}

/// How async-profiler and perf's scripts mark how a frame ran: "_[j]" and so on, cut off `frame`; '\0' where there is
/// no mark.
char take_mark(std::string_view& frame) {
  constexpr std::size_t kMark = 4;
  if (frame.size() <= kMark) return '\0';
  const std::string_view end = frame.substr(frame.size() - kMark);
  if (end[0] != '_' || end[1] != '[' || end[3] != ']' || std::string_view("01ijk").find(end[2]) == end.npos)
    return '\0';
  frame.remove_suffix(kMark);
  return end[2];
}

/// Of a log or a table rather than of a stack: a time, or a first column without a letter.
bool begins_as_log(std::string_view stack) {
  const std::string_view root = stack.substr(0, stack.find(';'));
  if (text::has_prefix(root, "0x") || text::has_prefix(root, "[")) return false;  // an address, "[main tid=7]"
  if (text::find_time(stack)) return true;
  return std::none_of(root.begin(), root.end(), [](char c) {
    return text::is_letter(c) || static_cast<unsigned char>(c) >= 0x80 || c == '_' || c == '<' || c == '(' || c == '$';
  });
}

/// "java.lang.String_[i]", "byte[]_[k]": a class, which async-profiler puts in front of the stack that allocated it.
bool is_class(std::string_view frame) {
  const char mark = take_mark(frame);
  return (mark == 'i' || mark == 'k') && frame.find_first_of("/:(") == std::string_view::npos;
}

/// Nothing where the line has no whole number at its end, or an empty frame, or blanks around one.
std::optional<FoldedLine> folded_line(std::string_view line) {
  const std::size_t blank = line.rfind(' ');
  if (blank == std::string_view::npos || blank == 0 || blank + 1 == line.size()) return std::nullopt;
  FoldedLine out{line.substr(0, blank)};
  out.has_end = out.stack.size() > 1 && out.stack.back() == ';';
  if (out.has_end) out.stack.remove_suffix(1);
  text::Cursor number(line.substr(blank + 1));
  if (number.decimal(out.value) != text::Number::ok || !number.at_end()) return std::nullopt;
  for (std::string_view rest = out.stack; !rest.empty();) {
    const std::size_t before = rest.size();
    const std::string_view frame = take_frame(rest);
    const bool is_last_empty = rest.empty() && frame.size() + 1 == before;
    if (frame.empty() || is_last_empty || is_blank(frame.front()) || is_blank(frame.back())) return std::nullopt;
  }
  return out;
}

/// "# mode: memory" of austin -> "memory", given "mode".
std::optional<std::string_view> header_value(std::string_view line, std::string_view key) {
  if (!text::has_prefix(line, "# ") || !text::has_prefix(line.substr(2), key)) return std::nullopt;
  line.remove_prefix(2 + key.size());
  return text::has_prefix(line, ": ") ? std::optional(text::trim(line.substr(2))) : std::nullopt;
}

/// "FILE:LINE (FUNCTION)", as fil writes a frame; false for other text.
bool take_fil(std::string_view frame, text::PrintedFrame& out) {
  const std::size_t open = frame.rfind(" (");
  if (open == std::string_view::npos || frame.back() != ')') return false;
  std::string_view place = frame.substr(0, open);
  if (!text::take_line_number(place, out.line)) return false;
  out.file = place;
  out.function = frame.substr(open + 2, frame.size() - open - 3);
  return !out.function.empty();
}

/// "main (app.cpp)", as heaptrack_print writes a frame with its file; other text is left alone.
void take_heaptrack(std::string_view frame, text::PrintedFrame& out) {
  const std::size_t open = frame.rfind(" (");
  if (open == std::string_view::npos || frame.back() != ')') return;
  const std::string_view file = frame.substr(open + 2, frame.size() - open - 3);
  if (file.empty() || file.find_first_of(" (") != std::string_view::npos) return;
  out.file = file;
  out.function = frame.substr(0, open);
}

FoldedText look_at(std::string_view head, bool whole) {
  const std::string plain = text::plain_head(head);
  std::string_view rest = plain;
  std::string_view line;
  FoldedText out;
  std::size_t chains = 0, classes = 0, dotted = 0, pairs = 0, fil = 0, ends = 0;
  bool has_fil = false;
  std::unordered_set<std::string_view, KeyedHash> seen, roots;
  while (text::take_line(rest, line)) {
    const bool is_cut = rest.empty() && !whole;
    if (is_cut && (out.lines > 0 || out.is_austin)) break;
    if (text::has_prefix(line, "#")) {
      out.is_austin = out.is_austin || (out.lines == 0 && header_value(line, "austin"));
      if (const auto mode = header_value(line, "mode")) out.is_cpu = *mode != "memory";
      continue;
    }
    if (text::trim(line).empty()) continue;
    const std::optional<FoldedLine> found = folded_line(line);
    if (!found || begins_as_log(found->stack)) return out;
    const bool is_chain = found->stack.find(';') != std::string_view::npos;
    // One frame alone is a name, "[unattributed]" or so, and no words.
    text::PrintedFrame place;
    const bool is_fil = take_fil(found->stack.substr(found->stack.rfind(';') + 1), place);
    const bool is_bracketed = found->stack.front() == '[' && found->stack.back() == ']';  // "[No Python stack]"
    if (!is_chain && !is_fil && !is_bracketed && found->stack.find(' ') != std::string_view::npos) return out;
    ++out.lines;
    ends += found->has_end ? 1U : 0U;
    fil += is_fil || (is_bracketed && !is_chain) ? 1U : 0U;
    has_fil = has_fil || is_fil;
    chains += is_chain ? 1U : 0U;
    out.repeats += seen.insert(found->stack).second ? 0U : 1U;
    std::string_view leaf = found->stack.substr(found->stack.rfind(';') + 1);
    std::string_view root = found->stack.substr(0, found->stack.find(';'));
    take_mark(root);
    roots.insert(root);
    pairs += folded_line(leaf) ? 1U : 0U;
    classes += is_class(leaf) ? 1U : 0U;
    dotted += leaf.find('.') != std::string_view::npos || leaf.find("[]") != std::string_view::npos ? 1U : 0U;
  }
  // Two numbers a line are a difference of two profiles, which says nothing of either one's moment.
  out.is_folded = out.lines > 0 && chains * 2 >= out.lines && pairs < out.lines;
  out.has_types = classes == out.lines && dotted > 0;
  out.is_fil = has_fil && fil == out.lines;
  out.is_heaptrack = out.lines > 0 && ends == out.lines;
  out.roots = roots.size();
  out.is_java = text::has_prefix(plain, "java/") || plain.find(";java/") != std::string::npos;
  return out;
}

constexpr std::string_view kGrew = "[grew]", kShrank = "[shrank]";

class FoldedReader {
 public:
  explicit FoldedReader(Input& in) : in_(in), lines_(in) {}

  Snapshot read() {
    const std::string_view head = value_or_throw(in_.peek(kSniffBytes));
    text_ = look_at(head.substr(0, kSniffBytes), head.size() < kSniffBytes);
    if (text_.is_cpu) fail(ErrorCode::unsupported, "austin profile of time: expected one of memory (austin -m)", 0);
    add_column();
    std::string_view line;
    while (lines_.next(line)) {
      if (text::has_prefix(line, "#")) {
        read_comment(line);
      } else if (!text::trim(line).empty()) {
        read_row(line);
      }
    }
    SnapshotFacts& facts = builder_.facts();
    if (builder_.row_count() == 0)
      fail_malformed("no stack: the input ends, expected ROOT;…;LEAF NUMBER", lines_.offset());
    if (cut_) facts.lose("the last line has no end: its number may be cut", *cut_);
    lines_.note_skipped(facts.notes);
    return value_or_throw(builder_.finish());
  }

 private:
  /// The format has no units. austin's header says what it measured; a file name may say "bytes".
  void add_column() {
    SnapshotFacts& facts = builder_.facts();
    const std::string_view name = base_name(in_.name());
    if (text_.is_austin) {
      facts.producer = "austin";
      builder_.add_column({"rss_change", "bytes"});
    } else if (text_.is_fil) {
      facts.producer = "fil";
      builder_.add_column({"inuse_space", "bytes"});
      facts.notes.add(Severity::info, "memory in use at the peak, which fil alone writes");
    } else if (name.find("bytes") != std::string_view::npos) {
      builder_.add_column({"bytes", "bytes"});
      facts.notes.add(Severity::info, "values are bytes by the name of the file: the format has no units");
    } else {
      builder_.add_column({"value", ""});
      facts.notes.add(Severity::info, "values without a unit: bytes, counts or samples, which the file does not say");
    }
    if (text_.has_types) facts.producer = "async-profiler";
    if (text_.is_heaptrack) facts.producer = "heaptrack";
  }

  void read_comment(std::string_view line) {
    const auto peak = header_value(line, "memory");
    if (const auto bytes = peak ? text::whole_number(*peak) : std::nullopt)
      builder_.facts().counters.push_back({"peak_rss", *bytes, "bytes"});
  }

  void read_row(std::string_view line) {
    const std::optional<FoldedLine> found = folded_line(line);
    if (!found) {
      if (!lines_.terminated() && builder_.row_count() > 0) {
        cut_ = lines_.line_offset();
        return;
      }
      text::fail_found("line not recognised", line, "ROOT;…;LEAF NUMBER", lines_.line_offset());
    }
    if (!lines_.terminated()) cut_ = lines_.line_offset();
    std::int64_t value = found->value;
    std::string_view stack = found->stack;
    if (const std::string_view sign = stack.substr(0, stack.find(';')); sign == kGrew || sign == kShrank) {
      take_frame(stack);
      builder_.facts().is_diff = true;
      builder_.facts().producer = "snapdiff";
      if (sign == kShrank) value = -value;
    }
    if (value < 0) builder_.facts().is_diff = true;
    LabelSetId labels{};
    if (text_.has_types) {
      const std::size_t leaf = stack.rfind(';') + 1;
      std::string_view type = stack.substr(leaf);
      if (const char mark = take_mark(type); mark == 'i' || mark == 'k') {
        labels = builder_.labels({text_label(builder_, "type", type)});
        stack = stack.substr(0, leaf == 0 ? 0 : leaf - 1);
      }
    }
    builder_.add_row(stack_of(stack), labels, std::span(&value, 1));
  }

  StackId stack_of(std::string_view stack) {
    if (!stack.empty() && stack.front() == '[' && stack.find(';') == std::string_view::npos)
      return builder_.pseudo_stack(stack);
    frames_.clear();
    while (!stack.empty()) {
      std::string_view frame = take_frame(stack);
      text::PrintedFrame printed;
      const char mark = take_mark(frame);
      printed.function = text_.is_java ? java_name(frame) : frame;
      if (text_.is_austin && !read_austin(frame, printed)) continue;
      if (text_.is_fil) take_fil(frame, printed);
      if (text_.is_heaptrack) take_heaptrack(frame, printed);
      frames_.push_back(text::frame_of(builder_, printed, mark == 'i' ? kFrameInlined : std::uint8_t{0}));
    }
    std::reverse(frames_.begin(), frames_.end());
    return builder_.stack(frames_);
  }

  /// "java/lang/Thread.run" as java.lang.Thread.run: the name in stack traces. Native frames have no slashes, or
  /// colons.
  std::string_view java_name(std::string_view frame) {
    if (frame.find_first_of(": (") != std::string_view::npos || frame.find('/') == 0) return frame;
    name_ = frame;
    std::replace(name_.begin(), name_.end(), '/', '.');
    return name_;
  }

  /// "P7" and "T0:7" are the process and the thread; else FILE:FUNCTION:LINE.
  bool read_austin(std::string_view frame, text::PrintedFrame& out) {
    if (frame.size() > 1 && frames_.empty() && (frame[0] == 'P' || frame[0] == 'T') && text::is_digit(frame[1])) {
      const std::optional<std::int64_t> pid = text::whole_number(frame.substr(1));
      if (frame[0] == 'P' && pid && !builder_.facts().pid) builder_.facts().pid = *pid;
      if (frame[0] == 'P' && pid != builder_.facts().pid)
        builder_.notes().add(Severity::info, "several processes in one file: their stacks are added");
      return false;
    }
    std::string_view text = frame;
    if (!text::take_line_number(text, out.line)) return true;
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos || colon == 0) return true;
    out.file = text.substr(0, colon);
    out.function = text.substr(colon + 1);
    return true;
  }

  Input& in_;
  text::LogLines lines_;
  SnapshotBuilder builder_;
  FoldedText text_;
  std::vector<FrameId> frames_;
  std::string name_;
  std::optional<std::uint64_t> cut_;
};

/// Only austin writes a signature. Repeated stacks, or one line alone, prove nothing; nor do many roots.
Match sniff_folded(std::string_view head) {
  const FoldedText text = look_at(head, head.size() < kSniffBytes);
  if (text.is_austin) return Match::certain;
  if (text.is_fil && text.lines > 1) return Match::certain;
  if (!text.is_folded) return Match::no;
  constexpr std::size_t kFewLines = 8;  // too few to count roots
  const bool shares_roots = text.lines < kFewLines || text.roots * 2 <= text.lines;
  return text.lines > 1 && text.repeats == 0 && shares_roots ? Match::certain : Match::possible;
}

}  // namespace

constexpr Format kFoldedStacks{
    .info =
        {"folded-stacks",
         "stacks with a number each: async-profiler, austin -m, fil, FlameGraph, heaptrack_print -F, export --folded",
         "*.folded, *.collapsed, *.austin, *.prof", "units, which most files do not say; threads of austin"},
    .sniff = sniff_folded,
    .decode = [](Input& in, SnapshotSink& out, const ReadRequest&) { give(out, FoldedReader(in).read()); }};

}  // namespace snapdiff::formats
