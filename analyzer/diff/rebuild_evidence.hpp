#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/diff/build_match.hpp"
#include "snapdiff/hash.hpp"

namespace snapdiff::diff {

/// The frames of one side in the eyes of the coarser tiers. Vectors are per FrameId.
struct FrameIdentities {
  std::vector<Hash128> exact;       ///< T2, or T0/T1 where unsymbolized; never equal across builds there
  std::vector<Hash128> file;        ///< T3 where the function moved, else exact
  std::vector<Hash128> normalised;  ///< T4 where the function has another name there, else file
  std::vector<Hash128> function;    ///< of the normalised name; exact where unsymbolized
  std::vector<std::uint8_t> flags;
  static constexpr std::uint8_t kMoved = 1;    ///< its function's lines are all others on the other side
  static constexpr std::uint8_t kRenamed = 2;  ///< its function's name is not on the other side
  static constexpr std::uint8_t kMissing = 4;  ///< the other side has no such frame, and may be another build
  static constexpr std::uint8_t kInlined = 8;
};

/// What two sides tell of being different builds of one program (algorithms.md section 1). No
/// frame of a module that is known to be the same build is ever moved, renamed or missing.
struct RebuildEvidence {
  FrameIdentities before, after;
  bool rebuilt = false;  ///< a module differs, or a function moved
  bool any_moved = false;
  bool any_renamed = false;     ///< rebuilt, and a name of one side is, normalised, also one of the other
  bool inlines_differ = false;  ///< one side tells of inlined frames, the other never does
  std::vector<std::pair<std::string, std::string>> renamed;  ///< one to one: before, after

  bool any() const { return rebuilt || inlines_differ; }
};

/// `used_*`: flags per FrameId, which frames the side's stacks hold.
RebuildEvidence find_rebuild(const Side& before, const Side& after, const BuildFacts& facts_before,
                             const BuildFacts& facts_after, std::span<const std::uint8_t> used_before,
                             std::span<const std::uint8_t> used_after);

}  // namespace snapdiff::diff
