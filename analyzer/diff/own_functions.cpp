#include "analyzer/diff/own_functions.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "analyzer/base/frame_kind.hpp"
#include "analyzer/diff/comparison.hpp"
#include "snapdiff/hash.hpp"

namespace snapdiff::diff {
namespace {

using Renames = std::unordered_map<std::string_view, std::string_view>;

Hash128 two(const Hash128& a, const Hash128& b) {
  SequenceHasher hasher;
  hasher.add(a);
  hasher.add(b);
  return hasher.finish();
}

/// What a function is known by; `function` is not 0.
Hash128 function_hash(const Dictionary& d, std::size_t function, const Renames& renames) {
  std::string_view name = d.strings[d.functions.name[function]];
  if (const auto newer = renames.find(name); newer != renames.end()) name = newer->second;
  return two(hash_bytes(name, 1), hash_bytes(d.strings[d.functions.file[function]], 2));
}

Hash128 address_hash(const Dictionary& d, std::size_t frame) {
  const std::string_view module = d.strings[d.modules.name[index_of(d.frames.module[frame])]];
  return two(hash_bytes(base_name(module), 3), {mix64(d.frames.offset[frame]), d.frames.offset[frame]});
}

// A frame's code: the number of its function, and its kind above it: of 2^28 functions their names alone would fill a
// memory.
constexpr std::uint32_t kKindShift = 28;
constexpr std::uint32_t kNumber = (1U << kKindShift) - 1;
constexpr std::uint32_t code_of(FrameKind kind) { return static_cast<std::uint32_t>(kind) << kKindShift; }
constexpr FrameKind kind_of(std::uint32_t code) { return static_cast<FrameKind>(code >> kKindShift); }
constexpr std::uint32_t kPlumbing = code_of(FrameKind::plumbing);
constexpr std::uint32_t kLoop = code_of(FrameKind::loop);

/// Marks numbers seen on one path; cleared by counting on.
class Seen {
 public:
  void begin(std::size_t size) {
    if (stamps_.size() < size) stamps_.resize(size, 0);
    if (++round_ != 0) return;
    std::fill(stamps_.begin(), stamps_.end(), 0U);
    round_ = 1;
  }
  /// 1 where `wanted` and not added before.
  std::size_t add_if(bool wanted, std::uint32_t number) {
    const std::uint32_t before = stamps_[number];
    stamps_[number] = wanted ? round_ : before;
    return static_cast<std::size_t>(wanted && before != round_);
  }

 private:
  std::vector<std::uint32_t> stamps_;
  std::uint32_t round_ = 0;
};

/// The name of a stack without own code: its frames of the kind that says most. Of those that only start the
/// program the one nearest to the allocation.
void stand_in(const std::uint32_t* codes, std::span<const FrameId> frames, Seen& seen,
              std::vector<std::uint32_t>& out) {
  FrameKind best = FrameKind::unknown;
  std::size_t end = frames.size();  // own code above an event loop is no more than its start
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const FrameKind kind = kind_of(codes[index_of(frames[i])]);
    if (kind == FrameKind::loop) end = std::min(end, i);
    if (i < end || kind > FrameKind::start) best = std::min(best, kind);
  }
  for (std::size_t i = frames.size(); i-- > 0;) {
    const std::uint32_t code = codes[index_of(frames[i])];
    const std::uint32_t number = code & kNumber;
    if (kind_of(code) != best || seen.add_if(true, number) == 0) continue;
    if (best == FrameKind::start || best >= FrameKind::loop) out.clear();
    out.push_back(number);
  }
}

}  // namespace

OwnFunctions::OwnFunctions(std::span<const std::shared_ptr<const Visibility>> dictionaries,
                           std::span<const RenamedFunction> renamed)
    : dictionaries_(dictionaries.begin(), dictionaries.end()) {
  Renames renames;
  std::unordered_set<std::string_view> new_names;
  for (const RenamedFunction& one : renamed) {
    renames.emplace(one.before, one.after);
    new_names.insert(one.after);
  }
  // A function is called what the source calls it now.
  const auto is_new_name = [&](const Dictionary& d, std::size_t function) {
    return function != 0 && new_names.contains(d.strings[d.functions.name[function]]);
  };
  std::unordered_map<Hash128, std::uint32_t> known;
  for (std::uint32_t i = 0; i < dictionaries_.size(); ++i) {
    const Dictionary& d = dictionaries_[i]->dictionary();
    std::vector<std::uint32_t> of_function(d.functions.size(), 0);  // its number + 1
    std::vector<std::uint32_t>& codes = codes_.emplace_back();
    codes.reserve(d.frames.size());
    const auto add = [&](std::size_t frame, std::uint32_t number) {
      const FrameId id{static_cast<std::uint32_t>(frame)};
      codes.push_back(number | code_of(dictionaries_[i]->kind(id)));
    };
    for (std::size_t frame = 0; frame < d.frames.size(); ++frame) {
      const std::size_t function = index_of(d.frames.function[frame]);
      if (function != 0 && of_function[function] != 0) {
        add(frame, of_function[function] - 1);
        continue;
      }
      const Hash128 hash = function != 0 ? function_hash(d, function, renames) : address_hash(d, frame);
      const auto [at, added] = known.try_emplace(hash, static_cast<std::uint32_t>(first_.size()));
      if (added) {
        first_.push_back({i, FrameId{static_cast<std::uint32_t>(frame)}});
      } else if (is_new_name(d, function)) {
        first_[at->second] = {i, FrameId{static_cast<std::uint32_t>(frame)}};
      }
      add(frame, at->second);
      if (function != 0) of_function[function] = at->second + 1;
    }
  }
}

FrameView OwnFunctions::frame(std::uint32_t number) const {
  const Where& where = first_[number];
  FrameView view = frame_view(dictionaries_[where.dictionary]->dictionary(), where.frame);
  view.library = dictionaries_[where.dictionary]->is_library(where.frame);
  return view;
}

void OwnFunctions::path(std::size_t d, std::span<const FrameId> frames, std::vector<std::uint32_t>& out) const {
  out.clear();
  const std::uint32_t* const codes = codes_[d].data();
  thread_local std::vector<FrameId> scratch;
  frames = dictionaries_[d]->visible(frames, scratch);
  if (frames.empty()) return;
  thread_local Seen each_thread;
  each_thread.begin(size());
  // Without a branch that depends on the frame: millions of stacks come through here.
  out.resize(frames.size());
  std::size_t own = 0;
  std::uint32_t task = 0;  // 1: the next own function is what a thread or an event loop runs, another main
  std::size_t tasks = 0;
  for (std::size_t i = frames.size(); i-- > 0;) {
    const std::uint32_t code = codes[index_of(frames[i])];
    const std::uint32_t kind = code & ~kNumber;
    if (kind == kLoop && own > 0) [[unlikely]] {
      own = 0;
      each_thread.begin(size());
    }
    out[own] = code & kNumber;
    own += each_thread.add_if((kind | task) == 0, code & kNumber);
    tasks += (kind == 0 && task != 0) ? 1 : 0;
    task = (kind >= kLoop || (kind == kPlumbing && task != 0)) ? 1 : 0;
  }
  out.resize(own);
  if (own > 0) return;
  if (tasks > 0) {
    for (std::size_t i = 0; i < frames.size() && out.empty(); ++i) {
      const std::uint32_t code = codes[index_of(frames[i])];
      if (code <= kNumber) out.push_back(code & kNumber);
    }
    return;
  }
  each_thread.begin(size());
  stand_in(codes, frames, each_thread, out);
}

}  // namespace snapdiff::diff
