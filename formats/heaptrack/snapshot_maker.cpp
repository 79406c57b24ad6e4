#include "formats/heaptrack/heap_recording.hpp"

#include <array>

#include "formats/input/type_row.hpp"

namespace snapdiff::formats::heaptrack {
namespace {

constexpr std::uint32_t kUnmade = std::numeric_limits<std::uint32_t>::max();
/// heaptrack itself records 64 pointers; a chain of traces in a made-up file may be as long as the file.
constexpr std::size_t kDeepestStack = std::size_t{1} << 16;
/// Frames that deep stacks may take together, whatever the file's size; beyond, a stack keeps kUsualStack of them at
/// its leaf, so that all stacks are in proportion to the traces that the file has.
constexpr std::size_t kDeepFrames = std::size_t{1} << 22;
constexpr std::size_t kUsualStack = 256;  // 64 pointers with 3 inlined frames each

/// Makes frames and stacks of one snapshot as they are needed.
class Stacks {
 public:
  Stacks(const Recording& recording, SnapshotBuilder& builder)
      : recording_(recording),
        builder_(builder),
        stack_of_(recording.traces.size(), kUnmade),
        first_frame_(recording.pointers.size(), kUnmade),
        frame_end_(recording.pointers.size(), 0) {}

  /// The stack of a trace, leaf first.
  StackId of(std::uint32_t trace) {
    if (stack_of_[trace] != kUnmade) return StackId{stack_of_[trace]};
    collect(trace);
    if (stack_.size() > kUsualStack) deep_frames_ += stack_.size();
    const StackId id = builder_.stack(stack_);
    stack_of_[trace] = static_cast<std::uint32_t>(id);
    return id;
  }

  /// The suppression that some name along the trace fits, or "".
  std::string_view suppression(std::uint32_t trace) {
    if (recording_.suppressions.empty()) return {};
    if (pattern_of_.empty()) match_names();
    return pattern_of_[trace];
  }

 private:
  void collect(std::uint32_t trace) {
    stack_.clear();
    const std::size_t deepest = deep_frames_ < kDeepFrames ? kDeepestStack : kUsualStack;
    for (; trace != 0; trace = recording_.traces[trace].parent) {
      const std::size_t pointer = recording_.traces[trace].pointer;
      if (first_frame_[pointer] == kUnmade) make_frames(pointer);
      // No more of what is inlined at one address than the stack keeps: every trace may go through that address.
      const std::size_t count =
          std::min<std::size_t>(frame_end_[pointer] - first_frame_[pointer], deepest + 1 - stack_.size());
      const auto first = frames_.begin() + first_frame_[pointer];
      stack_.insert(stack_.end(), first, first + static_cast<std::ptrdiff_t>(count));
      if (stack_.size() > deepest) {
        stack_.resize(deepest);
        stack_.push_back(builder_.pseudo_frame(kStackCut));
        builder_.notes().add(Severity::data_loss, "very deep stacks are cut at their root");
        break;
      }
    }
  }

  void make_frames(std::size_t pointer) {
    const Pointers& p = recording_.pointers;
    const StringTable& names = recording_.strings;
    first_frame_[pointer] = static_cast<std::uint32_t>(frames_.size());
    FrameSpec spec;
    spec.module = builder_.module(names[StringId{p.module[pointer]}], {});
    for (std::uint32_t row = p.first[pointer]; row < p.first[pointer + 1]; ++row) {
      const Position& at = p.position[row];
      const std::string_view function = names[StringId{at.function}];
      // The address is the process's own and of no use in another: the module alone says where this is.
      spec.function = FunctionId{};
      spec.line = 0;
      if (!function.empty()) {
        spec.function = builder_.function(function, names[StringId{at.file}]);
        spec.line = at.line;
      }
      spec.flags = row + 1 < p.first[pointer + 1] ? kFrameInlined : std::uint8_t{0};
      frames_.push_back(builder_.frame(spec));
    }
    if (p.first[pointer] == p.first[pointer + 1]) frames_.push_back(builder_.frame(spec));
    frame_end_[pointer] = static_cast<std::uint32_t>(frames_.size());
  }

  void match_names() {
    const Pointers& p = recording_.pointers;
    std::vector<std::string_view> of_name(recording_.strings.size());
    for (std::size_t s = 0; s < of_name.size(); ++s) {
      of_name[s] = recording_.suppressions.match(recording_.strings[StringId{static_cast<std::uint32_t>(s)}]);
    }
    std::vector<std::string_view> of_pointer(p.size());
    for (std::size_t i = 0; i < p.size(); ++i) {
      std::string_view& found = of_pointer[i];
      found = of_name[p.module[i]];
      for (std::uint32_t row = p.first[i]; found.empty() && row < p.first[i + 1]; ++row) {
        found = of_name[p.position[row].function];
        if (found.empty()) found = of_name[p.position[row].file];
      }
    }
    pattern_of_.resize(recording_.traces.size());
    for (std::size_t t = 1; t < pattern_of_.size(); ++t) {
      const std::string_view own = of_pointer[recording_.traces[t].pointer];
      pattern_of_[t] = own.empty() ? pattern_of_[recording_.traces[t].parent] : own;
    }
  }

  const Recording& recording_;
  SnapshotBuilder& builder_;
  std::vector<std::uint32_t> stack_of_;     // by trace
  std::vector<std::uint32_t> first_frame_;  // by pointer, in frames_
  std::vector<std::uint32_t> frame_end_;
  std::vector<FrameId> frames_;
  std::vector<FrameId> stack_;
  std::size_t deep_frames_ = 0;               // of stacks beyond kUsualStack, so far
  std::vector<std::string_view> pattern_of_;  // by trace
};

std::string time_text(std::uint64_t milliseconds) {
  return milliseconds % 1000 == 0 ? std::to_string(milliseconds / 1000) + " s" : std::to_string(milliseconds) + " ms";
}

void add_facts(const Recording& r, const SnapshotWish& wish, SnapshotBuilder& builder) {
  SnapshotFacts& facts = builder.facts() = r.facts;
  facts.command_line = r.command_line.value_or("");
  facts.sampling = Sampling::exact;
  facts.position = static_cast<std::uint32_t>(std::min<std::uint64_t>(wish.events, 0xfffffffeU) + 1);
  facts.format_detail = "version " + std::to_string(r.file_version) + (wish.is_peak ? ", at the peak" : "") +
                        ", after event " + std::to_string(wish.events) + " at " + time_text(wish.time_ms);
  if (r.attached) facts.notes.add(Severity::info, "recorded from a running process: what it held before is not there");
  facts.counters.push_back({"peak", r.peak_bytes, "bytes", false});
  facts.counters.push_back({"time", static_cast<std::int64_t>(wish.time_ms), "ms", true});
  // The resident size is that of the end of what was read; the peak may lie long before.
  if (r.rss_bytes && !wish.is_peak) facts.counters.push_back({"rss", *r.rss_bytes, "bytes", false});
  if (r.rss_peak_bytes) facts.counters.push_back({"rss_peak", *r.rss_peak_bytes, "bytes", false});
}

[[noreturn]] void sum_too_large() {
  fail(ErrorCode::limit, "bytes ever allocated are beyond 2^63-1, expected them to fit in 64 bits");
}

}  // namespace

Snapshot make_snapshot(const Recording& r, const SnapshotWish& wish) {
  SnapshotBuilder builder;
  add_facts(r, wish, builder);
  builder.add_heap_columns(wish.cumulative);
  if (wish.cumulative) builder.add_column({"temporary_objects", "count"});
  Stacks stacks(r, builder);
  std::int64_t suppressed_bytes = 0;
  for (const std::uint32_t row : r.used) {
    const Allocation& a = r.allocations[row];
    const std::int64_t live = wish.live ? (*wish.live)[row] : a.live;
    if (live == 0 && !wish.cumulative) continue;
    const StackId stack = stacks.of(r.trace_of[row]);
    LabelSetId labels{};
    if (const std::string_view pattern = stacks.suppression(r.trace_of[row]); !pattern.empty()) {
      labels = builder.labels({text_label(builder, "suppressed", pattern)});
      suppressed_bytes += live * a.size;
    }
    std::int64_t made_bytes = 0;
    if (wish.cumulative && __builtin_mul_overflow(a.made, a.size, &made_bytes)) sum_too_large();
    const std::array<std::int64_t, 5> values{live, live * a.size, a.made, made_bytes, a.temporary};
    builder.add_row(stack, labels, std::span(values).first(wish.cumulative ? 5 : 2));
  }
  if (!r.suppressions.empty()) {
    builder.facts().counters.push_back({"suppressed", suppressed_bytes, "bytes", false});
    builder.notes().add(
        Severity::info,
        "the program declares leaks harmless: their rows have the label suppressed and count as others");
  }
  return value_or_throw(builder.finish());
}

}  // namespace snapdiff::formats::heaptrack
