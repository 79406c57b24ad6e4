#include "analyzer/diff/rebuild/positions.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "analyzer/diff/rebuild/score.hpp"

namespace snapdiff::diff::rebuild {
namespace {

/// Positions, and functions that they call.
class Calls {
 public:
  void add(std::uint32_t position, std::uint32_t callee) {
    if (position >= last_.size()) last_.resize(2 * position + 1, kNone);
    if (std::exchange(last_[position], callee) == callee) return;
    const std::uint64_t call = std::uint64_t{position} << 32U | callee;
    if (std::exchange(recent_[call * kHashStep >> 48U], call) != call) found_.push_back(call);
  }
  /// Each of them once, ascending.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> all() {
    std::sort(found_.begin(), found_.end());
    found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
    std::vector<std::pair<std::uint32_t, std::uint32_t>> out;
    out.reserve(found_.size());
    for (const std::uint64_t call : found_) out.emplace_back(call >> 32U, static_cast<std::uint32_t>(call));
    return out;
  }

 private:
  std::vector<std::uint32_t> last_;                                                               ///< by position
  std::vector<std::uint64_t> recent_ = std::vector<std::uint64_t>(1U << 16U, ~std::uint64_t{0});  ///< most repeat one
  std::vector<std::uint64_t> found_;
};

/// Makes `found`, things by position and ascending, one set for each position, in `flat`.
template <class T>
void share_out(const std::vector<std::pair<std::uint32_t, T>>& found, std::vector<T>& flat, std::vector<Position>& all,
               std::span<const T> Position::*set) {
  flat.reserve(found.size());
  for (const auto& [position, thing] : found) flat.push_back(thing);
  for (std::size_t begin = 0, end = 0; begin < found.size(); begin = end) {
    while (end < found.size() && found[end].first == found[begin].first) ++end;
    all[found[begin].first].*set = std::span(flat).subspan(begin, end - begin);
  }
}

}  // namespace

void Positions::walk_all(const Counterparts& functions, bool lines_tell, const std::vector<std::uint64_t>& names,
                         std::size_t most_entries) {
  const Side& side = code_.side();
  const std::size_t entries = side.stack.size();
  std::size_t frames = 0;
  for (std::size_t entry = 0; entry < entries; ++entry) frames += side.frames(entry).frames().size();
  stacks_.reserve(frames);
  end_of_stack_.reserve(entries);
  folded_.reserve(entries);
  runs_.reserve(entries);
  index_.reserve(code_.function.size());
  all.reserve(code_.function.size());
  base_.assign(code_.function.size(), kNone);
  std::uint64_t bits = 0;  // a stack is read if its run has none of them: both sides read the same runs
  while (most_entries / (bits + 1) > kManyStacks) bits = 2 * bits + 1;
  Calls next;
  std::vector<FrameId> scratch;
  for (std::size_t entry = 0; entry < entries; ++entry) {
    folded_.push_back(walk(code_.frames(entry, scratch), functions, lines_tell) ? 1 : 0);
    end_of_stack_.push_back(stacks_.size());
    std::uint32_t callee = kAllocation;
    std::uint64_t run = 0;
    for (const std::uint32_t position : stack(entry)) {
      next.add(position, callee);
      callee = function_[position];
      run = run * kHashStep + names[callee];
    }
    run = mix64(run);
    runs_.push_back(((run >> 32U) & bits) == 0 ? run : 0);
  }
  share_out(next.all(), next_, all, &Position::next);
}

std::uint32_t Positions::add(Position made) {
  const auto position = static_cast<std::uint32_t>(all.size());
  index_.insert(made.key, position);
  function_.push_back(made.function);
  all.push_back(std::move(made));
  return position;
}

std::uint32_t Positions::position_of(std::uint32_t function, FrameId frame, bool stands_in) {
  const std::int32_t line = code_.line[index_of(frame)];
  const std::uint64_t key =
      mix64(std::uint64_t{function} << 32U | static_cast<std::uint32_t>(line)) ^ (stands_in ? 1U : 0U);
  const std::uint32_t known = index_.find(key, [&](std::uint32_t p) { return all[p].key == key; });
  if (known != HashIndex::kAbsent) return known;
  Position made;
  made.function = function, made.line = line, made.key = key, made.frame = frame, made.stands_in = stands_in;
  return add(std::move(made));
}

std::uint32_t Positions::with_line_below(std::uint32_t position, FrameId frame) {
  const std::int32_t line = code_.line[index_of(frame)];
  const std::uint64_t key = mix64(all[position].key ^ static_cast<std::uint32_t>(line));
  const std::uint32_t known = index_.find(key, [&](std::uint32_t p) { return all[p].key == key; });
  if (known != HashIndex::kAbsent) return known;
  Position made = all[position];
  made.below.push_back(line), made.key = key, made.frame = frame;
  return add(std::move(made));
}

/// Adds the positions of a stack to `stacks_`. True: it has frames of functions that only this side has. Who
/// a numbered closure is on the other side its line says: it is no sign of new code.
bool Positions::walk(std::span<const FrameId> frames, const Counterparts& functions, bool lines_tell) {
  const std::size_t begin = stacks_.size();
  stacks_.resize(begin + frames.size());
  std::size_t known = 0;  // most stacks have only frames that others had before them
  for (; known < frames.size() && base_[index_of(frames[known])] != kNone; ++known)
    stacks_[begin + known] = base_[index_of(frames[known])];
  if (known == frames.size()) return false;
  stacks_.resize(begin);
  std::size_t numbered = 0, others = 0;            // frames of functions that only this side has
  for (std::size_t k = frames.size(); k-- > 0;) {  // from the root down
    const std::size_t i = index_of(frames[k]);
    const std::uint32_t function = code_.function[i], number = functions.number[function];
    if (number != kNone) {
      if (base_[i] == kNone) base_[i] = position_of(number, frames[k], false);
      stacks_.push_back(base_[i]);
      continue;
    }
    (code_.functions[function].is_numbered ? numbered : others) += 1;
    const std::uint32_t other = functions.stands_in[function];
    if (stacks_.size() == begin) continue;
    if (other != kNone && function_[stacks_.back()] != other) {
      stacks_.push_back(position_of(other, frames[k], true));
    } else if (lines_tell) {
      stacks_.back() = with_line_below(stacks_.back(), frames[k]);
    }
  }
  // Where most functions have no counterpart, their callers are no evidence: new code below an old function is new.
  if (2 * (stacks_.size() - begin) < frames.size() - numbered) stacks_.resize(begin);
  std::reverse(stacks_.begin() + static_cast<std::ptrdiff_t>(begin), stacks_.end());
  return others > 0;
}

void Positions::gather(const std::vector<std::uint64_t>& both) {
  const Side& side = code_.side();
  Calls deep;
  std::vector<std::pair<std::uint32_t, std::int64_t>> sizes;
  std::vector<std::uint32_t> used;                       // entries whose objects are compared
  std::vector<std::size_t> end_of_uses(all.size() + 1);  // per position; first, how many the one before has
  for (std::uint32_t entry = 0; entry < side.stack.size(); ++entry) {
    const std::span<const std::uint32_t> own = stack(entry);
    const std::uint64_t run = runs_[entry];
    const std::int64_t objects = side.objects.empty() ? 0 : side.objects[entry];
    if (objects > 0 && !own.empty()) sizes.emplace_back(own.front(), side.value[entry] / objects);
    if (run == 0) continue;
    std::uint32_t callee = kAllocation, below = kAllocation;
    for (const std::uint32_t position : own) {
      deep.add(position, callee);
      deep.add(position, below);
      below = std::exchange(callee, function_[position]);
    }
    if (objects <= 0 || !std::binary_search(both.begin(), both.end(), run)) continue;
    used.push_back(entry);
    for (const std::uint32_t position : own) ++end_of_uses[position + 1];
  }
  share_out(deep.all(), deep_, all, &Position::deep);
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  share_out(sizes, sizes_, all, &Position::sizes);

  std::partial_sum(end_of_uses.begin(), end_of_uses.end(), end_of_uses.begin());
  uses_.resize(end_of_uses.back());
  for (const std::uint32_t entry : used) {
    for (const std::uint32_t position : stack(entry))
      uses_[end_of_uses[position]++] = {runs_[entry], static_cast<double>(side.objects[entry])};
  }
  for (std::size_t p = 0; p < all.size(); ++p) {
    const std::size_t begin = p == 0 ? 0 : end_of_uses[p - 1];
    const std::span<Use> mine = std::span(uses_).subspan(begin, end_of_uses[p] - begin);
    std::sort(mine.begin(), mine.end());
    std::size_t kept = 0;
    for (const Use use : mine) {
      if (kept > 0 && mine[kept - 1].run == use.run)
        mine[kept - 1].objects += use.objects;
      else
        mine[kept++] = use;
    }
    all[p].uses = mine.first(kept);
  }
}

}  // namespace snapdiff::diff::rebuild
