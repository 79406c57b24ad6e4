#include <algorithm>
#include <utility>

#include "analyzer/base/large_pages.hpp"
#include "analyzer/base/parallel.hpp"
#include "analyzer/diff/side.hpp"
#include "snapdiff/growth.hpp"

namespace snapdiff::diff {
namespace {

/// Stacks that show fewer frames than they have, with the identity of these.
using Shortened = std::vector<std::pair<std::size_t, Hash128>>;

/// In functions: a visitor that goes through accept() has two.
constexpr std::size_t kLongestCycle = 4;

/// Whether anything repeats in this stack; false for most.
bool may_recurse(std::span<const FrameId> frames) {
  static_assert(kLongestCycle == 4);
  std::size_t i = 0;
  for (; i + kLongestCycle < frames.size(); ++i) {
    const FrameId* const f = &frames[i];
    // Written out, this takes less than half of the time of a loop.
    if (f[0] == f[1] || f[0] == f[2] || f[0] == f[3] || f[0] == f[4]) return true;
  }
  for (; i < frames.size(); ++i) {
    if (std::find(frames.begin() + static_cast<std::ptrdiff_t>(i) + 1, frames.end(), frames[i]) != frames.end())
      return true;
  }
  return false;
}

/// The frame of `[unattributed]` in this dictionary is known by its text.
bool is_unattributed(const Dictionary& d, std::span<const FrameId> frames) {
  if (frames.size() != 1) return false;
  const std::size_t frame = index_of(frames.front());
  return (d.frames.flags[frame] & kFramePseudo) != 0 &&
         d.strings[d.functions.name[index_of(d.frames.function[frame])]] == kUnattributed;
}

Hash128 identity_of(const Dictionary& d, std::span<const FrameId> frames) {
  SequenceHasher hasher;
  for (const FrameId frame : frames) {
    if ((d.frames.flags[index_of(frame)] & kFrameDerived) == 0) hasher.add(d.frames.hash[index_of(frame)]);
  }
  return hasher.finish();
}

class Eye {
 public:
  Eye(SeenStacks& seen, Arena<FrameId>& arena, const Visibility& visibility, std::uint32_t dictionary, bool fold)
      : seen_(seen),
        arena_(arena),
        visibility_(visibility),
        d_(visibility.dictionary()),
        dictionary_(dictionary),
        fold_(fold) {}

  void look(std::size_t stack) {
    const std::span<const FrameId> all = d_.stacks.frames(StackId{static_cast<std::uint32_t>(stack)});
    seen_.frames[stack].dictionary = dictionary_;
    if (all.empty() || is_unattributed(d_, all)) {
      seen_.fate[stack] = Fate::unattributed;
      return;
    }
    std::span<const FrameId> frames = visibility_.kept(all, kept_);
    // Of the scratch memory, which the next stack overwrites.
    if (frames.data() == kept_.data()) frames = arena_.keep(frames);
    if (!visibility_.passes(frames)) {
      seen_.fate[stack] = Fate::filtered;
      return;
    }
    const std::span<const FrameId> visible = visibility_.visible(frames, scratch_);
    if (visible.empty()) {
      seen_.fate[stack] = Fate::filtered;
      return;
    }
    if (visible.size() != frames.size()) frames = arena_.keep(visible);
    if (const auto folded = fold_ ? without_recursion(frames, folded_) : frames; folded.size() != frames.size())
      frames = arena_.keep(folded);
    seen_.fate[stack] = Fate::visible;
    seen_.frames[stack].data = frames.data();
    seen_.frames[stack].size = static_cast<std::uint32_t>(frames.size());
    if (frames.size() != all.size()) shortened_.emplace_back(stack, identity_of(d_, frames));
  }
  Shortened take_shortened() { return std::move(shortened_); }

 private:
  SeenStacks& seen_;
  Arena<FrameId>& arena_;
  const Visibility& visibility_;
  const Dictionary& d_;
  std::uint32_t dictionary_;
  bool fold_;
  std::vector<FrameId> kept_, scratch_, folded_;
  Shortened shortened_;
};

}  // namespace

std::span<const FrameId> without_recursion(std::span<const FrameId> frames, std::vector<FrameId>& out) {
  if (!may_recurse(frames)) return frames;
  out.clear();
  for (const FrameId frame : frames) {
    out.push_back(frame);
    for (std::size_t cycle = 1; cycle <= std::min(kLongestCycle, out.size() / 2); ++cycle) {
      const auto again = out.end() - static_cast<std::ptrdiff_t>(cycle);
      if (!std::equal(again, out.end(), again - static_cast<std::ptrdiff_t>(cycle))) continue;
      out.erase(again, out.end());
      break;
    }
  }
  return out;
}

SeenStacks see_stacks(const Visibility& visibility, std::uint32_t dictionary, bool fold_recursion) {
  const StackTable& all = visibility.dictionary().stacks;
  SeenStacks seen;
  resize_on_all_cores(seen.fate, all.size());
  resize_on_all_cores(seen.frames, all.size());
  seen.of_all_frames = all.hash;
  seen.arenas.resize(blocks_of(all.size()));
  std::vector<Shortened> shortened(seen.arenas.size());
  for_each_block(all.size(), [&](std::size_t block, std::size_t begin, std::size_t end) {
    Eye eye(seen, seen.arenas[block], visibility, dictionary, fold_recursion);
    for (std::size_t stack = begin; stack < end; ++stack) eye.look(stack);
    shortened[block] = eye.take_shortened();
  });
  if (std::ranges::all_of(shortened, [](const Shortened& some) { return some.empty(); })) return seen;
  resize_on_all_cores(seen.of_shown_frames, all.size());
  for_each_block(all.size(), [&](std::size_t block, std::size_t begin, std::size_t end) {
    std::copy_n(all.hash.begin() + static_cast<std::ptrdiff_t>(begin), end - begin,
                seen.of_shown_frames.begin() + static_cast<std::ptrdiff_t>(begin));
    for (const auto& [stack, identity] : shortened[block]) seen.of_shown_frames[stack] = identity;
  });
  return seen;
}

}  // namespace snapdiff::diff
