// What a report asks of a comparison later: the frames of its stacks, in words and in order.

#include <algorithm>
#include <iterator>
#include <limits>
#include <mutex>
#include <string>

#include "analyzer/diff/comparison.hpp"

namespace snapdiff::diff {

FrameView frame_view(const Dictionary& d, FrameId frame) {
  const std::size_t f = index_of(frame);
  const std::size_t function = index_of(d.frames.function[f]);
  const std::size_t module = index_of(d.frames.module[f]);
  FrameView view;
  view.function = d.strings[d.functions.name[function]];
  view.file = d.strings[d.functions.file[function]];
  view.module = d.strings[d.modules.name[module]];
  view.build_id = d.strings[d.modules.build_id[module]];
  view.offset = d.frames.offset[f];
  view.line = d.frames.line[f];
  view.inlined = (d.frames.flags[f] & kFrameInlined) != 0;
  view.pseudo = (d.frames.flags[f] & kFramePseudo) != 0;
  return view;
}

ComparisonView::ComparisonView(const Comparison& comparison)
    : dictionaries_(comparison.dictionaries),
      fold_recursion_(comparison.options.fold_recursion),
      shows_all_(comparison.options.frames == FrameSet::all),
      renamed_(comparison.renamed) {
  for (const Side& side : comparison.sides) dictionary_of_side_.push_back(side.dictionary);
  first_frame_.push_back(0);
  for (const auto& visibility : dictionaries_)
    first_frame_.push_back(first_frame_.back() + visibility->dictionary().frames.size());
}

const OwnFunctions& ComparisonView::functions() const {
  std::call_once(numbered_, [&] { functions_ = std::make_unique<const OwnFunctions>(dictionaries_, renamed_); });
  return *functions_;
}

ComparisonView::StackPlace ComparisonView::stack_of(StackRef ref) const {
  if (ref.side == 2) {
    const Between& between = between_[index_of(ref.stack)];
    return {dictionary_of_side_[between.side], between.stack};
  }
  return {ref.side == 0 ? dictionary_of_side_.front() : dictionary_of_side_.back(), ref.stack};
}

ComparisonView::Place ComparisonView::find(StackRef ref, std::vector<FrameId>& scratch) const {
  const auto [dictionary, stack] = stack_of(ref);
  const Visibility& visibility = *dictionaries_[dictionary];
  return {dictionary, visibility.kept(visibility.dictionary().stacks.frames(stack), scratch)};
}

void ComparisonView::own_path(StackRef ref, std::vector<std::uint32_t>& out) const {
  thread_local std::vector<FrameId> scratch;
  const Place place = find(ref, scratch);
  functions().path(place.dictionary, place.frames, out);
}

StackRef ComparisonView::refer(StackId stack, std::uint32_t side) {
  if (side + 1 == dictionary_of_side_.size()) return {stack, 1};
  if (side == 0) return {stack, 0};
  between_.push_back({stack, side});
  return {StackId{static_cast<std::uint32_t>(between_.size() - 1)}, 2};
}

namespace {

/// Text of the frames of one stack: a file that names long functions once may have them at each of its many frames.
/// In bytes: a stack of 200 000 frames with short names fits.
constexpr std::size_t kMostStackText = std::size_t{4} << 20;

std::size_t text_of(const FrameView& frame) { return frame.function.size() + frame.file.size() + frame.module.size(); }

/// Own code above an event loop, below which there is none, only started the program: the stack is the libraries'.
void fold_start(const Visibility& visibility, std::span<const FrameId> frames, std::vector<FrameView>& out) {
  const auto is_loop = [&](FrameId frame) { return visibility.kind(frame) == FrameKind::loop; };
  const auto loop = std::find_if(frames.begin(), frames.end(), is_loop);
  if (loop == frames.end()) return;
  const auto begin = out.begin() + (loop - frames.begin());
  if (std::any_of(out.begin(), begin, [](const FrameView& frame) { return !frame.library; })) return;
  for (auto frame = begin; frame != out.end(); ++frame) frame->library = true;
}

}  // namespace

void ComparisonView::leave_frames_out(std::vector<FrameView>& frames) const {
  std::size_t text = 0;
  for (const FrameView& frame : frames) text += text_of(frame);
  if (text <= kMostStackText) return;
  // As much at both ends.
  const auto fits = [](auto first, auto last) {
    std::size_t used = 0;
    while (first != last && used + text_of(*first) <= kMostStackText / 2) used += text_of(*first++);
    return first;
  };
  const auto begin = fits(frames.begin(), frames.end());
  const auto end = fits(frames.rbegin(), std::make_reverse_iterator(begin)).base();
  if (begin == end) return;
  FrameView instead;
  instead.pseudo = true;
  const auto count = static_cast<std::size_t>(end - begin);
  {
    const std::lock_guard lock(left_out_guard_);
    std::string& name = left_out_[count];
    if (name.empty()) name = "[" + std::to_string(count) + " frames left out]";
    instead.function = name;
  }
  *begin = instead;
  frames.erase(begin + 1, end);
}

FrameView ComparisonView::shown(const Visibility& visibility, FrameId frame) const {
  FrameView view = frame_view(visibility.dictionary(), frame);
  // Who asks for all frames gets library frames as any other.
  view.library = !shows_all_ && visibility.is_library(frame);
  return view;
}

std::span<const FrameId> ComparisonView::shown(const Place& place, std::vector<FrameId>& scratch,
                                               std::vector<FrameId>& folded) const {
  const std::span<const FrameId> visible = dictionaries_[place.dictionary]->visible(place.frames, scratch);
  return fold_recursion_ ? without_recursion(visible, folded) : visible;
}

void ComparisonView::measure() const {
  std::call_once(measured_, [&] {
    for (const auto& visibility : dictionaries_) {
      const Dictionary& d = visibility->dictionary();
      std::size_t function = 0, module = 0;
      for (std::size_t i = 0; i < d.functions.size(); ++i)
        function = std::max(function, d.strings[d.functions.name[i]].size() + d.strings[d.functions.file[i]].size());
      for (const StringId name : d.modules.name) module = std::max(module, d.strings[name].size());
      longest_text_ = std::max(longest_text_, function + module);
      for (std::uint32_t i = 0; i < d.frames.size(); ++i) has_loops_ |= visibility->kind(FrameId{i}) == FrameKind::loop;
    }
  });
}

bool ComparisonView::add_numbers(StackRef ref, std::vector<std::uint32_t>& out) const {
  thread_local std::vector<FrameId> kept, hidden, folded;
  const Place place = find(ref, kept);
  const std::span<const FrameId> visible = shown(place, hidden, folded);
  if (visible.size() * longest_text_ > kMostStackText) return false;
  if (has_loops_ && !shows_all_) {
    const Visibility& visibility = *dictionaries_[place.dictionary];
    const auto is_loop = [&](FrameId frame) { return visibility.kind(frame) == FrameKind::loop; };
    if (std::any_of(visible.begin(), visible.end(), is_loop)) return false;
  }
  const auto first = static_cast<std::uint32_t>(first_frame_[place.dictionary]);
  const std::size_t before = out.size();
  out.resize(before + visible.size());
  std::transform(visible.begin(), visible.end(), out.begin() + static_cast<std::ptrdiff_t>(before),
                 [first](FrameId frame) { return first + static_cast<std::uint32_t>(index_of(frame)); });
  return true;
}

void ComparisonView::frame_numbers(std::span<const StackRef> stacks, std::vector<std::uint32_t>& out,
                                   std::vector<std::uint32_t>& lengths) const {
  out.clear();
  lengths.clear();
  measure();
  const bool is_numbered = frame_count() <= std::numeric_limits<std::uint32_t>::max();
  const auto table = [&](const StackPlace& place) -> const StackTable& {
    return dictionaries_[place.dictionary]->dictionary().stacks;
  };
  // The processor waits for many stacks at once.
  for (const StackRef ref : stacks) {
    const StackPlace place = stack_of(ref);
    __builtin_prefetch(&table(place).begin[index_of(place.stack)]);
  }
  constexpr std::size_t kLine = 64 / sizeof(FrameId);
  for (const StackRef ref : stacks) {
    const StackPlace place = stack_of(ref);
    const std::span<const FrameId> frames = table(place).frames(place.stack);
    for (std::size_t i = 0; i < std::min(frames.size(), 4 * kLine); i += kLine) __builtin_prefetch(&frames[i]);
  }
  for (const StackRef ref : stacks) {
    const std::size_t before = out.size();
    const bool is_added = is_numbered && add_numbers(ref, out);
    lengths.push_back(is_added ? static_cast<std::uint32_t>(out.size() - before) : kDependent);
  }
}

FrameView ComparisonView::frame(std::uint32_t number) const {
  const auto after = std::upper_bound(first_frame_.begin(), first_frame_.end(), std::size_t{number});
  const auto dictionary = static_cast<std::size_t>(after - first_frame_.begin()) - 1;
  return shown(*dictionaries_[dictionary], FrameId{static_cast<std::uint32_t>(number - first_frame_[dictionary])});
}

void ComparisonView::frames(StackRef ref, std::vector<FrameView>& out) const {
  out.clear();
  std::vector<FrameId> scratch;
  const Place place = find(ref, scratch);
  const Visibility& visibility = *dictionaries_[place.dictionary];
  std::vector<FrameId> hidden, folded;
  const std::span<const FrameId> visible = shown(place, hidden, folded);
  for (const FrameId frame : visible) out.push_back(shown(visibility, frame));
  if (!shows_all_) fold_start(visibility, visible, out);
  leave_frames_out(out);
}

}  // namespace snapdiff::diff
