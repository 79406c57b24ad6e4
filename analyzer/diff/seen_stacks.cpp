#include "analyzer/diff/seen_stacks.hpp"

#include <algorithm>

#include "analyzer/diff/recursion.hpp"
#include "snapdiff/growth.hpp"
#include "snapdiff/parallel.hpp"

namespace snapdiff::diff {
namespace {

constexpr std::size_t kBlock = 16 * 1024;  // stacks

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
    if (fold_ && may_recurse(frames)) {
      fold_recursion(frames, folded_);
      if (folded_.size() != frames.size()) frames = arena_.keep(folded_);
    }
    seen_.fate[stack] = Fate::visible;
    seen_.frames[stack].data = frames.data();
    seen_.frames[stack].size = static_cast<std::uint32_t>(frames.size());
    seen_.identity[stack] = frames.size() == all.size() ? d_.stacks.hash[stack] : identity_of(d_, frames);
  }

 private:
  SeenStacks& seen_;
  Arena<FrameId>& arena_;
  const Visibility& visibility_;
  const Dictionary& d_;
  std::uint32_t dictionary_;
  bool fold_;
  std::vector<FrameId> kept_, scratch_, folded_;
};

}  // namespace

SeenStacks see_stacks(const Visibility& visibility, std::uint32_t dictionary, bool fold_recursion) {
  const std::size_t stacks = visibility.dictionary().stacks.size();
  const std::size_t blocks = (stacks + kBlock - 1) / kBlock;
  SeenStacks seen;
  seen.fate.resize(stacks);
  seen.frames.resize(stacks);
  seen.identity.resize(stacks);
  seen.arenas.resize(blocks);
  for_each_parallel(blocks, stacks, [&](std::size_t block) {
    Eye eye(seen, seen.arenas[block], visibility, dictionary, fold_recursion);
    const std::size_t end = std::min(stacks, (block + 1) * kBlock);
    for (std::size_t stack = block * kBlock; stack < end; ++stack) eye.look(stack);
  });
  return seen;
}

}  // namespace snapdiff::diff
