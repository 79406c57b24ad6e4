#include "analyzer/diff/rebuild/build_pair.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <unordered_map>

#include "analyzer/base/parallel.hpp"
#include "analyzer/diff/names.hpp"
#include "analyzer/diff/rebuild/objects.hpp"
#include "analyzer/diff/rebuild/stack_groups.hpp"

namespace snapdiff::diff::rebuild {
namespace {

constexpr std::size_t kMostOfLeaf = 96;  // stacks of one leaf function that are compared each with each

std::vector<std::uint32_t> itself_where_mapped(const FunctionMap& map) {
  std::vector<std::uint32_t> out(map.before.size(), kNone);
  for (std::uint32_t f = 0; f < out.size(); ++f) {
    if (map.before[f] != kNone) out[f] = f;
  }
  return out;
}

void add_item(SequenceHasher& hasher, std::uint32_t item) {
  hasher.add({mix64(item + 1ULL), mix64(item + 0x9e3779b97f4a7c15ULL)});
}

Hash128 sequence(const std::vector<std::uint32_t>& items) {
  SequenceHasher hasher;
  for (const std::uint32_t item : items) add_item(hasher, item);
  return hasher.finish();
}

/// Of a stack of the library alone the names of its functions, which no build of the program changes. 0 where one has
/// no name.
Hash128 names_of(const Side& side, std::size_t entry) {
  const Dictionary& d = *side.ref.snapshot->dictionary;
  SequenceHasher hasher;
  for (const FrameId frame : side.frames(entry).frames()) {
    const FunctionId function = d.frames.function[index_of(frame)];
    if (function == FunctionId{}) return {};
    hasher.add(hash_bytes(d.strings[d.functions.name[index_of(function)]]));
  }
  return hasher.finish();
}

/// Whether lines say on both sides which call it is.
bool both_tell(const Positions& a, const Positions& b) {
  std::array<bool, 2> tell{};
  for_each_parallel(2, a.code().side().stack.size() + b.code().side().stack.size(),
                    [&](std::size_t side) { tell[side] = (side == 0 ? a : b).lines_tell(); });
  return tell[0] && tell[1];
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

}  // namespace

bool comes_first(const Side& side, const Side& other) { return hash_of_contents(side) <= hash_of_contents(other); }

BuildPair::BuildPair(const Side& before, const Side& after)
    : code_(read_code(before, after)),
      a_(code_.first),
      b_(code_.second),
      functions_(map_functions(a_, b_)),
      alike_(first_alike(b_)),
      itself_(itself_where_mapped(functions_)),
      stand_ins_(find_stand_ins(a_, b_, functions_)),
      in_a_(a_, functions_.after, stand_ins_.before),
      in_b_(b_, itself_, stand_ins_.after),
      lines_tell_(both_tell(in_a_, in_b_)),
      has_other_name_(b_.functions.size(), 0),
      stacks_with_(b_.functions.size(), 0) {
  std::vector<std::uint8_t> known_a = in_a_.functions_with_lines(b_.functions.size());
  const std::vector<std::uint8_t> known_b = in_b_.functions_with_lines(b_.functions.size());
  std::vector<std::uint8_t> ignored(b_.functions.size(), 0);
  for (std::size_t f = 0; f < ignored.size(); ++f) ignored[f] = known_a[f] == 0 || known_b[f] == 0 ? 1 : 0;
  in_a_.ignore_lines(ignored);
  in_b_.ignore_lines(ignored);
  if (!lines_tell_) {
    in_a_.leave_out_unknown();
    in_b_.leave_out_unknown();
  }
  const std::size_t stacks = before.stack.size() + after.stack.size();
  for_each_parallel(2, stacks, [&](std::size_t side) { (side == 0 ? in_a_ : in_b_).gather(); });
  const std::vector<std::uint64_t> hashes = hashes_of_functions(b_);
  for_each_parallel(2, stacks, [&](std::size_t side) {
    const std::size_t entries = std::max(before.stack.size(), after.stack.size());
    (side == 0 ? in_a_ : in_b_).gather_uses(entries, hashes);
  });
  lines_ = map_lines(in_a_, in_b_, b_.functions.size(), b_);
  for (std::uint32_t f = 0; f < b_.functions.size(); ++f) {
    const std::uint32_t old = functions_.before[f];
    if (old != kNone && a_.functions[old].name != b_.functions[f].name) has_other_name_[f] = 1;
  }
}

std::vector<Hash128> BuildPair::coincidences() const {
  std::vector<Hash128> out;
  std::unordered_multimap<Hash128, std::uint32_t> known;  // of positions of the baseline
  known.reserve(in_a_.all.size());
  // By its frame, which other functions have not; a part by its lines and the function that it is a part of.
  const auto each_position = [](const Positions& positions, const auto& body) {
    const FrameTable& frames = positions.code().dictionary().frames;
    for (std::uint32_t i = 0; i < frames.size(); ++i) {
      const std::uint32_t position = positions.of_frame(FrameId{i});
      if (position != kNone && positions.all[position].final) body(frames.hash[i], position, FrameId{i});
    }
    for (std::uint32_t p = 0; p < positions.all.size(); ++p) {
      const Position& position = positions.all[p];
      if (position.above == kNone || !position.final) continue;
      const std::vector<std::int32_t> lines = positions.path(p);
      SequenceHasher hasher;
      for (const std::int32_t line : lines) add_item(hasher, static_cast<std::uint32_t>(line));
      add_item(hasher, position.function);
      body(hasher.finish(), p, position.frame);
    }
  };
  each_position(
      in_a_, [&](const Hash128& key, std::uint32_t position, FrameId) { known.emplace(key, lines_.before[position]); });
  std::set<std::pair<std::uint32_t, std::int32_t>> places;  // function, line
  const auto place_of = [this](std::size_t i) { return std::pair(b_.function[i], b_.line[i]); };
  each_position(in_b_, [&](const Hash128& key, std::uint32_t position, FrameId frame) {
    const std::uint32_t is = lines_.after[position];
    const auto [first, last] = known.equal_range(key);
    if (first == last) return;
    const auto same = std::find_if(first, last, [is](const auto& line) { return line.second == is; });
    // Where it may as well be another line, an equal one is no proof: the stacks are merged. Where neither side has a
    // counterpart elsewhere, the equal line is all there is.
    const bool differs = same != last ? lines_.ambiguous[is] != 0
                                      : lines_.paired[is] != 0 || std::any_of(first, last, [this](const auto& line) {
                                          return lines_.paired[line.second] != 0;
                                        });
    if (differs) places.insert(place_of(index_of(frame)));
  });
  // A line has several frames where they are addresses, and each of them has to be taken apart.
  for (std::size_t i = 0; i < b_.function.size() && !places.empty(); ++i) {
    if (b_.function[i] != kNone && places.contains(place_of(i))) out.push_back(b_.dictionary().frames.hash[i]);
  }
  return out;
}

void BuildPair::set_frames(Stack& stack, const OneSide& from) {
  const std::span<const std::uint32_t> positions = from.positions.stack(stack.entry);
  stack.classes.reserve(positions.size());
  stack.functions.reserve(positions.size());
  for (const std::uint32_t position : positions) {
    stack.classes.push_back(from.classes[position]);
    stack.functions.push_back(from.positions.function_of(position));
  }
}

BuildPair::Stacks BuildPair::read(const std::vector<Left>& left, bool after, bool with_frames) {
  const OneSide from = side_of(after);
  const Side& side = from.positions.code().side();
  Stacks out(left.size());
  std::vector<FrameId> scratch;
  for (std::size_t i = 0; i < left.size(); ++i) {
    Stack& stack = out[i];
    stack.row = left[i].row;
    stack.entry = left[i].entry;
    stack.value = std::abs(static_cast<double>(side.value[left[i].entry]));
    if (!side.objects.empty()) stack.objects = std::abs(static_cast<double>(side.objects[left[i].entry]));
    stack.way = from.positions.way(left[i].entry);
    stack.folded = from.positions.folded(stack.entry);
    const std::span<const std::uint32_t> positions = from.positions.stack(stack.entry);
    if (positions.empty()) {
      const bool library_alone = from.positions.code().frames(stack.entry, scratch).empty();
      if (library_alone) stack.key = names_of(side, stack.entry);
      continue;
    }
    SequenceHasher hasher;
    for (const std::uint32_t position : positions) {
      add_item(hasher, from.classes[position]);
      stack.renamed = stack.renamed || has_other_name_[from.positions.function_of(position)] != 0;
    }
    stack.key = hasher.finish();
    if (with_frames) set_frames(stack, from);
  }
  return out;
}

void BuildPair::read_both(const std::vector<Left>& before, const std::vector<Left>& after) {
  for_each_parallel(2, before.size() + after.size(), [&](std::size_t side) {
    side == 0 ? before_ = read(before, false, false) : after_ = read(after, true, false);
  });
}

void BuildPair::read_frames(Stacks& stacks, bool after) {
  const OneSide from = side_of(after);
  for (Stack& stack : stacks) set_frames(stack, from);
  std::erase_if(stacks, [](const Stack& stack) { return stack.functions.empty(); });  // of the library alone
}

MatchTier BuildPair::tier_of(const Stack& a, const Stack& b, bool way_differs) const {
  if (a.folded || b.folded || way_differs) return MatchTier::inline_free;
  return b.renamed ? MatchTier::normalised : MatchTier::function_file;
}

void BuildPair::count_renamed(const Stack& joined) {
  if (!joined.renamed) return;
  std::uint32_t last = kNone;
  for (const std::uint32_t position : in_b_.stack(joined.entry)) {
    const std::uint32_t f = in_b_.function_of(position);
    if (f != last && has_other_name_[f] != 0) ++stacks_with_[f];
    last = f;
  }
}

bool BuildPair::contradict(const Stack& a, const Stack& b) {
  const auto objects = [](const Stack& stack) {
    if (stack.objects <= 0) return Objects{};
    const double size = stack.value / stack.objects;
    return Objects{size, size, stack.objects};
  };
  return rebuild::contradict(objects(a), objects(b));
}

void BuildPair::join_equal(RowUnion& rows, bool with_way) {
  std::vector<std::uint8_t> used_a(before_.size(), 0), used_b(after_.size(), 0);
  each_group(
      before_, after_,
      [&](const Stack& stack) {
        const std::uint64_t way = with_way ? mix64(stack.way + 3ULL) : 0;
        return Hash128{stack.key.high ^ way, stack.key.low};
      },
      [&](std::span<const Keyed> a, std::span<const Keyed> b) {
        const Stack& first = before_[a.front().index];
        if ((!with_way || lines_tell_) && a.size() == 1 && b.size() == 1 && contradict(first, after_[b.front().index]))
          return;
        for (const Keyed& one : a) used_a[one.index] = 1;
        for (const Keyed& one : b) {
          used_b[one.index] = 1;
          if (rows.find(first.row) == rows.find(after_[one.index].row)) continue;
          count_renamed(after_[one.index]);
          const MatchTier tier =
              a.size() > 1 || b.size() > 1 ? MatchTier::merged : tier_of(first, after_[one.index], !with_way);
          rows.join(first.row, after_[one.index].row, tier);
        }
        for (const Keyed& one : a.subspan(1)) {
          if (rows.find(first.row) != rows.find(before_[one.index].row))
            rows.join(first.row, before_[one.index].row, MatchTier::merged);
        }
      });
  drop(before_, used_a);
  drop(after_, used_b);
}

double BuildPair::weight(const Stack& a, std::size_t i, const Stack& b, std::size_t j) const {
  if (a.classes[i] == b.classes[j]) return 1;
  if (a.functions[i] != b.functions[j]) return 0;
  return lines_.paired[a.classes[i]] == 0 || lines_.paired[b.classes[j]] == 0 ? 0.5 : 0;
}

double BuildPair::alike(const Stack& a, const Stack& b) const {
  const std::size_t n = std::min(a.classes.size(), kDeepestCompared);
  const std::size_t m = std::min(b.classes.size(), kDeepestCompared);
  std::array<double, kDeepestCompared + 1> row{}, next{};
  for (std::size_t i = 0; i < n; ++i) {
    next[0] = 0;
    for (std::size_t j = 0; j < m; ++j) {
      next[j + 1] = std::max({row[j + 1], next[j], row[j] + weight(a, i, b, j)});
    }
    row = next;
  }
  // Frames come and go; where both sides have frames that the other has not, it is another way.
  const auto shorter = static_cast<double>(std::min(n, m));
  return row[m] < kCovered * shorter ? 0 : 2 * row[m] / static_cast<double>(n + m);
}

bool BuildPair::join_with_gaps(RowUnion& rows) {
  possible_ = 0;
  std::vector<std::uint8_t> used_a(before_.size(), 0), used_b(after_.size(), 0);
  const auto heaviest = [this](const Stacks& stacks, std::span<const Keyed> group) {
    const Side& side = (&stacks == &after_ ? in_b_ : in_a_).code().side();
    std::vector<std::uint32_t> out;
    for (const Keyed& one : group) out.push_back(one.index);
    std::sort(out.begin(), out.end(), [&](std::uint32_t x, std::uint32_t y) {
      if (stacks[x].value != stacks[y].value) return stacks[x].value > stacks[y].value;
      return side.recorded_identity(stacks[x].entry) < side.recorded_identity(stacks[y].entry);
    });
    if (out.size() > kMostOfLeaf) out.resize(kMostOfLeaf);
    return out;
  };
  each_group(
      before_, after_, [](const Stack& stack) { return sequence({stack.functions.front()}); },
      [&](std::span<const Keyed> group_a, std::span<const Keyed> group_b) {
        const std::vector<std::uint32_t> from = heaviest(before_, group_a);
        const std::vector<std::uint32_t> to = heaviest(after_, group_b);
        struct Best {
          std::size_t other = 0;
          double score = 0, second = 0;
          void offer(std::size_t candidate, double like) {
            second = std::max(second, std::min(like, score));
            if (like <= score) return;
            score = like;
            other = candidate;
          }
          bool clear() const { return score >= kAlike && score - second >= kClearlyBest; }
        };
        std::vector<Best> of_a(from.size()), of_b(to.size());
        for (std::size_t i = 0; i < from.size(); ++i) {
          for (std::size_t j = 0; j < to.size(); ++j) {
            const Stack& a = before_[from[i]];
            const Stack& b = after_[to[j]];
            const bool leaf = a.classes.front() == b.classes.front() || lines_.paired[a.classes.front()] == 0 ||
                              lines_.paired[b.classes.front()] == 0;
            const double s = leaf && !contradict(a, b) ? alike(a, b) : 0;
            of_a[i].offer(j, s);
            of_b[j].offer(i, s);
          }
        }
        for (std::size_t i = 0; i < from.size(); ++i) {
          if (of_a[i].score >= kAlike && !of_a[i].clear()) ++possible_;
          if (!of_a[i].clear()) continue;
          const Best& back = of_b[of_a[i].other];
          if (back.other != i || !back.clear()) continue;
          const std::uint32_t other = to[of_a[i].other];
          used_a[from[i]] = used_b[other] = 1;
          count_renamed(after_[other]);
          rows.join(before_[from[i]].row, after_[other].row, MatchTier::fuzzy);
        }
      });
  const bool any = std::find(used_a.begin(), used_a.end(), 1) != used_a.end();
  drop(before_, used_a);
  drop(after_, used_b);
  return any;
}

BuildPair::Stacks BuildPair::stacks_of(const std::vector<Left>& entries, bool after) {
  return read(entries, after, true);
}

void BuildPair::join_again(const std::vector<Left>& all_before, const std::vector<Left>& all_after, RowUnion& rows) {
  read_both(all_before, all_after);
  join_equal(rows, false);
}

void BuildPair::join(const std::vector<Left>& before, const std::vector<Left>& after, RowUnion& rows) {
  read_both(before, after);
  join_equal(rows, true);
  join_equal(rows, false);
  read_frames(before_, false);
  read_frames(after_, true);
  // Again, until no rival that is joined now hides which two belong together.
  while (join_with_gaps(rows)) {
  }
}

std::vector<BuildPair::Renamed> BuildPair::renamed() const {
  std::vector<Renamed> out;
  for (std::uint32_t f = 0; f < b_.functions.size(); ++f) {
    if (has_other_name_[f] == 0 || b_.functions[f].name.empty()) continue;
    out.push_back(
        {std::string(a_.functions[functions_.before[f]].name), std::string(b_.functions[f].name), stacks_with_[f]});
  }
  std::sort(out.begin(), out.end(), [](const Renamed& x, const Renamed& y) {
    return x.stacks != y.stacks ? x.stacks > y.stacks : x.first < y.first;
  });
  return out;
}

}  // namespace snapdiff::diff::rebuild
