#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/diff/side.hpp"
#include "snapdiff/notes.hpp"

namespace snapdiff::diff {

/// What one snapshot says of the module with one base name: enough to say whether another
/// snapshot ran the same build of it (algorithms.md section 1, T0 and T1).
struct ModuleFacts {
  /// (size rounded up to 4 KiB, file offset) of its mappings
  using Range = std::pair<std::uint64_t, std::uint64_t>;
  std::set<Range> mappings;
  std::set<Range> code;  ///< those of the mappings that hold a frame
  std::set<std::string_view> build_ids;
  /// File offsets of its frames, sorted, with what is there: a hash of functions and lines, 0 where unsymbolized.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> offsets;
  bool unsymbolized = false;  ///< has frames without a name
};

/// The modules of one snapshot by base name, and which process it is of.
struct BuildFacts {
  std::map<std::string_view, ModuleFacts> modules;
};

enum class SameBuild : std::uint8_t { no, unknown, yes };

/// Frames that a side uses, ascending: all of a dictionary, or those of a list. Many snapshots may share one
/// dictionary, of which each uses little.
class UsedFrames {
 public:
  UsedFrames() = default;
  static UsedFrames all_of(const Dictionary& dictionary) { return UsedFrames(dictionary.frames.size(), {}); }
  /// Those in the visible stacks of the side.
  static UsedFrames of(const Side& side, const Dictionary& dictionary);

  std::size_t size() const { return all_ > 0 ? all_ : some_.size(); }
  std::size_t operator[](std::size_t i) const { return all_ > 0 ? i : some_[i]; }

 private:
  friend class UsedFramesInTurn;
  UsedFrames(std::size_t all, std::vector<std::uint32_t> some) : all_(all), some_(std::move(some)) {}

  std::size_t all_ = 0;  ///< frames of the dictionary where all are used; else 0
  std::vector<std::uint32_t> some_;
};

/// UsedFrames::of() for sides one after the other, which must outlive this: where the last one shares the dictionary,
/// only stacks that came or went are looked at.
class UsedFramesInTurn {
 public:
  UsedFrames of(const Side& side, const Dictionary& dictionary);

 private:
  void count(const Side& side, std::size_t entry, std::uint32_t by);

  const Side* last_ = nullptr;
  std::vector<std::uint32_t> uses_;  ///< per frame, by the stacks of `last_`
};

BuildFacts build_facts(const Snapshot& snapshot, const UsedFrames& used);

/// Whether the modules of this name are one build, as far as the two snapshots say. Mappings of equal size alone say
/// nothing: a release often has as many pages. The same code at the same offsets does; other code there, or hardly
/// an offset in common, is another build.
SameBuild same_build(const ModuleFacts& a, const ModuleFacts& b);

/// Whether both were read from the same bytes.
inline bool from_one_file(const SnapshotFacts& a, const SnapshotFacts& b) {
  return !a.source.sha256.empty() && a.source.sha256 == b.source.sha256;
}

/// Whether the two snapshots cannot be of one process: another pid, host or memory map.
/// `why` says so in words, "" when they may be.
std::string other_process(const Snapshot& a, const Snapshot& b);

/// Separates what looks alike: changes the identity of stacks with unsymbolized frames in
/// modules that are another build than in an earlier side (or, without a module, in another
/// process), and notes it.
void guard_identities(std::span<Side> sides, std::span<const BuildFacts> facts, Notes& notes);

}  // namespace snapdiff::diff
