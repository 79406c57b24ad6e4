#include "analyzer/diff/rebuild/positions.hpp"

#include <algorithm>
#include <cmath>

namespace snapdiff::diff::rebuild {
namespace {

constexpr std::size_t kMostCallees = 64;  // per position: more tell nothing new
constexpr std::size_t kMostSizes = 12;
constexpr std::uint32_t kMostStacks = 48;  // per position: what goes through it is known by then

template <class T>
void add_sorted(std::vector<T>& set, T value, std::size_t most) {
  if (set.size() >= most) return;
  const auto at = std::lower_bound(set.begin(), set.end(), value);
  if (at == set.end() || *at != value) set.insert(at, value);
}

std::uint64_t pair_key(std::uint32_t high, std::uint32_t low) { return static_cast<std::uint64_t>(high) << 32U | low; }

}  // namespace

Positions::Positions(const Code& code, const std::vector<std::uint32_t>& counterpart)
    : code_(code), counterpart_(counterpart), base_(code.function.size(), kNone) {}

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
  for (std::size_t entry = 0; entry < code_.side().stack.size(); ++entry) {
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
  const std::int32_t line = ignored_[function] != 0 ? 0 : code_.line[i];
  const auto [entry, added] = by_line_.try_emplace(pair_key(function, static_cast<std::uint32_t>(line)),
                                                   static_cast<std::uint32_t>(all.size()));
  if (added) {
    Position made;
    made.function = function;
    made.line = line;
    all.push_back(std::move(made));
  }
  return base_[i] = entry->second;
}

std::uint32_t Positions::part_of(std::uint32_t above, std::uint32_t function, std::int32_t line) {
  // Two steps, so that one 64-bit key holds each.
  const auto intern = [&](std::uint64_t key, std::uint32_t parent, std::int32_t of_line) {
    const auto [entry, added] = parts_.try_emplace(key, static_cast<std::uint32_t>(all.size()));
    if (added) {
      Position made;
      made.function = all[parent].function;
      made.above = parent;
      made.line = of_line;
      all.push_back(std::move(made));
    }
    return entry->second;
  };
  const std::uint64_t mixed =
      mix64(pair_key(above, function)) ^ static_cast<std::uint32_t>(line) * 0x9e3779b97f4a7c15ULL;
  return intern(mixed, above, line);
}

void Positions::walk(std::size_t entry, std::vector<std::uint32_t>& out, bool& folded) {
  out.clear();
  folded = false;
  const std::span<const FrameId> frames = code_.frames(entry, scratch_);
  std::uint32_t current = kNone;
  for (std::size_t k = frames.size(); k-- > 0;) {  // from the root
    const std::uint32_t own = base(frames[k]);
    if (own != kNone) {
      if (current != kNone) out.push_back(current);
      current = own;
      continue;
    }
    folded = true;
    const std::size_t i = index_of(frames[k]);
    if (current != kNone && !leaves_out_) current = part_of(current, code_.function[i], code_.line[i]);
  }
  if (current != kNone) out.push_back(current);
  // Where most functions have no counterpart, their callers are no evidence: new code below an old function is new.
  if (2 * out.size() < frames.size()) out.clear();
  std::reverse(out.begin(), out.end());
}

/// The functions above and below one position of a stack.
void Positions::add_around(const std::vector<std::uint32_t>& stack, std::size_t k) {
  Position& position = all[stack[k]];
  for (std::size_t up = k + 1; up < std::min(stack.size(), k + 3); ++up)
    add_sorted(position.from, all[stack[up]].function, kMostCallees);
  const std::uint32_t called = k == 0 ? kAllocation : all[stack[k - 1]].function;
  add_sorted(position.next, called, kMostCallees);
  add_sorted(position.deep, called, kMostCallees);
  if (k > 1) add_sorted(position.deep, all[stack[k - 2]].function, kMostCallees);
  if (k == 1) add_sorted(position.deep, kAllocation, kMostCallees);
}

void Positions::gather() {
  std::vector<std::uint32_t> stack;
  const Side& side = code_.side();
  bool folded = false;
  for (std::size_t entry = 0; entry < side.stack.size(); ++entry) {
    walk(entry, stack, folded);
    if (stack.empty()) continue;
    const double weight = std::abs(static_cast<double>(side.value[entry])) + 1;
    const std::uint32_t leaf = all[stack.front()].function;
    for (std::size_t k = 0; k < stack.size(); ++k) {
      Position& position = all[stack[k]];
      position.final = true;
      position.bytes += weight;
      if (++position.stacks > kMostStacks) continue;
      if (k > 0) add_sorted(position.deep, leaf, kMostCallees);
      add_around(stack, k);
    }
    Position& site = all[stack.front()];
    add_sorted(site.ways, code_.way(entry), kMostCallees);
    const std::int64_t objects = side.objects.empty() ? 0 : side.objects[entry];
    if (objects > 0) add_sorted(site.sizes, side.value[entry] / objects, kMostSizes);
  }
}

std::vector<std::int32_t> Positions::path(std::uint32_t position) const {
  std::vector<std::int32_t> out;
  for (std::uint32_t p = position; p != kNone; p = all[p].above) out.push_back(all[p].line);
  std::reverse(out.begin(), out.end());
  return out;
}

}  // namespace snapdiff::diff::rebuild
