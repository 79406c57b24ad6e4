#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "analyzer/base/rest_row.hpp"
#include "analyzer/diff/comparison.hpp"
#include "analyzer/diff/frame_order.hpp"
#include "analyzer/diff/row_order.hpp"
#include "snapdiff/checked.hpp"

namespace snapdiff::diff {
namespace {

/// Fewer are no series that can be judged.
constexpr std::uint32_t kListedSides = 8;

/// Where a stack was met with a known value. Several entries of a side may be one visible stack.
struct Known {
  bool at_first = false, at_last = false;  // known there, be it as absent
  bool any = false;
  std::uint32_t first = 0, last = 0;  // sides
  std::uint32_t last_entry = 0;       // of side `last`
  std::uint32_t sides = 0;            // with a known value
  Change value, objects;              // at `first` and `last`
};

bool is_unknown(const Side& side, std::size_t entry) { return !side.unknown.empty() && side.unknown[entry] != 0; }

/// Absent means zero there, but for what the rest holds.
bool leaves_nothing_out(const Side& side) { return side.whole; }

bool is_rest(const Dictionary& d, StackId stack) {
  const std::span<const FrameId> frames = d.stacks.frames(stack);
  if (frames.empty()) return false;
  // massif lists callers below the allocation, so the rest is the outermost frame there; elsewhere it is the only one.
  const std::size_t frame = index_of(frames.back());
  return (d.frames.flags[frame] & kFramePseudo) != 0 &&
         d.strings[d.functions.name[index_of(d.frames.function[frame])]] == kBelowThreshold;
}

using Stacks = std::unordered_map<Hash128, Known>;

/// Errors: limit.
Result<Stacks> look(const Comparison& c) {
  Stacks stacks;
  std::unordered_set<Hash128> unknown;  // of the side
  const auto last = static_cast<std::uint32_t>(c.sides.size() - 1);
  bool fits = true;
  for (std::uint32_t s = 0; s <= last; ++s) {
    const Side& side = c.sides[s];
    unknown.clear();
    for (std::uint32_t entry = 0; entry < side.stack.size(); ++entry) {
      if (is_unknown(side, entry)) unknown.insert(side.identity(entry));
    }
    for (std::uint32_t entry = 0; entry < side.stack.size(); ++entry) {
      const auto [at, added] = stacks.try_emplace(side.identity(entry));
      Known& known = at->second;
      if (added) {
        known.at_first = s > 0 && leaves_nothing_out(c.sides.front());
        known.at_last = leaves_nothing_out(c.sides.back());
      }
      const bool is_known = unknown.empty() || !unknown.contains(side.identity(entry));
      if (s == 0) known.at_first = is_known;
      if (s == last) known.at_last = is_known;
      if (!is_known) continue;
      if (!known.any) known.first = s;
      if (!known.any || known.last != s) {
        known.value.current = known.objects.current = 0;
        ++known.sides;
      }
      known.any = true;
      known.last = s, known.last_entry = entry;
      const std::int64_t objects = side.objects.empty() ? 0 : side.objects[entry];
      fits &= checked_add(known.value.current, side.value[entry], known.value.current) &&
              checked_add(known.objects.current, objects, known.objects.current);
      if (known.first == s) known.value.baseline = known.value.current, known.objects.baseline = known.objects.current;
    }
  }
  if (fits) return stacks;
  return beyond_64_bits("sum of " + c.metric + " over equal stacks");
}

/// Drops entry `from` of every column that is there, by moving later ones over it.
class Remover {
 public:
  explicit Remover(Side& side) : side_(side), place_(side.stack.size(), Side::kNoEntry) {}
  void keep(std::size_t entry) {
    place_[entry] = static_cast<std::uint32_t>(out_);
    const auto move = [&](auto& column) {
      if (!column.empty()) column[out_] = column[entry];
    };
    move(side_.stack.own());
    move(side_.value.own());
    move(side_.objects.own());
    move(side_.variance);
    move(side_.salted);
    ++out_;
  }
  void finish() {
    const auto cut = [&](auto& column) {
      if (!column.empty()) column.resize(out_);
    };
    cut(side_.stack.own());
    cut(side_.value.own());
    cut(side_.objects.own());
    cut(side_.variance);
    cut(side_.salted);
    side_.unknown.clear();
    for (std::uint32_t& entry : side_.entry_of_row) {
      if (entry != Side::kNoEntry) entry = place_[entry];
    }
  }

 private:
  Side& side_;
  std::vector<std::uint32_t> place_;
  std::size_t out_ = 0;
};

std::uint64_t size_of(const ListedOnceUnit& unit) {
  return std::max(magnitude(unit.value.baseline), magnitude(unit.value.current));
}

ListedOnceUnit unit_of(const std::vector<Side>& sides, const Known& known) {
  const Side& side = sides[known.last];
  return {side.frames(known.last_entry),
          known.last,
          side.stack[known.last_entry],
          known.first,
          known.last,
          known.value,
          known.objects};
}

/// In a long series what the first inputs leave out, but so many others list to the end, grew since it was first
/// listed; what it held before is not known. By label or type no row of an input stands for it.
bool is_listed_since(const Comparison& c, const Known& known) {
  const bool by_stack = c.options.by != GroupBy::label && c.options.by != GroupBy::type;
  return by_stack && known.any && !known.at_first && !leaves_nothing_out(c.sides.front()) && known.at_last &&
         known.sides >= kListedSides && known.sides >= c.sides.size() / 3;
}

bool is_kept(const Comparison& c, const Known& known) {
  return (known.at_first && known.at_last) || is_listed_since(c, known);
}

}  // namespace

void find_rests(Comparison& c) {
  for (Side& side : c.sides) {
    const Snapshot& snapshot = *side.ref.snapshot;
    if (snapshot.facts.complete) continue;
    side.whole = false;
    for (std::size_t row = 0; row < snapshot.samples.size(); ++row) {
      if (!is_rest(*snapshot.dictionary, snapshot.samples.stack[row])) continue;
      if (!side.columns.value->is_known(row)) continue;
      side.whole = true;
      side.unlisted = std::max(side.unlisted, side.columns.value->value[row]);
    }
  }
}

Status set_aside_listed_once(Comparison& c) {
  const bool any = std::any_of(c.sides.begin(), c.sides.end(),
                               [](const Side& side) { return !leaves_nothing_out(side) || !side.unknown.empty(); });
  if (!any || c.sides.size() < 2) return ok();
  const Result<Stacks> looked = look(c);
  if (!looked) return looked.error();
  const Stacks& stacks = *looked;
  for (const auto& [identity, known] : stacks) {
    if (known.any && !is_kept(c, known)) c.listed_once.push_back(unit_of(c.sides, known));
  }
  const FrameOrder order(c.dictionaries);
  std::sort(c.listed_once.begin(), c.listed_once.end(), [&](const ListedOnceUnit& a, const ListedOnceUnit& b) {
    return size_of(a) != size_of(b) ? size_of(a) > size_of(b) : order.compare(a.frames, b.frames) < 0;
  });
  bool fits = true;
  for (std::uint32_t s = 0; s < c.sides.size(); ++s) {
    Side& side = c.sides[s];
    Remover remover(side);
    for (std::uint32_t entry = 0; entry < side.stack.size(); ++entry) {
      const Known& known = stacks.at(side.identity(entry));
      if (is_kept(c, known) && !is_unknown(side, entry)) {
        remover.keep(entry);
        continue;
      }
      const std::int64_t objects = side.objects.empty() ? 0 : side.objects[entry];
      if (!side.variance.empty()) side.total_variance -= side.variance[entry];
      fits &= checked_sub(side.total, side.value[entry], side.total) &&
              checked_sub(side.total_objects, objects, side.total_objects);
      if (s == 0) {
        fits &= checked_add(c.listed_once_value.baseline, side.value[entry], c.listed_once_value.baseline);
      } else if (s + 1 == c.sides.size()) {
        fits &= checked_add(c.listed_once_value.current, side.value[entry], c.listed_once_value.current);
      }
    }
    remover.finish();
    side.total_variance = std::max(0.0, side.total_variance);
  }
  if (fits) return ok();
  return beyond_64_bits("sum of " + c.metric + " over rows that are listed once");
}

namespace {

/// The last known point of each unit.
struct Anchor {
  std::uint32_t side = 0;
  std::int64_t value = 0;
  std::int64_t objects = 0;
};

std::int64_t between(std::int64_t a, std::int64_t b, double share) {
  const double x = static_cast<double>(a) + (static_cast<double>(b) - static_cast<double>(a)) * share;
  return std::abs(x) < 9.2e18 ? std::llround(x) : a;
}

}  // namespace

Status hold_beginnings(Comparison& c) {
  Side& front = c.sides.front();
  if (c.sides.size() < kListedSides || leaves_nothing_out(front)) return ok();
  std::vector<std::uint8_t> met(c.unit_count(), 0);
  for (const std::uint32_t unit : c.unit_of_entry.front()) met[unit] = 1;
  bool fits = true;
  for (std::uint32_t s = 1; s < c.sides.size(); ++s) {
    const Side& side = c.sides[s];
    std::map<std::uint32_t, Anchor> first;  // of units that are met here for the first time
    for (std::size_t entry = 0; entry < side.stack.size(); ++entry) {
      const std::uint32_t unit = c.unit_of_entry[s][entry];
      if (met[unit] != 0) continue;
      Anchor& sum = first[unit];
      fits &= checked_add(sum.value, side.value[entry], sum.value) &&
              checked_add(sum.objects, side.objects.empty() ? 0 : side.objects[entry], sum.objects);
    }
    for (const auto& [unit, held] : first) {
      met[unit] = 1;
      c.unit_of_entry.front().push_back(unit);
      front.value.own().push_back(held.value);
      if (c.has_objects) front.objects.own().push_back(held.objects);
      c.values[unit].value.baseline = held.value;
      c.values[unit].objects.baseline = held.objects;
      fits &= checked_add(front.total, held.value, front.total) &&
              checked_add(front.total_objects, held.objects, front.total_objects);
      ++c.held;
    }
  }
  if (fits) return ok();
  return beyond_64_bits("sum of " + c.metric + " over rows that are listed later");
}

void bridge_gaps(Comparison& c) {
  const std::size_t sides = c.sides.size();
  const bool any =
      std::any_of(c.sides.begin(), c.sides.end(), [](const Side& side) { return !leaves_nothing_out(side); });
  if (!any || sides < 3) return;
  std::vector<Anchor> anchor(c.unit_count());  // at first: known as absent at side 0, or listed there
  std::vector<std::vector<std::uint32_t>> units(sides);
  std::vector<Side*> to(sides);
  for (std::size_t s = 0; s < sides; ++s) to[s] = &c.sides[s];
  const auto reach = [&](std::uint32_t unit, const Anchor& next) {
    Anchor& from = anchor[unit];
    for (std::uint32_t s = from.side + 1; s < next.side; ++s) {
      if (leaves_nothing_out(*to[s])) {
        from = {s, 0, 0};
        continue;
      }
      // The next side that is known: an absent one before `next`, or `next` itself.
      Anchor end = next;
      for (std::uint32_t t = s + 1; t < next.side; ++t) {
        if (!leaves_nothing_out(*to[t])) continue;
        end = {t, 0, 0};
        break;
      }
      const double share = static_cast<double>(s - from.side) / static_cast<double>(end.side - from.side);
      units[s].push_back(unit);
      Side& side = *to[s];
      side.value.own().push_back(between(from.value, end.value, share));
      // Saturating: the totals of the steps between are shown, and nothing is derived from them.
      if (!checked_add(side.total, side.value.own().back(), side.total))
        side.total = std::numeric_limits<std::int64_t>::max();
      if (c.has_objects) {
        side.objects.own().push_back(between(from.objects, end.objects, share));
        if (!checked_add(side.total_objects, side.objects.own().back(), side.total_objects))
          side.total_objects = std::numeric_limits<std::int64_t>::max();
      }
      ++c.bridged;
    }
    from = next;
  };
  constexpr std::uint32_t kNever = 0xffffffff;
  std::vector<Anchor> here(c.unit_count(), Anchor{kNever, 0, 0});
  for (std::uint32_t s = 0; s < sides; ++s) {
    const Side& side = c.sides[s];
    for (std::size_t entry = 0; entry < c.unit_of_entry[s].size(); ++entry) {
      Anchor& sum = here[c.unit_of_entry[s][entry]];
      if (sum.side != s) sum = {s, 0, 0};
      // What does not fit is found where the rows are summed.
      if (!checked_add(sum.value, side.value[entry], sum.value)) sum.value = side.value[entry];
      const std::int64_t objects = side.objects.empty() ? 0 : side.objects[entry];
      if (!checked_add(sum.objects, objects, sum.objects)) sum.objects = objects;
    }
    for (const std::uint32_t unit : c.unit_of_entry[s]) {
      if (s == 0) anchor[unit] = here[unit];
      if (anchor[unit].side != s) reach(unit, here[unit]);
    }
  }
  const auto last = static_cast<std::uint32_t>(sides - 1);
  for (std::uint32_t unit = 0; unit < anchor.size(); ++unit) {
    if (anchor[unit].side != last) reach(unit, {last, 0, 0});
  }
  for (std::size_t s = 0; s < sides; ++s)
    c.unit_of_entry[s].insert(c.unit_of_entry[s].end(), units[s].begin(), units[s].end());
}

}  // namespace snapdiff::diff
