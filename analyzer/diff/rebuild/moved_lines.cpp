#include "analyzer/diff/rebuild/moved_lines.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "analyzer/diff/names.hpp"
#include "analyzer/diff/rebuild/objects.hpp"
#include "snapdiff/keyed_hash.hpp"

namespace snapdiff::diff::rebuild {
namespace {

constexpr std::size_t kFewMoved = 4;           // fewer may differ so by chance
constexpr std::size_t kFewRenamed = 2;         // the same where a file has gone and another one is there
constexpr double kExplained = 0.5;             // of the bytes, or of the stacks, that are left on a side
constexpr double kExchanged = 0.2;             // of the bytes whose objects have another size
constexpr double kOtherNumber = 2;             // of objects: times as many are others
constexpr double kRoundedUp = 0.25;            // of the size of objects
constexpr double kAsManyMoved = 0.25;          // of the number of objects, between two runs
constexpr std::int64_t kFewObjects = 8;        // the mean size of fewer is another one's by chance
constexpr std::size_t kMostLookedAt = 20'000;  // stacks: more show nothing new
constexpr std::size_t kMostOfRest = 8;         // stacks that differ in one line
constexpr std::int64_t kFewMembers = 64;       // bytes: a few members more
constexpr std::size_t kDeepest = 128;          // frames
constexpr std::uint64_t kBase = 0x9e3779b97f4a7c15ULL;

/// A stack without the line of one of its frames.
struct Gap {
  std::uint64_t rest = 0;      ///< number of all that is left
  std::uint64_t place = 0;     ///< the same without its function
  std::uint64_t function = 0;  ///< of that frame
  std::uint64_t file = 0;      ///< the same
  std::int32_t line = 0;
  std::int64_t size = 0;  ///< of its objects, in the mean
  std::int64_t objects = 0;
};

/// Members of a type came or went, or nothing did.
bool grown_a_little(std::int64_t before, std::int64_t after) {
  std::int64_t grown = 0;
  return !__builtin_sub_overflow(after, before, &grown) && grown <= kFewMembers && grown >= -kFewMembers;
}

class Gaps {
 public:
  explicit Gaps(const Code& code) : code_(code) {
    for (const Function& f : code.functions) {
      names_.push_back(hash_bytes(f.name.empty() ? f.file : f.base, 1).low);
      files_.push_back(hash_bytes(f.file).low);
    }
  }

  const std::vector<std::uint64_t>& names() const { return names_; }

  /// Calls body(gap) for each frame; for none where the size of its objects is not known.
  template <class Body>
  void each(std::uint32_t entry, Body body) {
    const Side& side = code_.side();
    const std::int64_t objects = side.objects.empty() ? 0 : side.objects[entry];
    if (objects <= 0) return;
    std::span<const FrameId> frames = code_.frames(entry, scratch_);
    frames = frames.first(std::min(frames.size(), kDeepest));
    std::uint64_t whole = frames.size();
    std::uint64_t power = 1;
    for (const FrameId frame : frames) whole += line_hash(frame) * (power *= kBase);
    power = 1;
    for (const FrameId frame : frames) {
      power *= kBase;
      const std::int32_t line = code_.line[index_of(frame)];
      const std::uint64_t function = name_hash(frame);
      const std::uint64_t rest = whole - line_hash(frame) * power;
      if (line != 0)
        body({keyed_hash(rest + function * power), keyed_hash(rest + power), function,
              files_[code_.function[index_of(frame)]], line, side.value[entry] / objects, objects});
    }
  }

 private:
  std::uint64_t name_hash(FrameId frame) const { return names_[code_.function[index_of(frame)]]; }
  std::uint64_t line_hash(FrameId frame) const {
    return mix64(name_hash(frame) + static_cast<std::uint32_t>(code_.line[index_of(frame)]));
  }

  const Code& code_;
  std::vector<std::uint64_t> names_, files_;  ///< per function
  std::vector<FrameId> scratch_;
};

/// The stacks of one side by what is left of them without a line.
class Rests {
 public:
  Rests(const std::vector<std::uint32_t>& entries, Gaps& gaps) {
    for (const std::uint32_t entry : entries)
      gaps.each(entry, [&](const Gap& gap) {
        std::vector<Gap>& of_rest = by_rest_[gap.rest];
        if (of_rest.size() < kMostOfRest) of_rest.push_back(gap);
      });
  }

  /// The size of objects in the stack that has this line instead; 0 without such a stack.
  std::int64_t size_at(const Gap& gap, std::int32_t line) const {
    for (const Gap& other : of(gap)) {
      if (other.line == line) return other.size;
    }
    return 0;
  }

  /// The stacks that differ from this one in its line at most.
  std::span<const Gap> of(const Gap& gap) const {
    const auto found = by_rest_.find(gap.rest);
    return found == by_rest_.end() ? std::span<const Gap>() : found->second;
  }

  /// Whether the stack itself is there, with objects of about the same size, and not quite another number
  /// of them: members came or went, and allocators round them up; no line moved.
  bool has_as_before(const Gap& gap) const {
    const std::span<const Gap> others = of(gap);
    const auto differ = [](double factor, std::int64_t x, std::int64_t y) {
      return differ_by(factor, static_cast<double>(x), static_cast<double>(y));
    };
    return std::any_of(others.begin(), others.end(), [&](const Gap& to) {
      return to.line == gap.line && !differ(kOtherNumber, gap.objects, to.objects) &&
             (grown_a_little(gap.size, to.size) || !differ(1 + kRoundedUp, gap.size, to.size));
    });
  }

  /// Whether a line that this one may have become has as many objects of the same size.
  bool has_same(const Gap& from) const {
    const std::span<const Gap> others = of(from);
    return std::any_of(others.begin(), others.end(), [&](const Gap& to) {
      return to.line != from.line && to.size == from.size && as_many(from, to);
    });
  }

  /// Calls body(number of the move, whether the size is the same, by how much lines of the function move so) for each
  /// line that this one may have become: with objects of about the same size, or of any with about as many.
  template <class Body>
  void each_move(const Gap& from, Like like, Body body) const {
    for (const Gap& to : of(from)) {
      if (to.line == from.line || !(like == Like::as_many ? as_many(from, to) : grown_a_little(from.size, to.size)))
        continue;
      const std::int64_t grown = to.size - from.size;
      body(keyed_hash(from.function +
                      mix64(static_cast<std::uint64_t>(from.line) << 32U | static_cast<std::uint32_t>(to.line))) +
               static_cast<std::uint64_t>(grown),
           grown == 0,
           keyed_hash(from.function +
                      mix64(static_cast<std::uint64_t>(to.line) - static_cast<std::uint64_t>(from.line))));
    }
  }

 private:
  static bool as_many(const Gap& from, const Gap& to) {
    return from.objects >= kFewObjects &&
           !differ_by(1 + kAsManyMoved, static_cast<double>(from.objects), static_cast<double>(to.objects));
  }

  std::unordered_map<std::uint64_t, std::vector<Gap>> by_rest_;
};

/// How much some stacks hold, and how much those of them that were found.
struct Found {
  double all = 0, bytes = 0;
  std::size_t stacks = 0;
};

/// `is_found(gap)` for any of a stack's gaps.
template <class IsFound>
Found find_stacks(const Code& code, const std::vector<std::uint32_t>& entries, Gaps& gaps, IsFound is_found) {
  Found out;
  for (const std::uint32_t entry : entries) {
    const double bytes = std::abs(static_cast<double>(code.side().value[entry]));
    bool found = false;
    gaps.each(entry, [&](const Gap& gap) { found = found || is_found(gap); });
    out.all += bytes;
    out.bytes += found ? bytes : 0;
    out.stacks += found ? 1 : 0;
  }
  return out;
}

/// How much of some stacks is on the other side but for a line.
struct Moved {
  bool most_bytes = false;
  bool most_stacks = false;  ///< by number: a new leak may hold more than all of them
};

Moved how_much_moved(const Code& code, std::vector<std::uint32_t> entries, Gaps& gaps, const Rests& there, Like like) {
  std::erase_if(entries, [&](std::uint32_t entry) {
    bool as_before = false;
    gaps.each(entry, [&](const Gap& gap) { as_before = as_before || there.has_as_before(gap); });
    return as_before;
  });
  std::unordered_map<std::uint64_t, std::size_t> moves;
  std::unordered_set<std::uint64_t> shifts;  // by which objects of one size moved
  const std::size_t few = like == Like::as_many ? 1 : kFewMoved;
  for (const std::uint32_t entry : entries) {
    gaps.each(entry, [&](const Gap& gap) {
      there.each_move(gap, like, [&](std::uint64_t move, bool same, std::uint64_t shift) {
        ++moves[move];
        if (same) shifts.insert(shift);
      });
    });
  }
  const Found moved = find_stacks(code, entries, gaps, [&](const Gap& gap) {
    bool found = like == Like::as_many && there.has_same(gap);
    there.each_move(gap, like, [&](std::uint64_t move, bool same, std::uint64_t shift) {
      const bool counts = like == Like::size || shifts.contains(shift);
      found = found || (same && like == Like::size) || (counts && moves[move] >= kFewMoved);
    });
    return found;
  });
  return {moved.stacks >= few && moved.bytes >= kExplained * moved.all,
          moved.stacks >= few && static_cast<double>(moved.stacks) >= kExplained * static_cast<double>(entries.size())};
}

/// Whether many of some stacks hold, by size of their objects, what one that differs in a line holds on the other
/// side, and that one what they hold there.
bool much_exchanged(const Code& code, const std::vector<std::uint32_t>& entries, Gaps& gaps, const Rests& here,
                    const Rests& there) {
  const Found exchanged = find_stacks(code, entries, gaps, [&](const Gap& gap) {
    const std::int64_t becomes = there.size_at(gap, gap.line);
    const std::span<const Gap> others = there.of(gap);
    return becomes != 0 && becomes != gap.size && std::any_of(others.begin(), others.end(), [&](const Gap& other) {
             return other.line != gap.line && other.size == gap.size && here.size_at(gap, other.line) == becomes;
           });
  });
  return exchanged.stacks >= kFewMoved && exchanged.bytes >= kExchanged * exchanged.all;
}

using Names = std::unordered_set<std::uint64_t>;

/// The stacks of one side by what is left of them without a frame.
using Places = std::unordered_map<std::uint64_t, std::vector<Gap>>;

Places places_of(const std::vector<std::uint32_t>& entries, Gaps& gaps) {
  Places out;
  for (const std::uint32_t entry : entries)
    gaps.each(entry, [&](const Gap& gap) {
      std::vector<Gap>& of_place = out[gap.place];
      if (of_place.size() < kMostOfRest) of_place.push_back(gap);
    });
  return out;
}

/// What is in the place of a frame.
enum class Replaced : std::uint8_t {
  part,  ///< another function of its file, one of the two is on one side only: a part that was split off and jumped to
         ///< leaves no frame of its caller
  file,  ///< the same line of another file, and both are on one side only: a file was renamed
};

/// Whether most of some stacks are on the other side but for one frame.
bool most_replaced(const Code& code, std::vector<std::uint32_t> entries, Gaps& gaps, const Places& there,
                   const Names& here, const Names& others, Replaced by) {
  const auto on_both = [&](const Gap& gap) { return here.contains(gap.function) && others.contains(gap.function); };
  if (by == Replaced::file) {
    std::erase_if(entries, [&](std::uint32_t entry) {
      bool any = false;
      gaps.each(entry, [&](const Gap& gap) { any = any || !on_both(gap); });
      return !any;
    });
  }
  const Found replaced = find_stacks(code, entries, gaps, [&](const Gap& gap) {
    const auto found = there.find(gap.place);
    return found != there.end() && std::any_of(found->second.begin(), found->second.end(), [&](const Gap& other) {
             if (other.function == gap.function || !grown_a_little(gap.size, other.size)) return false;
             if (by == Replaced::part) return other.file == gap.file && on_both(gap) != on_both(other);
             return other.line == gap.line && !on_both(gap) && !on_both(other);
           });
  });
  if (by == Replaced::part) return replaced.stacks >= kFewMoved && replaced.bytes >= kExplained * replaced.all;
  return replaced.stacks >= kFewRenamed &&
         (replaced.bytes >= kExplained * replaced.all ||
          static_cast<double>(replaced.stacks) >= kExplained * static_cast<double>(entries.size()));
}

std::vector<std::uint32_t> of_many_objects(const Code& code, std::vector<std::uint32_t> entries) {
  const SideColumn<std::int64_t>& objects = code.side().objects;
  std::erase_if(entries, [&](std::uint32_t entry) { return objects.empty() || objects[entry] < kFewObjects; });
  return entries;
}

}  // namespace

bool lines_exchanged(const Code& before, const Code& after, const std::vector<std::uint32_t>& some_before,
                     const std::vector<std::uint32_t>& some_after) {
  Gaps in_a(before), in_b(after);
  const std::vector<std::uint32_t> old = of_many_objects(before, some_before), now = of_many_objects(after, some_after);
  const Rests from(old, in_a), to(now, in_b);
  return much_exchanged(before, old, in_a, from, to) && much_exchanged(after, now, in_b, to, from);
}

bool differ_by_a_line(const Code& before, const Code& after, const std::vector<std::uint32_t>& some_before,
                      const std::vector<std::uint32_t>& some_after, Like like) {
  if (some_before.size() > kMostLookedAt || some_after.size() > kMostLookedAt) return false;
  Gaps in_a(before), in_b(after);
  const Moved from = how_much_moved(before, some_before, in_a, Rests(some_after, in_b), like);
  const Moved to = how_much_moved(after, some_after, in_b, Rests(some_before, in_a), like);
  return (from.most_bytes && (to.most_bytes || to.most_stacks)) || (to.most_bytes && from.most_stacks);
}

bool functions_replaced(const Code& before, const Code& after, const std::vector<std::uint32_t>& some_before,
                        const std::vector<std::uint32_t>& some_after) {
  if (some_before.size() > kMostLookedAt || some_after.size() > kMostLookedAt) return false;
  Gaps in_a(before), in_b(after);
  const Names names_a(in_a.names().begin(), in_a.names().end()), names_b(in_b.names().begin(), in_b.names().end());
  const Places to = places_of(some_after, in_b), from = places_of(some_before, in_a);
  const auto by = [&](Replaced what) {
    return most_replaced(before, some_before, in_a, to, names_a, names_b, what) &&
           most_replaced(after, some_after, in_b, from, names_b, names_a, what);
  };
  return by(Replaced::part) || by(Replaced::file);
}

}  // namespace snapdiff::diff::rebuild
