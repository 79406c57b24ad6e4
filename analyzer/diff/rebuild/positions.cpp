#include "analyzer/diff/rebuild/positions.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "analyzer/diff/rebuild/score.hpp"

namespace snapdiff::diff::rebuild {
namespace {

using Calls = std::vector<std::pair<std::uint32_t, std::uint32_t>>;  ///< positions, and functions that they call

template <class T>
void sort_out(std::vector<T>& found) {
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
}

/// Makes `found`, things by position, one ascending set for each position, in `flat`.
template <class T>
void share_out(std::vector<std::pair<std::uint32_t, T>> found, std::vector<T>& flat, std::vector<Position>& all,
               std::span<const T> Position::*set) {
  sort_out(found);
  flat.reserve(found.size());
  for (const auto& [position, thing] : found) flat.push_back(thing);
  for (std::size_t begin = 0, end = 0; begin < found.size(); begin = end) {
    while (end < found.size() && found[end].first == found[begin].first) ++end;
    all[found[begin].first].*set = std::span(flat).subspan(begin, end - begin);
  }
}

}  // namespace

void Positions::walk_all(const Counterparts& functions, bool lines_tell) {
  const Side& side = code_.side();
  const std::size_t entries = side.stack.size();
  std::size_t frames = 0;
  for (std::size_t entry = 0; entry < entries; ++entry) frames += side.frames(entry).frames().size();
  stacks_.reserve(frames);
  end_of_stack_.reserve(entries);
  folded_.reserve(entries);
  index_.reserve(code_.function.size());
  base_.assign(code_.function.size(), kNone);
  std::vector<FrameId> scratch;
  for (std::size_t entry = 0; entry < entries; ++entry) {
    folded_.push_back(walk(code_.frames(entry, scratch), functions, lines_tell) ? 1 : 0);
    end_of_stack_.push_back(stacks_.size());
  }
}

std::uint32_t Positions::position_of(const Position& made) {
  const std::uint32_t known = index_.find(made.key, [&](std::uint32_t p) { return all[p].key == made.key; });
  if (known != HashIndex::kAbsent) return known;
  const auto position = static_cast<std::uint32_t>(all.size());
  index_.insert(made.key, position);
  all.push_back(made);
  function_.push_back(made.function);
  return position;
}

/// Adds the positions of a stack to `stacks_`. True: it has frames of functions that only this side has. Who
/// a numbered closure is on the other side its line says: it is no sign of new code.
bool Positions::walk(std::span<const FrameId> frames, const Counterparts& functions, bool lines_tell) {
  const std::size_t begin = stacks_.size();
  std::size_t numbered = 0, others = 0;  // frames of functions that only this side has
  Position current;
  const auto begin_at = [&](std::uint32_t function, FrameId frame, bool stands_in) {
    current.function = function;
    current.lines.clear();  // until they are asked for: most frames have their position
    current.frame = frame;
    current.stands_in = stands_in;
  };
  const auto fill = [&] {
    if (!current.lines.empty()) return;
    current.lines.push_back(code_.line[index_of(current.frame)]);
    current.key = mix64(std::uint64_t{current.function} << 32U | static_cast<std::uint32_t>(current.lines.front())) ^
                  (current.stands_in ? 1U : 0U);
  };
  const auto end = [&] {
    if (current.function == kNone) return;
    const bool is_base = current.lines.size() <= 1 && !current.stands_in;
    std::uint32_t base = is_base ? base_[index_of(current.frame)] : kNone;
    if (base == kNone) {
      fill();
      base = position_of(current);
    }
    if (is_base) base_[index_of(current.frame)] = base;
    stacks_.push_back(base);
  };
  for (std::size_t k = frames.size(); k-- > 0;) {  // from the root down
    const std::size_t i = index_of(frames[k]);
    const std::uint32_t function = code_.function[i], number = functions.number[function];
    if (number != kNone) {
      end();
      begin_at(number, frames[k], false);
      continue;
    }
    (code_.functions[function].is_numbered ? numbered : others) += 1;
    const std::uint32_t other = functions.stands_in[function];
    if (current.function == kNone) continue;
    if (other != kNone && current.function != other) {
      end();
      begin_at(other, frames[k], true);
    } else if (lines_tell) {
      fill();
      current.lines.push_back(code_.line[i]);
      current.frame = frames[k];
      current.key = mix64(current.key ^ static_cast<std::uint32_t>(code_.line[i]));
    }
  }
  end();
  // Where most functions have no counterpart, their callers are no evidence: new code below an old function is new.
  if (2 * (stacks_.size() - begin) < frames.size() - numbered) stacks_.resize(begin);
  std::reverse(stacks_.begin() + static_cast<std::ptrdiff_t>(begin), stacks_.end());
  return others > 0;
}

void Positions::find_runs(std::size_t entries, const std::vector<std::uint64_t>& names) {
  std::uint64_t bits = 0;  // of many stacks those whose run has none of them: the same ones on both sides
  while (entries / (bits + 1) > kManyStacks) bits = 2 * bits + 1;
  for (std::size_t entry = 0; entry < end_of_stack_.size(); ++entry) {
    std::uint64_t run = 0;
    for (const std::uint32_t position : stack(entry)) run = mix64(run ^ (names[function_[position]] + 1));
    runs_.push_back(((run >> 32U) & bits) == 0 ? run : 0);
  }
}

void Positions::gather(const std::vector<std::uint64_t>& both) {
  const Side& side = code_.side();
  Calls next, deep;
  std::vector<std::uint32_t> last_next(all.size(), kNone), last_deep(last_next), last_below(last_next);
  for (Calls* found : {&next, &deep}) found->reserve(all.size());
  const auto add = [](Calls& found, std::vector<std::uint32_t>& last, std::uint32_t position, std::uint32_t callee) {
    if (std::exchange(last[position], callee) == callee) return;
    if (found.size() == found.capacity()) {
      sort_out(found);
      found.reserve(2 * found.size());
    }
    found.emplace_back(position, callee);
  };
  std::vector<std::pair<std::uint32_t, std::int64_t>> sizes;
  std::vector<std::size_t> end_of_uses(all.size() + 1);  // per position; first, how many the one before has
  const auto objects = [&](std::size_t entry) { return side.objects.empty() ? 0 : side.objects[entry]; };
  const auto has_use = [&](std::size_t entry) {
    return runs_[entry] != 0 && objects(entry) > 0 && std::binary_search(both.begin(), both.end(), runs_[entry]);
  };
  for (std::size_t entry = 0; entry < side.stack.size(); ++entry) {
    const std::span<const std::uint32_t> own = stack(entry);
    for (std::size_t k = 0; k < own.size(); ++k)
      add(next, last_next, own[k], k == 0 ? kAllocation : function_[own[k - 1]]);
    if (objects(entry) > 0 && !own.empty()) sizes.emplace_back(own.front(), side.value[entry] / objects(entry));
    if (runs_[entry] == 0) continue;
    const std::size_t use = has_use(entry) ? 1 : 0;
    for (std::size_t k = 0; k < own.size(); ++k) {
      add(deep, last_deep, own[k], k == 0 ? kAllocation : function_[own[k - 1]]);
      if (k > 0) add(deep, last_below, own[k], k == 1 ? kAllocation : function_[own[k - 2]]);
      end_of_uses[own[k] + 1] += use;
    }
  }
  share_out(std::move(next), next_, all, &Position::next);
  share_out(std::move(deep), deep_, all, &Position::deep);
  share_out(std::move(sizes), sizes_, all, &Position::sizes);

  std::partial_sum(end_of_uses.begin(), end_of_uses.end(), end_of_uses.begin());
  uses_.resize(end_of_uses.back());
  for (std::size_t entry = 0; entry < side.stack.size(); ++entry) {
    if (!has_use(entry)) continue;
    for (const std::uint32_t p : stack(entry))
      uses_[end_of_uses[p]++] = {runs_[entry], static_cast<double>(objects(entry))};
  }
  for (std::size_t p = 0; p < all.size(); ++p) {
    const std::size_t begin = p == 0 ? 0 : end_of_uses[p - 1];
    const std::span<Use> mine = std::span(uses_).subspan(begin, end_of_uses[p] - begin);
    std::sort(mine.begin(), mine.end(),
              [](const Use& x, const Use& y) { return std::tie(x.run, x.objects) < std::tie(y.run, y.objects); });
    std::size_t kept = 0;
    for (const Use use : mine) {
      if (kept > 0 && mine[kept - 1].run == use.run) {
        mine[kept - 1].objects += use.objects;
      } else {
        mine[kept++] = use;
      }
    }
    all[p].uses = mine.first(kept);
  }
}

}  // namespace snapdiff::diff::rebuild
