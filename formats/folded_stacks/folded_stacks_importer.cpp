#include "formats/folded_stacks/folded_stacks_importer.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/snapshot_builder.hpp"
#include "formats/folded_stacks/folded_line.hpp"
#include "formats/input/read_failure.hpp"
#include "formats/input/type_row.hpp"
#include "formats/text/in_quotes.hpp"
#include "formats/text/log_lines.hpp"
#include "formats/text/printed_frame.hpp"
#include "formats/text/scan.hpp"

namespace snapdiff::formats {
namespace {

using namespace folded;

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
    const std::size_t slash = in_.name().find_last_of("/\\");
    const std::string_view name = std::string_view(in_.name()).substr(slash == std::string::npos ? 0 : slash + 1);
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
    .decode = [](Input& in, SnapshotSink& out, const ReadRequest&) { give(out, FoldedReader(in).read()); },
    .many = "distinct stacks"};

}  // namespace snapdiff::formats
