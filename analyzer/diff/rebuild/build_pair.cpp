#include "analyzer/diff/rebuild/build_pair.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "analyzer/base/hash_index.hpp"
#include "analyzer/base/parallel.hpp"
#include "analyzer/diff/names.hpp"

namespace snapdiff::diff::rebuild {
namespace {

/// Of a stack of the library alone the names of its functions, which no build of the program changes. 0 where one has
/// no name.
std::uint64_t names_of(const Side& side, std::size_t entry) {
  const Dictionary& d = *side.ref.snapshot->dictionary;
  SequenceHasher hasher;
  for (const FrameId frame : side.frames(entry).frames()) {
    const FunctionId function = d.frames.function[index_of(frame)];
    if (function == FunctionId{}) return 0;
    hasher.add(hash_bytes(d.strings[d.functions.name[index_of(function)]]));
  }
  return hasher.finish().low;
}

/// Per function a hash of its name, file and first line. Of a long run of functions only some are compared. The hash
/// chooses them, because numbers of functions depend on the order of the input.
std::vector<std::uint64_t> hashes_of_functions(const Code& code) {
  std::vector<std::int32_t> first(code.functions.size(), std::numeric_limits<std::int32_t>::max());
  for (std::size_t i = 0; i < code.function.size(); ++i) {
    if (code.function[i] != kNone) first[code.function[i]] = std::min(first[code.function[i]], code.line[i]);
  }
  std::vector<std::uint64_t> out;
  for (std::size_t f = 0; f < first.size(); ++f) {
    const std::uint64_t file = hash_bytes(code.functions[f].file).low;
    out.push_back(mix64(hash_bytes(code.functions[f].name, file).low ^ static_cast<std::uint64_t>(first[f])));
  }
  return out;
}

/// The same in whatever order the stacks are read.
std::uint64_t hash_of_contents(const Side& side) {
  std::uint64_t sum = 0;
  for (std::size_t entry = 0; entry < side.stack.size(); ++entry) {
    const Hash128& stack = side.recorded_identity(entry);
    const auto objects = static_cast<std::uint64_t>(side.objects.empty() ? 0 : side.objects[entry]);
    sum += mix64(stack.low ^ mix64(stack.high ^ mix64(static_cast<std::uint64_t>(side.value[entry]) ^ mix64(objects))));
  }
  return sum;
}

/// A stack of one side by a key.
struct Keyed {
  std::uint64_t key;
  std::uint32_t index;
  bool after;
};

/// Calls body(group of before, group of after) for stacks of equal key that both sides have; those without a key,
/// which is 0, are left out.
template <class Key, class Body>
void each_group(const BuildPair::Stacks& before, const BuildPair::Stacks& after, Key key, Body body) {
  std::vector<Keyed> all;
  for (const BuildPair::Stacks* side : {&before, &after}) {
    for (std::uint32_t i = 0; i < side->size(); ++i) {
      const std::uint64_t of_stack = key((*side)[i]);
      if (of_stack != 0) all.push_back({of_stack, i, side == &after});
    }
  }
  std::sort(all.begin(), all.end(), [](const Keyed& x, const Keyed& y) {
    if (x.key != y.key) return x.key < y.key;
    return x.after != y.after ? y.after : x.index < y.index;
  });
  for (auto begin = all.begin(); begin != all.end();) {
    const auto end = std::find_if(begin, all.end(), [&](const Keyed& one) { return one.key != begin->key; });
    const auto middle = std::find_if(begin, end, [](const Keyed& one) { return one.after; });
    if (middle != begin && middle != end)
      body(std::span<const Keyed>(begin, middle), std::span<const Keyed>(middle, end));
    begin = end;
  }
}

/// Leaves out those that are used, each 0 or 1.
void drop(BuildPair::Stacks& stacks, const std::vector<std::uint8_t>& used) {
  std::size_t i = 0;
  std::erase_if(stacks, [&](const BuildPair::Stack&) { return used[i++] != 0; });
}

}  // namespace

bool comes_first(const Side& side, const Side& other) { return hash_of_contents(side) <= hash_of_contents(other); }

BuildPair::BuildPair(const Side& before, const Side& after) : code_(read_code(before, after)) {
  FunctionMap map = map_functions(a_, b_);
  find_stand_ins(a_, b_, map);
  has_other_name_.assign(b_.functions.size(), 0);
  stacks_with_.assign(b_.functions.size(), 0);
  old_names_.resize(b_.functions.size());
  for (std::uint32_t f = 0; f < b_.functions.size(); ++f) {
    if (map.before[f] == kNone) continue;
    old_names_[f] = a_.functions[map.before[f]].name;
    has_other_name_[f] = old_names_[f] != b_.functions[f].name ? 1 : 0;
  }
  const std::vector<std::uint64_t> hashes = hashes_of_functions(b_);
  lines_tell_ = a_.lines_tell() && b_.lines_tell();
  const std::size_t entries = std::max(before.stack.size(), after.stack.size());
  std::array<std::vector<std::uint64_t>, 2> runs;
  for_each_parallel(2, 2 * entries, [&](std::size_t side) {
    Positions& positions = side == 0 ? in_a_ : in_b_;
    positions.walk_all({side == 0 ? map.after : map.itself, map.stands_in[side]}, lines_tell_, hashes, entries);
    runs[side] = positions.runs();
    std::sort(runs[side].begin(), runs[side].end());
  });
  std::vector<std::uint64_t> in_both;
  std::set_intersection(runs[0].begin(), runs[0].end(), runs[1].begin(), runs[1].end(), std::back_inserter(in_both));
  for_each_parallel(2, 2 * entries, [&](std::size_t side) { (side == 0 ? in_a_ : in_b_).gather(in_both); });
  lines_ = map_lines(in_a_, in_b_, b_.functions.size());
}

std::vector<Hash128> BuildPair::coincidences() const {
  const std::vector<Hash128>& frames = a_.dictionary().frames.hash;
  HashIndex known;  // frames before
  known.reserve(frames.size());
  for (std::uint32_t i = 0; i < frames.size(); ++i) {
    if (in_a_.of_frame(FrameId{i}) != kNone) known.insert(frames[i].low, i);
  }
  std::vector<Hash128> out;
  for (std::uint32_t i = 0; i < b_.dictionary().frames.size(); ++i) {
    const Hash128& frame = b_.dictionary().frames.hash[i];
    if (in_b_.of_frame(FrameId{i}) == kNone) continue;
    const std::uint32_t same = known.find(frame.low, [&](std::uint32_t k) { return frames[k] == frame; });
    if (same == HashIndex::kAbsent) continue;
    const std::uint32_t was = lines_.before[in_a_.of_frame(FrameId{same})];
    const std::uint32_t is = lines_.after[in_b_.of_frame(FrameId{i})];
    // Where it may as well be another line, an equal one is no proof: the stacks are merged. Where neither side has a
    // counterpart elsewhere, the equal line is all there is.
    const bool differs = was == is ? lines_.ambiguous[is] != 0 : lines_.paired[is] != 0 || lines_.paired[was] != 0;
    if (differs) out.push_back(frame);
  }
  return out;
}

BuildPair::Stacks BuildPair::stacks_of(const std::vector<Left>& entries, bool after) const {
  const Positions& positions = after ? in_b_ : in_a_;
  const Side& side = positions.code().side();
  Stacks out(entries.size());
  std::vector<FrameId> scratch;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    Stack& stack = out[i];
    stack.row = entries[i].row;
    stack.entry = entries[i].entry;
    stack.value = std::abs(static_cast<double>(side.value[stack.entry]));
    if (!side.objects.empty()) stack.objects = std::abs(static_cast<double>(side.objects[stack.entry]));
    stack.folded = positions.folded(stack.entry);
    stack.positions = positions.stack(stack.entry);
    stack.class_of = (after ? lines_.after : lines_.before).data();
    stack.function_of = positions.functions();
    for (std::size_t k = 0; k < stack.size(); ++k) {
      stack.key = add_to(stack.key, stack.line(k));
      stack.renamed = stack.renamed || has_other_name_[stack.function(k)] != 0;
    }
    if (stack.positions.empty() && positions.code().frames(stack.entry, scratch).empty())
      stack.key = names_of(side, stack.entry);
  }
  return out;
}

MatchTier BuildPair::tier_of(const Stack& a, const Stack& b) const {
  if (a.folded || b.folded) return MatchTier::inline_free;
  return b.renamed ? MatchTier::normalised : MatchTier::function_file;
}

void BuildPair::count_renamed(const Stack& joined) {
  if (!joined.renamed) return;
  std::uint32_t last = kNone;
  for (std::size_t k = 0; k < joined.size(); ++k) {
    const std::uint32_t f = joined.function(k);
    if (f != last && has_other_name_[f] != 0) ++stacks_with_[f];
    last = f;
  }
}

bool BuildPair::contradict(const Stack& a, const Stack& b) {
  constexpr double kOther = 2;  // times the size, and times as many
  if (a.objects <= 0 || b.objects <= 0) return false;
  const auto differ = [](double x, double y) { return std::max(x, y) > kOther * std::min(x, y); };
  return differ(a.value / a.objects, b.value / b.objects) && differ(a.objects, b.objects);
}

void BuildPair::join_equal(RowUnion& rows) {
  std::vector<std::uint8_t> used_a(before_.size(), 0), used_b(after_.size(), 0);
  each_group(
      before_, after_, [](const Stack& stack) { return stack.key; },
      [&](std::span<const Keyed> a, std::span<const Keyed> b) {
        const Stack& first = before_[a.front().index];
        const bool alone = a.size() == 1 && b.size() == 1;
        if (alone && contradict(first, after_[b.front().index])) return;
        for (const Keyed& one : b) {
          const Stack& other = after_[one.index];
          used_b[one.index] = 1;
          if (rows.join(first.row, other.row, alone ? tier_of(first, other) : MatchTier::merged)) count_renamed(other);
        }
        for (const Keyed& one : a) {
          used_a[one.index] = 1;
          rows.join(first.row, before_[one.index].row, MatchTier::merged);
        }
      });
  drop(before_, used_a);
  drop(after_, used_b);
}

double BuildPair::weight(const Stack& a, std::size_t i, const Stack& b, std::size_t j) const {
  if (a.line(i) == b.line(j)) return 1;
  if (a.function(i) != b.function(j)) return 0;
  return lines_.paired[a.line(i)] == 0 || lines_.paired[b.line(j)] == 0 ? 0.5 : 0;
}

double BuildPair::alike(const Stack& a, const Stack& b) const {
  const std::size_t n = std::min(a.size(), kMostCompared);
  const std::size_t m = std::min(b.size(), kMostCompared);
  std::array<double, kMostCompared + 1> row{}, next{};
  for (std::size_t i = 0; i < n; ++i) {
    next[0] = 0;
    for (std::size_t j = 0; j < m; ++j) {
      next[j + 1] = std::max({row[j + 1], next[j], row[j] + weight(a, i, b, j)});
    }
    row = next;
  }
  return likeness(row[m], n, m);
}

bool BuildPair::is_covered(const Stack& a, const Stack& b, double alike) {
  const std::size_t n = std::min(a.size(), kMostCompared), m = std::min(b.size(), kMostCompared);
  return alike >= likeness(kCovered * static_cast<double>(std::min(n, m)), n, m);
}

bool BuildPair::join_with_gaps(RowUnion& rows) {
  possible_ = 0;
  std::vector<std::uint8_t> used_a(before_.size(), 0), used_b(after_.size(), 0);
  const auto heaviest = [&](const Stacks& stacks, std::span<const Keyed> group, const Side& side) {
    std::vector<std::uint32_t> out;
    for (const Keyed& one : group) out.push_back(one.index);
    std::sort(out.begin(), out.end(), [&](std::uint32_t x, std::uint32_t y) {
      if (stacks[x].value != stacks[y].value) return stacks[x].value > stacks[y].value;
      return side.recorded_identity(stacks[x].entry) < side.recorded_identity(stacks[y].entry);
    });
    if (out.size() > kMostCompared) out.resize(kMostCompared);
    return out;
  };
  const auto leaf = [](const Stack& stack) { return stack.positions.empty() ? 0 : stack.function(0) + 1ULL; };
  each_group(before_, after_, leaf, [&](std::span<const Keyed> group_a, std::span<const Keyed> group_b) {
    const std::vector<std::uint32_t> from = heaviest(before_, group_a, a_.side());
    const std::vector<std::uint32_t> to = heaviest(after_, group_b, b_.side());
    std::vector<Best> of_a(from.size()), of_b(to.size());
    for (std::size_t i = 0; i < from.size(); ++i) {
      for (std::size_t j = 0; j < to.size(); ++j) {
        const Stack &a = before_[from[i]], &b = after_[to[j]];
        const double s = contradict(a, b) ? 0 : alike(a, b);
        of_a[i].offer(j, b.row, s);
        of_b[j].offer(i, a.row, s);
      }
    }
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (of_a[i].score >= kAlike && !of_a[i].is_clear(kMargin)) ++possible_;
      if (!of_a[i].is_clear(kMargin)) continue;
      const std::size_t j = of_a[i].other;
      if (of_b[j].other != i || !of_b[j].is_clear(kMargin)) continue;
      if (!is_covered(before_[from[i]], after_[to[j]], of_a[i].score)) continue;
      used_a[from[i]] = used_b[to[j]] = 1;
      count_renamed(after_[to[j]]);
      rows.join(before_[from[i]].row, after_[to[j]].row, MatchTier::fuzzy);
    }
  });
  const bool any = std::find(used_a.begin(), used_a.end(), 1) != used_a.end();
  drop(before_, used_a);
  drop(after_, used_b);
  return any;
}

void BuildPair::read_both(const std::vector<Left>& before, const std::vector<Left>& after) {
  for_each_parallel(2, before.size() + after.size(), [&](std::size_t side) {
    (side == 0 ? before_ : after_) = stacks_of(side == 0 ? before : after, side == 1);
  });
}

void BuildPair::join_again(const std::vector<Left>& before, const std::vector<Left>& after, RowUnion& rows) {
  read_both(before, after);
  join_equal(rows);
}

void BuildPair::join(const std::vector<Left>& before, const std::vector<Left>& after, RowUnion& rows) {
  read_both(before, after);
  join_equal(rows);
  // Again, until no rival that is joined now hides which two belong together.
  while (join_with_gaps(rows)) {
  }
}

std::vector<BuildPair::Renamed> BuildPair::renamed() const {
  std::vector<Renamed> out;
  for (std::uint32_t f = 0; f < b_.functions.size(); ++f) {
    if (has_other_name_[f] != 0 && !b_.functions[f].name.empty())
      out.push_back({std::string(old_names_[f]), std::string(b_.functions[f].name), stacks_with_[f]});
  }
  std::sort(out.begin(), out.end(), [](const Renamed& x, const Renamed& y) {
    return x.stacks != y.stacks ? x.stacks > y.stacks : x.first < y.first;
  });
  return out;
}

}  // namespace snapdiff::diff::rebuild
