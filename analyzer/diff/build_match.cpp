#include "analyzer/diff/build_match.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>

#include "analyzer/base/large_pages.hpp"
#include "analyzer/base/parallel.hpp"

namespace snapdiff::diff {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::size_t kEnoughOffsets = 8;  // fewer may miss each other by chance
constexpr std::size_t kHardlyAny = 5;      // less than a fifth of the offsets are on both sides
constexpr std::size_t kFewMisses = 20;     // runtimes lie before the program: much stays at its offset in another build
constexpr std::size_t kFewOthers = 10;     // a tenth of the common offsets holds other code

std::uint64_t round_up(std::uint64_t size) {
  return size > ~std::uint64_t{0} - kPage ? ~std::uint64_t{0} : (size + kPage - 1) / kPage * kPage;
}

bool all_in(const std::set<ModuleFacts::Range>& some, const std::set<ModuleFacts::Range>& all) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

bool share_one(const std::set<std::string_view>& a, const std::set<std::string_view>& b) {
  return std::any_of(a.begin(), a.end(), [&](std::string_view id) { return b.contains(id); });
}

/// Frames distinguished by address: those without a name, and those named after the import.
bool hashed_by_address(const Dictionary& d, std::size_t frame) {
  if ((d.frames.flags[frame] & kFramePseudo) != 0) return false;
  if (d.frames.function[frame] == FunctionId{}) return true;
  const FrameId id{static_cast<std::uint32_t>(frame)};
  return d.frames.offset[frame] != kNoOffset && d.frames.hash[frame] == address_hash(d, id);
}

/// What is at the offset of a frame, other than 0; 0 where nothing is known.
std::uint64_t code_of(const Dictionary& d, std::size_t frame) {
  const std::size_t f = index_of(d.frames.function[frame]);
  if (f == 0) return 0;
  const Hash128 file = hash_bytes(d.strings[d.functions.file[f]], static_cast<std::uint32_t>(d.frames.line[frame]));
  return hash_bytes(d.strings[d.functions.name[f]], file.low).low | 1U;
}

/// Sorts, and makes one of the frames that are inlined at one offset.
void add_up(std::vector<std::pair<std::uint64_t, std::uint64_t>>& offsets) {
  std::sort(offsets.begin(), offsets.end());
  std::size_t kept = 0;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    if (kept > 0 && offsets[kept - 1].first == offsets[i].first) {
      if (offsets[i].second != offsets[i - 1].second) offsets[kept - 1].second += offsets[i].second;
    } else {
      offsets[kept++] = offsets[i];
    }
  }
  offsets.resize(kept);
}

/// Of the code that both sides have, how much lies at other offsets alone: it moved.
bool code_moved(std::vector<std::pair<std::uint64_t, std::uint64_t>> a,
                std::vector<std::pair<std::uint64_t, std::uint64_t>> b) {
  for (auto* side : {&a, &b}) {
    for (auto& [offset, code] : *side) std::swap(offset, code);
    std::sort(side->begin(), side->end());
  }
  std::size_t shared = 0, moved = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i].first != b[j].first || a[i].first == 0) {
      a[i].first <= b[j].first ? ++i : ++j;
      continue;
    }
    const std::uint64_t code = a[i].first;
    bool meets = false;
    while (i < a.size() && j < b.size() && a[i].first == code && b[j].first == code) {
      meets = meets || a[i].second == b[j].second;
      a[i].second < b[j].second ? ++i : ++j;
    }
    while (i < a.size() && a[i].first == code) ++i;
    while (j < b.size() && b[j].first == code) ++j;
    ++shared;
    if (!meets) ++moved;
  }
  return moved > 0 && moved * kFewOthers >= shared;
}

struct Hits {
  std::size_t less = 0;  ///< offsets of the side that has fewer
  std::size_t common = 0;
  std::size_t other_code = 0;  ///< of the common ones
};

Hits count_hits(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& a,
                const std::vector<std::pair<std::uint64_t, std::uint64_t>>& b) {
  Hits hits;
  hits.less = std::min(a.size(), b.size());
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i].first != b[j].first) {
      a[i].first < b[j].first ? ++i : ++j;
      continue;
    }
    ++hits.common;
    if (a[i].second != 0 && b[j].second != 0 && a[i].second != b[j].second) ++hits.other_code;
    ++i;
    ++j;
  }
  return hits;
}

void salt_identities(Side& side, const std::vector<std::uint32_t>& class_of_module, std::uint32_t process_class) {
  const Dictionary& d = *side.ref.snapshot->dictionary;
  std::vector<std::uint64_t> salt(d.frames.size(), 0);
  for (std::size_t i = 0; i < salt.size(); ++i) {
    const std::size_t module = index_of(d.frames.module[i]);
    const std::uint32_t group = module == 0 ? process_class : class_of_module[module];
    if (group != 0 && hashed_by_address(d, i)) salt[i] = mix64(group * 0x9e3779b97f4a7c15ULL + module);
  }
  std::vector<Hash128> salted(side.stack.size());
  for (std::size_t entry = 0; entry < salted.size(); ++entry) {
    salted[entry] = side.identity(entry);
    std::uint64_t sum = 0;
    for (const FrameId frame : side.frames(entry).frames()) sum += salt[index_of(frame)];
    if (sum == 0) continue;
    salted[entry].high ^= mix64(sum);
    salted[entry].low ^= mix64(sum + 1);
  }
  side.salted = std::move(salted);
}

}  // namespace

namespace {

/// Frames of a side that shows few, ascending: to look through all of the dictionary would take longer.
std::optional<std::vector<std::uint32_t>> list_few(const Side& side, const Dictionary& dictionary) {
  std::size_t frames = 0;
  for (std::size_t entry = 0; entry < side.stack.size(); ++entry) frames += side.frames(entry).size;
  if (frames >= dictionary.frames.size() / 8) return std::nullopt;
  std::vector<std::uint32_t> some;
  some.reserve(frames);
  for (std::size_t entry = 0; entry < side.stack.size(); ++entry) {
    for (const FrameId frame : side.frames(entry).frames()) some.push_back(static_cast<std::uint32_t>(index_of(frame)));
  }
  std::sort(some.begin(), some.end());
  some.erase(std::unique(some.begin(), some.end()), some.end());
  return some;
}

/// Numbers of the frames whose count is not 0.
template <class Counts>
std::vector<std::uint32_t> numbers_of(const Counts& counts) {
  std::vector<std::uint32_t> some;
  some.reserve(counts.size() - static_cast<std::size_t>(std::count(counts.begin(), counts.end(), 0)));
  for (std::uint32_t frame = 0; frame < counts.size(); ++frame) {
    if (counts[frame] != 0) some.push_back(frame);
  }
  return some;
}

}  // namespace

UsedFrames UsedFrames::of(const Side& side, const Dictionary& dictionary) {
  if (auto few = list_few(side, dictionary)) return {0, *std::move(few)};
  LargeColumn<std::uint8_t> used;
  resize_on_all_cores(used, dictionary.frames.size());
  for_each_block(side.stack.size(), [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t entry = begin; entry < end; ++entry) {
      for (const FrameId frame : side.frames(entry).frames()) {
        const std::atomic_ref<std::uint8_t> mark(used[index_of(frame)]);
        if (mark.load(std::memory_order_relaxed) == 0) mark.store(1, std::memory_order_relaxed);
      }
    }
  });
  return {0, numbers_of(used)};
}

UsedFrames UsedFramesInTurn::of(const Side& side, const Dictionary& dictionary) {
  if (auto few = list_few(side, dictionary)) {
    last_ = nullptr;
    return {0, *std::move(few)};
  }
  constexpr std::uint32_t kOneLess = 0xffffffff;
  const SideColumn<StackId> none;
  const bool goes_on = last_ != nullptr && last_->seen == side.seen;
  const SideColumn<StackId>& before = goes_on ? last_->stack : none;
  if (!goes_on) uses_.assign(dictionary.frames.size(), 0);
  std::size_t i = 0;
  for (std::size_t j = 0; j < side.stack.size() || i < before.size();) {  // both ascend
    if (i == before.size() || (j < side.stack.size() && side.stack[j] < before[i])) {
      count(side, j++, 1);
    } else if (j == side.stack.size() || before[i] < side.stack[j]) {
      count(*last_, i++, kOneLess);
    } else {
      ++i, ++j;
    }
  }
  last_ = &side;
  return {0, numbers_of(uses_)};
}

void UsedFramesInTurn::count(const Side& side, std::size_t entry, std::uint32_t by) {
  for (const FrameId frame : side.frames(entry).frames()) uses_[index_of(frame)] += by;
}

namespace {

/// What build_facts() knows of a row of the module table.
struct OfModule {
  ModuleFacts* facts = nullptr;
  bool has_build_id = false;
  bool is_used = false;     ///< by a frame
  bool is_foreign = false;  ///< not mapped here, where another module of this name is
  std::vector<const Mapping*> mappings;
  const Mapping* last = nullptr;  ///< the one that held the last frame
};

class BuildReader {
 public:
  explicit BuildReader(const Snapshot& snapshot) : d_(*snapshot.dictionary), modules_(d_.modules.size()) {
    for (const Mapping& mapping : snapshot.mappings) {
      if (mapping.module == ModuleId{} || mapping.limit < mapping.start) continue;
      OfModule& module = of(index_of(mapping.module));
      module.facts->mappings.insert({round_up(mapping.limit - mapping.start), mapping.offset});
      if (module.mappings.empty()) mapped_[module.facts].push_back(index_of(mapping.module));
      module.mappings.push_back(&mapping);
    }
  }

  void read(std::size_t frame) {
    const std::size_t module = index_of(d_.frames.module[frame]);
    if (module == 0) return;
    OfModule& known = of(module);
    if (!known.is_used) use(module, known);
    if (d_.frames.function[frame] == FunctionId{}) known.facts->unsymbolized = true;
    const std::uint64_t offset = d_.frames.offset[frame];
    if (offset == kNoOffset || (known.is_foreign && !hashed_by_address(d_, frame))) return;
    if (!known.has_build_id) known.facts->offsets.emplace_back(offset, code_of(d_, frame));
    const auto holds = [offset](const Mapping* mapping) {
      return offset >= mapping->offset && offset - mapping->offset < mapping->limit - mapping->start;
    };
    // Data mappings overlap the last page of code in the file, but lie behind it in memory.
    const auto mapping = std::find_if(known.mappings.begin(), known.mappings.end(), holds);
    if (mapping == known.mappings.end() || *mapping == known.last) return;
    known.last = *mapping;
    known.facts->code.insert({round_up((*mapping)->limit - (*mapping)->start), (*mapping)->offset});
  }

  BuildFacts finish() {
    for (auto& [name, of_module] : facts_.modules) add_up(of_module.offsets);
    return std::move(facts_);
  }

 private:
  OfModule& of(std::size_t module) {
    OfModule& known = modules_[module];
    if (known.facts != nullptr) return known;
    known.facts = &facts_.modules[base_name(d_.strings[d_.modules.name[module]])];
    known.has_build_id = !build_id(module).empty();
    return known;
  }
  std::string_view build_id(std::size_t module) const { return d_.strings[d_.modules.build_id[module]]; }

  /// A frame that is named at import is the same in all builds. Where snapshots share a dictionary, it keeps the module
  /// and the offset of the build that came first: this snapshot's own build is then what it maps under that name.
  void use(std::size_t module, OfModule& known) {
    known.is_used = true;
    const auto mapped = mapped_.find(known.facts);
    known.is_foreign = known.mappings.empty() && mapped != mapped_.end();
    if (!known.is_foreign) {
      if (known.has_build_id) known.facts->build_ids.insert(build_id(module));
      return;
    }
    for (const std::size_t own : mapped->second) {
      if (!build_id(own).empty()) known.facts->build_ids.insert(build_id(own));
    }
  }

  const Dictionary& d_;
  BuildFacts facts_;
  std::vector<OfModule> modules_;
  std::map<const ModuleFacts*, std::vector<std::size_t>> mapped_;
};

}  // namespace

BuildFacts build_facts(const Snapshot& snapshot, const UsedFrames& used) {
  BuildReader reader(snapshot);
  for (std::size_t k = 0; k < used.size(); ++k) reader.read(used[k]);
  return reader.finish();
}

SameBuild same_build(const ModuleFacts& a, const ModuleFacts& b) {
  if (!a.build_ids.empty() && !b.build_ids.empty()) {
    return share_one(a.build_ids, b.build_ids) ? SameBuild::yes : SameBuild::no;
  }
  const Hits hits = count_hits(a.offsets, b.offsets);
  if (hits.other_code > 0 && hits.other_code * kFewOthers >= hits.common) return SameBuild::no;
  if (code_moved(a.offsets, b.offsets)) return SameBuild::no;
  if (hits.less >= kEnoughOffsets && hits.common * kHardlyAny < hits.less) return SameBuild::no;
  if (a.mappings.empty() || b.mappings.empty() || (a.code.empty() && b.code.empty())) return SameBuild::unknown;
  if (!all_in(a.code, b.mappings) || !all_in(b.code, a.mappings)) return SameBuild::no;
  // A small change leaves the most where it was: the rest of the evidence decides.
  if (hits.other_code > 0) return SameBuild::unknown;
  const bool nearly_all = hits.common > 0 && (hits.less - hits.common) * kFewMisses <= hits.less;
  return nearly_all ? SameBuild::yes : SameBuild::unknown;
}

std::string other_process(const Snapshot& a, const Snapshot& b) {
  if (a.facts.pid && b.facts.pid && *a.facts.pid != *b.facts.pid)
    return "process id " + std::to_string(*a.facts.pid) + ", then " + std::to_string(*b.facts.pid);
  if (!a.facts.host.empty() && !b.facts.host.empty() && a.facts.host != b.facts.host)
    return "host " + a.facts.host + ", then " + b.facts.host;
  // (name, offset, size) -> start, of modules that are mapped once so
  const auto starts = [](const Snapshot& snapshot) {
    const Dictionary& d = *snapshot.dictionary;
    std::map<std::pair<std::string_view, ModuleFacts::Range>, std::set<std::uint64_t>> out;
    for (const Mapping& m : snapshot.mappings) {
      const std::string_view name = d.strings[d.modules.name[index_of(m.module)]];
      if (!name.empty() && name.front() != '[' && m.start != 0)
        out[{name, {round_up(m.limit - m.start), m.offset}}].insert(m.start);
    }
    return out;
  };
  const auto in_a = starts(a);
  for (const auto& [key, in_b] : starts(b)) {
    const auto found = in_a.find(key);
    if (found != in_a.end() && found->second.size() == 1 && in_b.size() == 1 && found->second != in_b)
      return "different process: " + std::string(base_name(key.first)) + " moved";
  }
  return {};
}

namespace {

/// Numbers the processes that snapshots may be of, in the order in which they are met.
class Processes {
 public:
  /// The first of those met so far that may be the snapshot's; a new one where none may.
  std::uint32_t of(const Snapshot& snapshot) {
    // Two with pids that differ are never one; those are not even compared.
    std::vector<std::uint32_t> candidates = without_pid_;
    if (snapshot.facts.pid) {
      const std::vector<std::uint32_t>& same = with_pid_[*snapshot.facts.pid];
      candidates.insert(candidates.end(), same.begin(), same.end());
      std::sort(candidates.begin(), candidates.end());
    } else {
      candidates.resize(met_.size());
      std::iota(candidates.begin(), candidates.end(), 0U);
    }
    for (const std::uint32_t candidate : candidates) {
      if (other_process(*met_[candidate], snapshot).empty()) return candidate;
    }
    const auto added = static_cast<std::uint32_t>(met_.size());
    (snapshot.facts.pid ? with_pid_[*snapshot.facts.pid] : without_pid_).push_back(added);
    met_.push_back(&snapshot);
    return added;
  }

 private:
  std::vector<const Snapshot*> met_;
  std::vector<std::uint32_t> without_pid_;
  std::unordered_map<std::int64_t, std::vector<std::uint32_t>> with_pid_;
};

}  // namespace

void guard_identities(std::span<Side> sides, std::span<const BuildFacts> facts, Notes& notes) {
  // Per module name the first side of each build seen so far.
  std::map<std::string_view, std::vector<const ModuleFacts*>> builds;
  Processes processes;
  for (std::size_t s = 0; s < sides.size(); ++s) {
    const Snapshot& snapshot = *sides[s].ref.snapshot;
    const Dictionary& d = *snapshot.dictionary;
    bool any = false;
    std::map<std::string_view, std::uint32_t> class_of_name;
    for (const auto& [name, of_module] : facts[s].modules) {
      auto& known = builds[name];
      std::uint32_t group = 0;
      while (group < known.size() && same_build(*known[group], of_module) == SameBuild::no) ++group;
      if (group == known.size()) {
        known.push_back(&of_module);
        const bool unnamed = std::any_of(known.begin(), known.end(), [](const auto* m) { return m->unsymbolized; });
        if (group > 0 && unnamed) {
          notes.add(Severity::warning, std::string(name) +
                                           " is another build in one of the snapshots: its frames without a name are "
                                           "not matched, names (--symbols) would help");
        }
      }
      class_of_name[name] = group;
      any = any || group != 0;
    }
    const std::uint32_t process = processes.of(snapshot);
    if (!any && process == 0) continue;

    std::vector<std::uint32_t> class_of_module(d.modules.size(), 0);
    for (std::size_t m = 1; m < class_of_module.size(); ++m) {
      if (!d.strings[d.modules.build_id[m]].empty()) continue;  // distinguished by the build id
      const auto found = class_of_name.find(base_name(d.strings[d.modules.name[m]]));
      if (found != class_of_name.end()) class_of_module[m] = found->second;
    }
    salt_identities(sides[s], class_of_module, process);
  }
}

}  // namespace snapdiff::diff
