#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/diff/arena.hpp"
#include "analyzer/diff/visibility.hpp"
#include "snapdiff/hash.hpp"

namespace snapdiff::diff {

/// Frames of a stack that are visible, leaf first; points into a dictionary or an arena.
struct VisibleFrames {
  const FrameId* data = nullptr;
  std::uint32_t size = 0;
  std::uint32_t dictionary = 0;  ///< which one of the comparison
  std::span<const FrameId> frames() const { return {data, size}; }
};

enum class Fate : std::uint8_t { visible, unattributed, filtered };

/// What the filters leave of each stack of a dictionary. Each is looked at once, however many
/// snapshots hold it. All vectors by StackId; frames and identity mean something for visible ones.
struct SeenStacks {
  std::vector<Fate> fate;
  std::vector<VisibleFrames> frames;
  std::vector<Hash128> identity;       ///< of the visible frames
  std::vector<Arena<FrameId>> arenas;  ///< of frames where some in the middle of a stack are hidden
};

/// `dictionary` is its number in the comparison; with `fold_recursion` frames that repeat those
/// right before them are taken out.
SeenStacks see_stacks(const Visibility& visibility, std::uint32_t dictionary, bool fold_recursion);

/// Stacks that differ only in how deep they recurse are one stack to a reader: `frames` without runs of up to four that
/// repeat the run right before them, a b b b c -> a b c, a b c b c d -> a b c d. Valid as long as `frames` and
/// `scratch`.
std::span<const FrameId> without_recursion(std::span<const FrameId> frames, std::vector<FrameId>& scratch);

}  // namespace snapdiff::diff
