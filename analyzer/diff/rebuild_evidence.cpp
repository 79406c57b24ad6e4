#include "analyzer/diff/rebuild_evidence.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "analyzer/diff/hash_set.hpp"
#include "analyzer/diff/names.hpp"

namespace snapdiff::diff {
namespace {

Hash128 combine(const Hash128& a, const Hash128& b, std::uint64_t kind) {
  SequenceHasher hasher;
  hasher.add({mix64(kind), mix64(~kind)});
  hasher.add(a);
  hasher.add(b);
  return hasher.finish();
}

/// One side while evidence is gathered.
struct Half {
  const Dictionary* d = nullptr;
  std::span<const std::uint8_t> used;
  std::vector<SameBuild> module;  ///< per module
  FrameIdentities* out = nullptr;
  std::uint64_t salt = 0;
  std::vector<Hash128> name;       ///< per function, where a used frame has it
  std::vector<Hash128> name_file;  ///< per function
  std::vector<std::uint8_t> function_used;
  HashSet frames;  ///< hashes of the used symbolized frames
  bool inlines = false;
};

void read_half(Half& half, bool other_process) {
  const Dictionary& d = *half.d;
  half.name.resize(d.functions.size());
  half.name_file.resize(d.functions.size());
  half.function_used.assign(d.functions.size(), 0);
  half.out->flags.assign(d.frames.size(), 0);
  half.out->exact = d.frames.hash;
  half.frames = HashSet(d.frames.size());
  for (std::size_t i = 0; i < d.frames.size(); ++i) {
    if (half.used[i] == 0) continue;
    const std::size_t function = index_of(d.frames.function[i]);
    const std::size_t module = index_of(d.frames.module[i]);
    if ((d.frames.flags[i] & kFrameInlined) != 0 && half.module[module] != SameBuild::yes) {
      half.out->flags[i] |= FrameIdentities::kInlined;
      half.inlines = true;
    }
    if (function == 0) {
      const bool elsewhere = module == 0 ? other_process : half.module[module] == SameBuild::no;
      if (elsewhere) half.out->exact[i] = combine(half.out->exact[i], {}, half.salt);
      continue;
    }
    half.frames.insert(d.frames.hash[i]);
    if (half.function_used[function] != 0) continue;
    half.function_used[function] = 1;
    half.name[function] = hash_bytes(d.strings[d.functions.name[function]]);
    half.name_file[function] = combine(half.name[function], hash_bytes(d.strings[d.functions.file[function]]), 3);
  }
}

struct FunctionEvidence {
  bool before = false, after = false;
  bool fixed = false;  ///< shares a line, has unknown lines, or lies in a module of the same build
};

template <class Body>
void each_symbolized(const Half& half, Body body) {
  const Dictionary& d = *half.d;
  for (std::size_t i = 0; i < d.frames.size(); ++i) {
    if (half.used[i] == 0 || d.frames.function[i] == FunctionId{} || (d.frames.flags[i] & kFramePseudo) != 0) continue;
    body(i, index_of(d.frames.function[i]), half.module[index_of(d.frames.module[i])] == SameBuild::yes);
  }
}

/// The functions of one normalised name.
struct Namesakes {
  std::string_view one;
  std::size_t count = 0;
};
using OwnNames = std::map<std::string, Namesakes>;

/// Names of functions that only this side has, in modules that may be another build, normalised.
OwnNames own_names(const Half& half, const HashSet& other_names) {
  OwnNames out;
  HashSet done;
  each_symbolized(half, [&](std::size_t, std::size_t function, bool same) {
    if (same || done.contains(half.name[function]) || other_names.contains(half.name[function])) return;
    done.insert(half.name[function]);
    const std::string_view name = half.d->strings[half.d->functions.name[function]];
    Namesakes& namesakes = out[normalise(name)];
    namesakes.one = name;
    ++namesakes.count;
  });
  return out;
}

HashSet names_of(const Half& half) {
  HashSet names;
  for (std::size_t f = 0; f < half.function_used.size(); ++f) {
    if (half.function_used[f] != 0) names.insert(half.name[f]);
  }
  return names;
}

void name_frames(Half& half, const Half& other, const std::unordered_map<Hash128, FunctionEvidence>& functions,
                 const HashSet& other_names, const OwnNames& renamed_there) {
  FrameIdentities& out = *half.out;
  out.file = out.exact;
  out.normalised = out.exact;
  out.function = out.exact;
  const Dictionary& d = *half.d;
  std::vector<Hash128> normalised(d.functions.size());
  std::vector<std::uint8_t> state(d.functions.size(), 0);  // 1 known, 2 renamed
  each_symbolized(half, [&](std::size_t i, std::size_t function, bool same) {
    if (state[function] == 0) {
      const std::string text = normalise(d.strings[d.functions.name[function]]);
      normalised[function] = hash_bytes(text, 4);
      const bool renamed = !other_names.contains(half.name[function]) && renamed_there.contains(text);
      state[function] = renamed ? 2 : 1;
    }
    out.function[i] = normalised[function];
    if (same) return;
    const auto evidence = functions.find(half.name_file[function]);
    const bool moved =
        evidence != functions.end() && evidence->second.before && evidence->second.after && !evidence->second.fixed;
    if (moved) {
      out.flags[i] |= FrameIdentities::kMoved;
      out.file[i] = half.name_file[function];
      out.normalised[i] = half.name_file[function];
    }
    if (state[function] == 2) {
      out.flags[i] |= FrameIdentities::kRenamed;
      out.normalised[i] = normalised[function];
    }
    if (!other.frames.contains(d.frames.hash[i])) out.flags[i] |= FrameIdentities::kMissing;
  });
}

}  // namespace

RebuildEvidence find_rebuild(const Side& before, const Side& after, const BuildFacts& facts_before,
                             const BuildFacts& facts_after, std::span<const std::uint8_t> used_before,
                             std::span<const std::uint8_t> used_after) {
  RebuildEvidence evidence;
  const Snapshot& a = *before.ref.snapshot;
  const Snapshot& b = *after.ref.snapshot;
  const bool different_process = !other_process(a, b).empty();
  const bool one_process = !different_process && a.facts.pid && b.facts.pid;

  Half first, second;
  const auto prepare = [&](Half& half, const Snapshot& snapshot, std::span<const std::uint8_t> used,
                           FrameIdentities& out, std::uint64_t salt) {
    half.d = snapshot.dictionary.get();
    half.used = used;
    half.out = &out;
    half.salt = salt;
    const Dictionary& d = *half.d;
    half.module.assign(d.modules.size(), one_process ? SameBuild::yes : SameBuild::unknown);
    for (std::size_t m = 1; m < d.modules.size() && !one_process; ++m) {
      const std::string_view name = base_name(d.strings[d.modules.name[m]]);
      const auto in_a = facts_before.modules.find(name);
      const auto in_b = facts_after.modules.find(name);
      if (in_a == facts_before.modules.end() || in_b == facts_after.modules.end()) continue;
      half.module[m] = same_build(in_a->second, in_b->second);
      if (half.module[m] == SameBuild::no) evidence.rebuilt = true;
    }
  };
  prepare(first, a, used_before, evidence.before, 11);
  prepare(second, b, used_after, evidence.after, 12);

  // Where all code is known to be the same there is nothing to find: the usual case.
  const auto may_differ = [](const Half& half) {
    const FrameTable& frames = half.d->frames;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const bool same = half.module[index_of(frames.module[i])] == SameBuild::yes;
      if (!same && half.used[i] != 0 && frames.function[i] != FunctionId{}) return true;
    }
    return false;
  };
  if (!evidence.rebuilt && !(may_differ(first) && may_differ(second))) return evidence;
  read_half(first, different_process);
  read_half(second, different_process);
  evidence.inlines_differ = first.inlines != second.inlines;

  std::unordered_map<Hash128, FunctionEvidence> functions;
  const auto gather = [&](const Half& half, const Half& other, bool FunctionEvidence::*seen) {
    each_symbolized(half, [&](std::size_t i, std::size_t function, bool same) {
      FunctionEvidence& of_function = functions[half.name_file[function]];
      of_function.*seen = true;
      if (same || half.d->frames.line[i] == 0 || other.frames.contains(half.d->frames.hash[i]))
        of_function.fixed = true;
    });
  };
  gather(first, second, &FunctionEvidence::before);
  gather(second, first, &FunctionEvidence::after);
  for (const auto& [hash, of_function] : functions) {
    evidence.any_moved = evidence.any_moved || (of_function.before && of_function.after && !of_function.fixed);
  }
  evidence.rebuilt = evidence.rebuilt || evidence.any_moved;
  if (!evidence.any()) return evidence;

  const HashSet all_before = names_of(first);
  const HashSet all_after = names_of(second);
  const OwnNames names_before = own_names(first, all_after);
  const OwnNames names_after = own_names(second, all_before);
  for (const auto& [normal, names] : names_before) {
    if (!evidence.rebuilt) break;  // one build may well hold f.func1 and f.func2
    const auto there = names_after.find(normal);
    if (there == names_after.end()) continue;
    evidence.any_renamed = true;
    if (names.count == 1 && there->second.count == 1) {
      evidence.renamed.emplace_back(std::string(names.one), std::string(there->second.one));
    }
  }
  name_frames(first, second, functions, all_after, names_after);
  name_frames(second, first, functions, all_before, names_before);
  return evidence;
}

}  // namespace snapdiff::diff
