#include "analyzer/diff/rebuild/evidence.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analyzer/diff/hash_set.hpp"
#include "analyzer/diff/names.hpp"
#include "analyzer/diff/rebuild/changed_code.hpp"
#include "analyzer/diff/rebuild/code.hpp"

namespace snapdiff::diff::rebuild {
namespace {

constexpr std::size_t kFewStacks = 4;  // fewer may well be new and gone by chance
constexpr double kMuchLeft = 0.1;      // of the bytes of each side, where some names are on one side only
constexpr double kSomeLeft = 0.02;     // the same, where the code has changed
constexpr double kCommonNames = 0.4;   // of the names, normalised
constexpr double kOwnNames = 0.02;     // of the names: what a process does later it does with the functions that it has

/// Frames of a side, to be looked up from the other one: by number where both share a dictionary, else by content.
class FrameSet {
 public:
  FrameSet() = default;
  FrameSet(const Dictionary& d, std::size_t expected, bool shared) {
    if (shared) {
      numbers_.resize(d.frames.size());
    } else {
      hashes_ = HashSet(expected);
    }
  }
  void insert(const Dictionary& d, std::size_t frame) {
    if (numbers_.empty()) return hashes_.insert(d.frames.hash[frame]);
    numbers_[frame] = true;
  }
  bool contains(const Dictionary& d, std::size_t frame) const {
    return numbers_.empty() ? hashes_.contains(d.frames.hash[frame]) : numbers_[frame];
  }

 private:
  std::vector<bool> numbers_;
  HashSet hashes_;
};

/// One side while evidence is gathered.
struct Half {
  const Dictionary* d = nullptr;
  const UsedFrames* used = nullptr;
  std::vector<SameBuild> module;  ///< per module
  FrameSet frames;                ///< the used ones with a function
  bool may_differ = false;        ///< has named frames in code that is not known to be the same

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
               bool shared, bool& differs) {
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
  half.frames = FrameSet(d, used.size(), shared);
  half.for_each([&](std::size_t i) {
    half.may_differ = true;
    half.frames.insert(d, i);
  });
  return half;
}

/// Functions of one dictionary as numbers that mean the same on both sides: their own where the dictionary is shared.
class FunctionNumbers {
 public:
  explicit FunctionNumbers(bool shared) : shared_(shared) {}

  std::vector<std::uint32_t> of(const Dictionary& d) {
    std::vector<std::uint32_t> out(d.functions.size());
    for (std::uint32_t f = 0; f < out.size(); ++f) {
      out[f] = shared_ ? f : known_.try_emplace(key(d, f), static_cast<std::uint32_t>(known_.size())).first->second;
      size_ = std::max<std::size_t>(size_, out[f] + std::size_t{1});
    }
    return out;
  }
  std::size_t size() const { return size_; }

 private:
  static Hash128 key(const Dictionary& d, std::size_t function) {
    return hash_bytes(d.strings[d.functions.name[function]], hash_bytes(d.strings[d.functions.file[function]]).low);
  }

  bool shared_;
  std::unordered_map<Hash128, std::uint32_t> known_;
  std::size_t size_ = 0;
};

/// A function that both sides have, none of whose lines is on both.
bool any_moved(const Half& a, const Half& b) {
  FunctionNumbers numbers(a.d == b.d);
  const std::vector<std::uint32_t> before = numbers.of(*a.d);
  const std::vector<std::uint32_t> after = a.d == b.d ? before : numbers.of(*b.d);
  enum : std::uint8_t { kBefore = 1, kAfter = 2, kFixed = 4 };
  std::vector<std::uint8_t> seen(numbers.size());
  const auto gather = [&](const Half& half, const std::vector<std::uint32_t>& number, const Half& other,
                          std::uint8_t side) {
    half.for_each([&](std::size_t i) {
      const bool fixed = half.d->frames.line[i] == 0 || other.frames.contains(*half.d, i);
      seen[number[index_of(half.d->frames.function[i])]] |= fixed ? side | kFixed : side;
    });
  };
  gather(a, before, b, kBefore);
  gather(b, after, a, kAfter);
  return std::find(seen.begin(), seen.end(), kBefore | kAfter) != seen.end();
}

/// Names of a half, as bits per name: `bit` where it is used. `last`: only what is after the last qualifier.
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

Evidence is_rebuilt(const Side& before, const Side& after, const BuildFacts& facts_before,
                    const BuildFacts& facts_after, const UsedFrames& used_before, const UsedFrames& used_after,
                    const LeftOver& left) {
  if (left.before.empty() || left.after.empty()) return Evidence::none;
  const Snapshot& a = *before.ref.snapshot;
  const Snapshot& b = *after.ref.snapshot;
  const bool is_named = a.facts.pid && b.facts.pid;
  if ((from_one_file(a.facts, b.facts) || is_named) && other_process(a, b).empty()) return Evidence::none;
  bool differs = false;
  const bool shared = a.dictionary == b.dictionary;
  const Half first = read_half(a, used_before, facts_before, facts_after, shared, differs);
  const Half second = read_half(b, used_after, facts_after, facts_before, shared, differs);
  if (!first.may_differ && !second.may_differ) return Evidence::none;
  if (differs) return Evidence::module;
  if (!first.may_differ || !second.may_differ) return Evidence::none;
  if (any_moved(first, second)) return Evidence::lines;
  const bool few = left.before.size() < kFewStacks || left.after.size() < kFewStacks;
  const double share = std::min(left.share_before, left.share_after);
  if (few || share < kSomeLeft || common_share(first, second, true) < kCommonNames) return Evidence::none;
  if (share >= kMuchLeft && common_share(first, second, false) <= 1 - kOwnNames) return Evidence::names;
  const auto [code_before, code_after] = read_code(before, after);
  return is_other_code(code_before, code_after, left.before, left.after) ? Evidence::code : Evidence::none;
}

}  // namespace snapdiff::diff::rebuild
