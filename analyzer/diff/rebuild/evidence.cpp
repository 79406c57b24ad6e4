#include "analyzer/diff/rebuild/evidence.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analyzer/diff/hash_set.hpp"
#include "analyzer/diff/names.hpp"
#include "analyzer/diff/rebuild/changed_code.hpp"
#include "analyzer/diff/rebuild/code.hpp"
#include "analyzer/diff/rebuild/moved_lines.hpp"

namespace snapdiff::diff::rebuild {
namespace {

constexpr std::size_t kFewStacks = 4;  // fewer may well be new and gone by chance
constexpr double kMuchLeft = 0.1;      // of the bytes of each side, where some names are on one side only
constexpr double kSomeLeft = 0.02;     // the same, where the code has changed
constexpr double kCommonNames = 0.4;   // of the names, normalised
constexpr double kOwnNames = 0.02;     // of the names: what a process does later it does with the functions that it has

/// One side while evidence is gathered.
struct Half {
  const Dictionary* d = nullptr;
  const UsedFrames* used = nullptr;
  std::vector<SameBuild> module;  ///< per module
  HashSet frames;                 ///< of the used frames with a function
  bool inlines = false;
  bool may_differ = false;  ///< has named frames in code that is not known to be the same

  /// visit(frame) for each that counts: used, named, and in code that is not known to be the same.
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::size_t k = 0; k < used->size(); ++k) {
      const std::size_t frame = (*used)[k];
      if (d->frames.function[frame] != FunctionId{} && (d->frames.flags[frame] & kFramePseudo) == 0 &&
          module[index_of(d->frames.module[frame])] != SameBuild::yes)
        visit(frame);
    }
  }
};

Half read_half(const Snapshot& snapshot, const UsedFrames& used, const BuildFacts& own, const BuildFacts& other,
               bool& differs) {
  Half half;
  half.d = snapshot.dictionary.get();
  half.used = &used;
  const Dictionary& d = *half.d;
  half.module.assign(d.modules.size(), SameBuild::unknown);
  for (std::size_t m = 1; m < d.modules.size(); ++m) {
    const std::string_view name = base_name(d.strings[d.modules.name[m]]);
    const auto here = own.modules.find(name);
    const auto there = other.modules.find(name);
    if (here == own.modules.end() || there == other.modules.end()) continue;
    half.module[m] = same_build(here->second, there->second);
    differs = differs || half.module[m] == SameBuild::no;
  }
  half.frames = HashSet(used.size());
  half.for_each([&](std::size_t i) {
    half.may_differ = true;
    half.frames.insert(d.frames.hash[i]);
    half.inlines = half.inlines || (d.frames.flags[i] & kFrameInlined) != 0;
  });
  return half;
}

Hash128 function_key(const Dictionary& d, std::size_t frame) {
  const std::size_t f = index_of(d.frames.function[frame]);
  return hash_bytes(d.strings[d.functions.name[f]], hash_bytes(d.strings[d.functions.file[f]]).low);
}

/// A function that both sides have, none of whose lines is on both.
bool any_moved(const Half& a, const Half& b) {
  struct Seen {
    bool before = false, after = false, fixed = false;
  };
  std::unordered_map<Hash128, Seen> functions;
  const auto gather = [&](const Half& half, const Half& other, bool Seen::*seen) {
    half.for_each([&](std::size_t i) {
      Seen& of_function = functions[function_key(*half.d, i)];
      of_function.*seen = true;
      if (half.d->frames.line[i] == 0 || other.frames.contains(half.d->frames.hash[i])) of_function.fixed = true;
    });
  };
  gather(a, b, &Seen::before);
  gather(b, a, &Seen::after);
  return std::any_of(functions.begin(), functions.end(),
                     [](const auto& one) { return one.second.before && one.second.after && !one.second.fixed; });
}

/// Names of a half, as bits per name: `bit` where it is used. `last`: only what stands after the last qualifier.
void gather_names(const Half& half, bool last, int bit, std::unordered_map<std::string, int>& names) {
  std::unordered_set<std::size_t> seen;
  half.for_each([&](std::size_t i) {
    const std::size_t f = index_of(half.d->frames.function[i]);
    if (!seen.insert(f).second) return;
    std::string name = normalise(half.d->strings[half.d->functions.name[f]]);
    // Where names say file and line, the file counts.
    const std::size_t colon = name.rfind(':');
    if (last && colon != std::string::npos && name.ends_with(":" + std::to_string(half.d->frames.line[i])))
      name.resize(colon);
    names[last ? last_parts_of(base_name(name), 1) : name] |= bit;
  });
}

/// Share of the names that both halves use.
double common_share(const Half& a, const Half& b, bool last) {
  std::unordered_map<std::string, int> names;
  gather_names(a, last, 1, names);
  gather_names(b, last, 2, names);
  const auto both = std::count_if(names.begin(), names.end(), [](const auto& one) { return one.second == 3; });
  return names.empty() ? 0 : static_cast<double>(both) / static_cast<double>(names.size());
}

}  // namespace

bool is_rebuilt(const Side& before, const Side& after, const BuildFacts& facts_before, const BuildFacts& facts_after,
                const UsedFrames& used_before, const UsedFrames& used_after, const LeftOver& left,
                const std::function<Resized()>& resized) {
  if (left.before.empty() || left.after.empty()) return false;
  const Snapshot& a = *before.ref.snapshot;
  const Snapshot& b = *after.ref.snapshot;
  if (a.facts.pid && b.facts.pid && other_process(a, b).empty()) return false;
  bool differs = false;
  const Half first = read_half(a, used_before, facts_before, facts_after, differs);
  const Half second = read_half(b, used_after, facts_after, facts_before, differs);
  if (!first.may_differ || !second.may_differ) return differs && (first.may_differ || second.may_differ);
  if (differs || first.inlines != second.inlines || any_moved(first, second)) return true;
  if (left.before.size() < kFewStacks || left.after.size() < kFewStacks) return false;
  const double share = std::min(left.share_before, left.share_after);
  if (share < kSomeLeft || common_share(first, second, true) < kCommonNames) return false;
  if (share >= kMuchLeft && common_share(first, second, false) <= 1 - kOwnNames) return true;
  const Code code_before(before), code_after(after);
  if (is_other_code(code_before, code_after, left.before, left.after)) return true;
  if (differ_by_a_line(code_before, code_after, left.before, left.after)) return true;
  Resized all = resized();
  all.before.insert(all.before.end(), left.before.begin(), left.before.end());
  all.after.insert(all.after.end(), left.after.begin(), left.after.end());
  return differ_by_a_line(code_before, code_after, all.before, all.after);
}

}  // namespace snapdiff::diff::rebuild
