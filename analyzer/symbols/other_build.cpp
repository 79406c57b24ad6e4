#include <map>
#include <memory>
#include <unordered_map>

#include "analyzer/symbols/dwarf_index.hpp"
#include "analyzer/symbols/symbols.hpp"
#include "snapdiff/hash.hpp"

namespace snapdiff::symbols {
namespace {

struct Place {
  std::string_view function;  ///< its linker name, which --demangle leaves alone
  std::string_view file;
  std::int32_t line = 0;
  std::uint64_t inlined = 0;  ///< what is inlined there, as a hash; 0: nothing
  friend bool operator==(const Place&, const Place&) = default;
};

using Places = std::unordered_map<Hash128, Place>;

/// Of addresses, what is inlined there.
std::unordered_map<Hash128, std::uint64_t> inlined_at(const Dictionary& d) {
  std::unordered_map<Hash128, std::uint64_t> out;
  for (std::uint32_t f = 0; f < d.frames.size(); ++f) {
    if ((d.frames.flags[f] & kFrameDerived) == 0 || d.frames.offset[f] == kNoOffset) continue;
    const std::string_view function = d.strings[d.functions.system_name[index_of(d.frames.function[f])]];
    // A sum, as the frames of one address come in any order.
    out[address_hash(d, FrameId{f})] += hash_bytes(function, static_cast<std::uint64_t>(d.frames.line[f])).low;
  }
  return out;
}

template <class Body>
void each_named_address(const Dictionary& d, Body body) {
  const std::unordered_map<Hash128, std::uint64_t> inlined = inlined_at(d);
  for (std::uint32_t f = 0; f < d.frames.size(); ++f) {
    const std::size_t module = index_of(d.frames.module[f]);
    if (module == 0 || !d.strings[d.modules.build_id[module]].empty() || d.frames.line[f] == 0) continue;
    const std::size_t function = index_of(d.frames.function[f]);
    if (!is_named_address(d, FrameId{f})) continue;
    const auto below = inlined.find(d.frames.hash[f]);
    body(d.frames.hash[f], d.strings[d.modules.name[module]],
         Place{d.strings[d.functions.system_name[function]], base_name(d.strings[d.functions.file[function]]),
               d.frames.line[f], below == inlined.end() ? 0 : below->second});
  }
}

StringId string_of(Dictionary& d, const std::string& text) {
  for (std::uint32_t s = 0; s < d.strings.size(); ++s) {
    if (d.strings[StringId{s}] == text) return StringId{s};
  }
  return d.strings.append(text);
}

/// How deep a frame is inlined into the address with this hash; 0 where it is not.
std::uint64_t depth_below(const Hash128& hash, const Hash128& address) {
  for (std::uint64_t depth = 1; depth <= kMaxScopeDepth; ++depth) {
    if (inlined_frame_hash(address, depth) == hash) return depth;
  }
  return 0;
}

Dictionary with_build_ids(const Dictionary& from, const std::map<std::string, std::string>& build_id_of_module) {
  Dictionary to = from;
  std::vector<std::uint8_t> changed(from.modules.size(), 0);
  for (std::size_t m = 1; m < changed.size(); ++m) {
    const auto id = build_id_of_module.find(std::string(from.strings[from.modules.name[m]]));
    if (id == build_id_of_module.end() || !from.strings[from.modules.build_id[m]].empty()) continue;
    to.modules.build_id[m] = string_of(to, id->second);
    changed[m] = 1;
  }
  for (std::uint32_t f = 0; f < from.frames.size(); ++f) {
    if (changed[index_of(from.frames.module[f])] == 0 || from.frames.offset[f] == kNoOffset) continue;
    const Hash128 before = address_hash(from, FrameId{f});
    const Hash128 after = address_hash(to, FrameId{f});
    if (from.frames.hash[f] == before) {
      to.frames.hash[f] = after;
    } else if ((from.frames.flags[f] & kFrameDerived) != 0) {
      const std::uint64_t depth = depth_below(from.frames.hash[f], before);
      if (depth != 0) to.frames.hash[f] = inlined_frame_hash(after, depth);
    }
  }
  for (std::uint32_t s = 1; s < to.stacks.size(); ++s) {
    SequenceHasher hasher;
    for (const FrameId frame : to.stacks.frames(StackId{s})) {
      if ((to.frames.flags[index_of(frame)] & kFrameDerived) == 0) hasher.add(to.frames.hash[index_of(frame)]);
    }
    to.stacks.hash[s] = hasher.finish();
  }
  return to;
}

}  // namespace

std::map<std::string, bool> modules_of_another_build(const Dictionary& named, const Dictionary& known) {
  Places places;
  each_named_address(known, [&](const Hash128& hash, std::string_view, const Place& place) { places[hash] = place; });
  std::map<std::string, bool> out;
  each_named_address(named, [&](const Hash128& hash, std::string_view module, const Place& place) {
    const auto there = places.find(hash);
    if (there == places.end()) return;
    bool& is_other = out[std::string(module)];
    is_other = is_other || there->second != place;
  });
  return out;
}

std::vector<Snapshot> with_build_ids(std::span<const Snapshot> snapshots,
                                     const std::map<std::string, std::string>& build_id_of_module) {
  std::map<const Dictionary*, std::shared_ptr<const Dictionary>> done;
  std::vector<Snapshot> out(snapshots.begin(), snapshots.end());
  for (Snapshot& snapshot : out) {
    std::shared_ptr<const Dictionary>& made = done[snapshot.dictionary.get()];
    if (!made) made = std::make_shared<const Dictionary>(with_build_ids(*snapshot.dictionary, build_id_of_module));
    snapshot.dictionary = made;
  }
  return out;
}

}  // namespace snapdiff::symbols
