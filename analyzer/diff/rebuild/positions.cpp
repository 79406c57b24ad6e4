#include "analyzer/diff/rebuild/positions.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

namespace snapdiff::diff::rebuild {
namespace {

constexpr std::size_t kMostWays = 64;  // per position: more show nothing new
constexpr std::size_t kMostSizes = 12;
constexpr std::size_t kRunStacks = 16'000;   // of a side: as many show it
constexpr std::uint32_t kMostStacks = 24;    // per position, about: what goes through it is known by then
constexpr std::size_t kLineStacks = 50'000;  // of a side: as many say whether its lines mean something

std::uint64_t pair_key(std::uint32_t high, std::uint32_t low) { return static_cast<std::uint64_t>(high) << 32U | low; }

}  // namespace

Positions::Positions(const Code& code, const std::vector<std::uint32_t>& counterpart,
                     const std::vector<std::uint32_t>& stands_in)
    : code_(code), counterpart_(counterpart), stands_in_(stands_in), base_(code.function.size(), kNone) {
  index_.reserve(code.function.size());
  all.reserve(code.function.size());
}

std::vector<std::uint8_t> Positions::functions_with_lines(std::size_t functions) const {
  std::vector<std::uint8_t> out(functions, 0);
  for (std::size_t i = 0; i < code_.function.size(); ++i) {
    if (code_.function[i] == kNone || code_.line[i] == 0) continue;
    const std::uint32_t function = counterpart_[code_.function[i]];
    if (function != kNone) out[function] = 1;
  }
  return out;
}

bool Positions::lines_tell() const {
  struct Seen {
    std::int32_t line = 0;
    std::uint32_t callee = kNone;
    bool lines = false, calls = false;
  };
  std::vector<Seen> functions(code_.functions.size());
  std::vector<FrameId> scratch;
  const std::size_t stacks = code_.side().stack.size();
  for (std::size_t entry = 0; entry < stacks; entry += 1 + stacks / kLineStacks) {
    std::uint32_t callee = kAllocation;
    for (const FrameId frame : code_.frames(entry, scratch)) {
      const std::uint32_t own = code_.function[index_of(frame)];
      const std::int32_t line = code_.line[index_of(frame)];
      Seen& seen = functions[own];
      seen.lines = seen.lines || (seen.callee != kNone && seen.line != line);
      seen.calls = seen.calls || (seen.callee != kNone && seen.callee != callee);
      seen.line = line;
      seen.callee = callee;
      callee = own;
    }
  }
  std::size_t several = 0, told = 0;
  for (const Seen& seen : functions) {
    several += seen.calls ? 1 : 0;
    told += seen.calls && seen.lines ? 1 : 0;
  }
  return told * 2 >= several;
}

void Positions::ignore_lines(const std::vector<std::uint8_t>& of_function) { ignored_ = of_function; }

std::uint32_t Positions::base(FrameId frame) {
  const std::size_t i = index_of(frame);
  if (base_[i] != kNone) return base_[i];
  const std::uint32_t function = code_.function[i] == kNone ? kNone : counterpart_[code_.function[i]];
  if (function == kNone) return kNone;
  return base_[i] = line_of(function, frame, false);
}

/// The line of another function that replaces this one is apart from its own.
std::uint32_t Positions::line_of(std::uint32_t function, FrameId frame, bool stands_in) {
  const std::int32_t line = ignored_[function] != 0 ? 0 : code_.line[index_of(frame)];
  Position made;
  made.function = function;
  made.line = line;
  made.frame = frame;
  made.stands_in = stands_in;
  return position_of(pair_key(function, static_cast<std::uint32_t>(line)), made);
}

std::uint32_t Positions::part_of(std::uint32_t above, FrameId frame) {
  const std::int32_t line = code_.line[index_of(frame)];
  const std::uint64_t below = pair_key(code_.function[index_of(frame)], static_cast<std::uint32_t>(line));
  Position made;
  made.function = function_[above];
  made.above = above;
  made.line = line;
  made.frame = frame;
  return position_of(mix64(below) ^ above, made);
}

std::uint32_t Positions::position_of(std::uint64_t hash, const Position& made) {
  const std::uint32_t known = index_.find(hash, [&](std::uint32_t p) {
    const Position& other = all[p];
    return other.function == made.function && other.line == made.line && other.above == made.above &&
           other.stands_in == made.stands_in &&
           (made.above == kNone || code_.function[index_of(other.frame)] == code_.function[index_of(made.frame)]);
  });
  if (known != HashIndex::kAbsent) return known;
  const auto position = static_cast<std::uint32_t>(all.size());
  index_.insert(hash, position);
  function_.push_back(made.function);
  all.push_back(made);
  return position;
}

/// Adds the positions of a stack to `stacks_`. True: it has frames of functions that only this side has.
bool Positions::walk(std::span<const FrameId> frames) {
  const std::size_t begin = stacks_.size();
  stacks_.resize(begin + frames.size());  // as many at most
  std::uint32_t* const end = stacks_.data() + stacks_.size();
  std::uint32_t* first = end;  // of what is found, from the root down
  bool folded = false;
  std::uint32_t current = kNone;
  std::size_t nameless = 0;  // who they are on the other side nobody knows: they are no sign of new code
  for (std::size_t k = frames.size(); k-- > 0;) {
    const std::uint32_t own = base(frames[k]);
    if (own != kNone) {
      if (current != kNone) *--first = current;
      current = own;
      continue;
    }
    folded = true;
    const std::uint32_t function = code_.function[index_of(frames[k])];
    if (code_.functions[function].is_named_by_place()) ++nameless;
    const std::uint32_t other = stands_in_[function];
    if (other != kNone && current != kNone && function_[current] != other) {
      *--first = current;
      current = line_of(other, frames[k], true);
      continue;
    }
    if (current != kNone && !leaves_out_) current = part_of(current, frames[k]);
  }
  if (current != kNone) *--first = current;
  // Where most functions have no counterpart, their callers are no evidence: new code below an old function is new.
  if (2 * static_cast<std::size_t>(end - first) < frames.size() - nameless) first = end;
  std::uint32_t* const to = stacks_.data() + begin;
  if (first != to) std::copy(first, end, to);
  stacks_.resize(begin + static_cast<std::size_t>(end - first));
  return folded;
}

void Positions::walk_all() {
  const Side& side = code_.side();
  const std::size_t entries = side.stack.size();
  std::size_t frames = 0;
  for (std::size_t entry = 0; entry < entries; ++entry) frames += side.frames(entry).frames().size();
  stacks_.reserve(frames);
  end_of_stack_.reserve(entries);
  folded_.reserve(entries);
  way_.reserve(entries);
  std::vector<FrameId> scratch;
  for (std::size_t entry = 0; entry < entries; ++entry) {
    folded_.push_back(walk(code_.frames(entry, scratch)) ? 1 : 0);
    end_of_stack_.push_back(stacks_.size());
    way_.push_back(code_.way(entry));
  }
}

/// All that stacks pass by: once over the stacks, then position by position.
class Positions::Gathering {
 public:
  explicit Gathering(Positions& positions) : positions_(positions), count_(positions.all.size()) {}

  void run_around() {
    count_through();
    fill_around();
    fill_sites();
    for (std::size_t p = 0; p < count_; ++p) {
      Position& position = positions_.all[p];
      position.next = positions_.next_[p];
      position.deep = positions_.deep_[p];
      position.ways = positions_.ways_[p];
      position.sizes = positions_.sizes_[p];
    }
  }

  void run_uses(std::size_t entries, const std::vector<std::uint64_t>& names) {
    choose_runs(entries, names);
    fill_runs();
    for (std::size_t p = 0; p < count_; ++p) positions_.all[p].uses = positions_.uses_[p];
  }

 private:
  /// The functions of the two callees next to one position of a stack, and of the leaf below it; kNone where the stack
  /// ends before.
  struct Around {
    std::uint32_t callee, its_callee, leaf;
  };
  /// What a stack allocates where it ends.
  struct Site {
    std::uint32_t way;
    std::int64_t size, objects;
  };
  /// A stack by its run of functions.
  struct Run {
    std::uint64_t run;
    std::int64_t objects;
    std::uint32_t entry;
    friend bool operator<(const Run& x, const Run& y) { return x.run != y.run ? x.run < y.run : x.entry < y.entry; }
  };

  std::uint32_t stacks() const { return static_cast<std::uint32_t>(positions_.end_of_stack_.size()); }
  std::int64_t objects_of(std::uint32_t entry) const {
    const Side& side = positions_.code_.side();
    return side.objects.empty() ? 0 : side.objects[entry];
  }
  std::int64_t size_of(std::uint32_t entry) const {
    const std::int64_t objects = objects_of(entry);
    return objects > 0 ? positions_.code_.side().value[entry] / objects : 0;
  }

  void count_through() {
    std::vector<std::uint32_t> through(count_, 0);
    for (std::uint32_t entry = 0; entry < stacks(); ++entry) {
      for (const std::uint32_t position : positions_.stack(entry)) ++through[position];
    }
    for (std::size_t p = 0; p < count_; ++p) {
      positions_.all[p].stacks = through[p];
      positions_.all[p].final = through[p] > 0;
    }
  }

  /// Of many stacks those whose run has none of some bits: the same ones on both sides.
  void choose_runs(std::size_t entries, const std::vector<std::uint64_t>& names) {
    std::uint64_t bits = 0;
    while (entries / (bits + 1) > kRunStacks) bits = 2 * bits + 1;
    for (std::uint32_t entry = 0; entry < stacks(); ++entry) {
      std::uint64_t run = 0;
      for (const std::uint32_t position : positions_.stack(entry))
        run = mix64(run ^ (names[positions_.function_[position]] + 1));
      if (((run >> 32U) & bits) == 0 && objects_of(entry) > 0) runs_.push_back({run, objects_of(entry), entry});
    }
    std::sort(runs_.begin(), runs_.end());
  }

  /// Functions, each once.
  class FunctionSet {
   public:
    explicit FunctionSet(std::size_t functions) : seen_(functions, 0) {}
    void clear() {
      functions_.clear();
      allocation_ = false;
      ++now_;
    }
    void add(std::uint32_t function) {
      if (function == kNone) return;
      if (function == kAllocation) {
        allocation_ = true;
      } else if (seen_[function] != now_) {
        seen_[function] = now_;
        functions_.push_back(function);
      }
    }
    std::span<const std::uint32_t> sorted() {
      std::sort(functions_.begin(), functions_.end());
      if (allocation_) functions_.push_back(kAllocation);
      return functions_;
    }

   private:
    std::vector<std::uint32_t> seen_;  ///< per function, when it was added last
    std::vector<std::uint32_t> functions_;
    bool allocation_ = false;
    std::uint32_t now_ = 0;
  };

  /// Of the many stacks through a position some, which do not depend on the order of the input.
  class Sample {
   public:
    explicit Sample(const Positions& positions) : side_(positions.code_.side()) {
      for (const Position& one : positions.all) {
        constexpr std::uint32_t kAll = std::numeric_limits<std::uint32_t>::max();
        most_.push_back(one.stacks <= kMostStacks ? kAll : kAll / one.stacks * kMostStacks);
      }
    }
    std::uint32_t key(std::uint32_t entry) const {
      return static_cast<std::uint32_t>(side_.recorded_identity(entry).low >> 32U);
    }
    bool has(std::uint32_t key, std::uint32_t position) const { return key <= most_[position]; }

   private:
    const Side& side_;
    std::vector<std::uint32_t> most_;  ///< per position
  };

  void fill_around() {
    const Sample sample(positions_);
    std::vector<std::uint32_t> counts(count_, 0);
    for (std::uint32_t entry = 0; entry < stacks(); ++entry) {
      const std::uint32_t key = sample.key(entry);
      for (const std::uint32_t position : positions_.stack(entry))
        counts[position] += sample.has(key, position) ? 1U : 0U;
    }
    ByPosition<Around> around(counts);
    std::vector<std::uint32_t> of_stack;  // functions, between those that a stack does not have
    for (std::uint32_t entry = 0; entry < stacks(); ++entry) {
      const std::span<const std::uint32_t> stack = positions_.stack(entry);
      const std::uint32_t key = sample.key(entry);
      of_stack.assign({kNone, kAllocation});
      for (const std::uint32_t position : stack) of_stack.push_back(positions_.function_[position]);
      for (std::size_t k = 0; k < stack.size(); ++k) {
        if (!sample.has(key, stack[k])) continue;
        const std::uint32_t* own = of_stack.data() + k + 2;
        around.add(stack[k], {own[-1], own[-2], k == 0 ? kNone : of_stack[2]});
      }
    }
    const std::vector<std::uint32_t>& function = positions_.function_;
    const std::uint32_t functions = function.empty() ? 0 : *std::max_element(function.begin(), function.end());
    FunctionSet next(functions + std::size_t{1}), deep(next);
    for (std::size_t p = 0; p < count_; ++p) {
      for (FunctionSet* set : {&next, &deep}) set->clear();
      for (const Around& one : around[p]) {
        next.add(one.callee);
        for (const std::uint32_t f : {one.callee, one.its_callee, one.leaf}) deep.add(f);
      }
      positions_.next_.add(next.sorted());
      positions_.deep_.add(deep.sorted());
    }
  }

  void fill_runs() {
    std::vector<std::uint32_t> counts(count_, 0);
    for (const Run& run : runs_) {
      for (const std::uint32_t position : positions_.stack(run.entry)) ++counts[position];
    }
    ByPosition<std::uint32_t> passing(counts);
    for (std::uint32_t i = 0; i < runs_.size(); ++i) {
      for (const std::uint32_t position : positions_.stack(runs_[i].entry)) passing.add(position, i);
    }
    std::vector<Use> uses;
    for (std::size_t p = 0; p < count_; ++p) {
      uses.clear();
      for (const std::uint32_t one : passing[p]) {  // by run
        const Run& run = runs_[one];
        const auto objects = static_cast<double>(run.objects);
        if (!uses.empty() && uses.back().run == run.run) {
          uses.back().objects += objects;
        } else if (uses.size() < kMostUses) {
          uses.push_back({run.run, objects});
        }
      }
      positions_.uses_.add(uses);
    }
  }

  void fill_sites() {
    std::vector<std::uint32_t> counts(count_, 0);
    for (std::uint32_t entry = 0; entry < stacks(); ++entry) {
      if (!positions_.stack(entry).empty()) ++counts[positions_.stack(entry).front()];
    }
    ByPosition<Site> sites(counts);
    for (std::uint32_t entry = 0; entry < stacks(); ++entry) {
      if (!positions_.stack(entry).empty())
        sites.add(positions_.stack(entry).front(), {positions_.way(entry), size_of(entry), objects_of(entry)});
    }
    std::vector<std::uint32_t> ways;
    std::vector<std::int64_t> sizes;
    const auto add = [](auto& set, auto value, std::size_t most) {  // of many the least ones
      const auto at = std::lower_bound(set.begin(), set.end(), value);
      if (at == set.end() || *at != value) set.insert(at, value);
      if (set.size() > most) set.pop_back();
    };
    for (std::size_t p = 0; p < count_; ++p) {
      ways.clear();
      sizes.clear();
      for (const Site& one : sites[p]) {
        add(ways, one.way, kMostWays);
        if (one.objects > 0) add(sizes, one.size, kMostSizes);
      }
      positions_.ways_.add(ways);
      positions_.sizes_.add(sizes);
    }
  }

  Positions& positions_;
  std::size_t count_;  ///< of positions
  std::vector<Run> runs_;
};

void Positions::gather() {
  walk_all();
  Gathering(*this).run_around();
}

void Positions::gather_uses(std::size_t entries, const std::vector<std::uint64_t>& names) {
  Gathering(*this).run_uses(entries, names);
}

std::vector<std::int32_t> Positions::path(std::uint32_t position) const {
  std::vector<std::int32_t> out;
  for (std::uint32_t p = position; p != kNone; p = all[p].above) out.push_back(all[p].line);
  std::reverse(out.begin(), out.end());
  return out;
}

std::int32_t Positions::own_line(std::uint32_t position) const {
  while (all[position].above != kNone) position = all[position].above;
  return all[position].line;
}

}  // namespace snapdiff::diff::rebuild
