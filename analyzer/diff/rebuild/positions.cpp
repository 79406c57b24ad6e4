#include "analyzer/diff/rebuild/positions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace snapdiff::diff::rebuild {
namespace {

constexpr std::size_t kMostCallees = 64;  // per position: more tell nothing new
constexpr std::size_t kMostSizes = 12;
constexpr std::size_t kMostContexts = 24;
constexpr std::size_t kContextStacks = 16'000;  // of a side: as many tell
constexpr std::uint32_t kMostStacks = 24;       // per position: what goes through it is known by then

constexpr std::uint64_t kAnyContext = std::numeric_limits<std::uint64_t>::max();

std::uint64_t pair_key(std::uint32_t high, std::uint32_t low) { return static_cast<std::uint64_t>(high) << 32U | low; }

}  // namespace

Positions::Positions(const Code& code, const std::vector<std::uint32_t>& counterpart,
                     const std::vector<std::uint32_t>& stands_in)
    : code_(code), counterpart_(counterpart), stands_in_(stands_in), base_(code.function.size(), kNone) {
  by_line_.reserve(code.function.size());
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
  return base_[i] = line_of(function, frame, false);
}

/// The line of another function that stands in for this one is apart from its own.
std::uint32_t Positions::line_of(std::uint32_t function, FrameId frame, bool stands_in) {
  const std::int32_t line = ignored_[function] != 0 ? 0 : code_.line[index_of(frame)];
  const std::uint32_t key = static_cast<std::uint32_t>(line) | (stands_in ? 1U << 31U : 0);
  const auto [entry, added] = by_line_.try_emplace(pair_key(function, key), static_cast<std::uint32_t>(all.size()));
  if (added) {
    Position made;
    made.function = function;
    made.line = line;
    made.frame = frame;
    function_.push_back(function);
    all.push_back(std::move(made));
  }
  return entry->second;
}

std::uint32_t Positions::part_of(std::uint32_t above, FrameId frame) {
  const std::uint32_t function = code_.function[index_of(frame)];
  const std::int32_t line = code_.line[index_of(frame)];
  const std::uint64_t key = mix64(pair_key(above, function)) ^ static_cast<std::uint32_t>(line) * 0x9e3779b97f4a7c15ULL;
  const auto [entry, added] = parts_.try_emplace(key, static_cast<std::uint32_t>(all.size()));
  if (added) {
    Position made;
    made.function = all[above].function;
    made.above = above;
    made.line = line;
    made.frame = frame;
    function_.push_back(made.function);
    all.push_back(std::move(made));
  }
  return entry->second;
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
    const std::uint32_t other = stands_in_[code_.function[index_of(frames[k])]];
    if (other != kNone && current != kNone && function_[current] != other) {
      out.push_back(current);
      current = line_of(other, frames[k], true);
      continue;
    }
    if (current != kNone && !leaves_out_) current = part_of(current, frames[k]);
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
    position.from.add(function_[stack[up]], kMostCallees);
  const std::uint32_t called = k == 0 ? kAllocation : function_[stack[k - 1]];
  position.next.add(called, kMostCallees);
  position.deep.add(called, kMostCallees);
  if (k > 1) position.deep.add(function_[stack[k - 2]], kMostCallees);
  if (k == 1) position.deep.add(kAllocation, kMostCallees);
}

void Positions::add_use(std::uint32_t position, std::uint64_t run, double objects) {
  std::vector<Use>& uses = uses_[position];
  if (uses.size() == kMostUses && uses.back().run < run) return;
  const auto at =
      std::lower_bound(uses.begin(), uses.end(), run, [](const Use& use, std::uint64_t r) { return use.run < r; });
  if (at != uses.end() && at->run == run) {
    at->objects += objects;
    return;
  }
  uses.insert(at, {run, objects});
  if (uses.size() > kMostUses) uses.pop_back();
}

void Positions::gather(std::size_t entries) {
  std::uint64_t left_out = 0;  // stacks with any of these bits in their hash: the same ones on both sides
  while (entries / (left_out + 1) > kContextStacks) left_out = 2 * left_out + 1;
  // Counted apart: what most stacks go through is known soon, and is not looked at again.
  struct Through {
    double bytes = 0;
    std::uint64_t context = kAnyContext;  ///< those above are not among the least
    std::uint32_t stacks = 0;
  };
  std::vector<Through> through;
  std::vector<std::uint32_t> stack;
  const Side& side = code_.side();
  bool folded = false;
  for (std::size_t entry = 0; entry < side.stack.size(); ++entry) {
    walk(entry, stack, folded);
    if (stack.empty()) continue;
    const double weight = std::abs(static_cast<double>(side.value[entry])) + 1;
    if (through.size() < all.size()) {
      through.resize(all.size() + all.size() / 2);
      contexts_.resize(through.size());
      uses_.resize(through.size());
    }
    const std::int64_t objects = side.objects.empty() ? 0 : side.objects[entry];
    const std::int64_t size = objects > 0 ? side.value[entry] / objects : 0;
    std::uint64_t run = 0;
    for (const std::uint32_t position : stack) run = mix64(run ^ (function_[position] + 1ULL));
    const bool is_context = ((run >> 32U) & left_out) == 0;
    const std::uint64_t run_and_size = mix64(run ^ static_cast<std::uint64_t>(size));
    const std::uint32_t leaf = function_[stack.front()];
    for (std::size_t k = 0; k < stack.size(); ++k) {
      Through& seen = through[stack[k]];
      seen.bytes += weight;
      if (const std::uint64_t context = k == 0 ? run : run_and_size; is_context && context < seen.context) {
        FewSorted<std::uint64_t>& contexts = contexts_[stack[k]];
        contexts.add_least(context, kMostContexts);
        if (contexts.size() == kMostContexts) seen.context = contexts.back();
      }
      if (is_context && objects > 0) add_use(stack[k], run, static_cast<double>(objects));
      if (++seen.stacks > kMostStacks) continue;
      if (k > 0) all[stack[k]].deep.add(leaf, kMostCallees);
      add_around(stack, k);
    }
    Position& site = all[stack.front()];
    site.ways.add(code_.way(entry), kMostCallees);
    if (objects > 0) site.sizes.add(size, kMostSizes);
    site.objects += std::abs(static_cast<double>(objects));
  }
  contexts_.resize(std::max(contexts_.size(), all.size()));
  uses_.resize(contexts_.size());
  for (std::size_t p = 0; p < std::min(all.size(), through.size()); ++p) {
    all[p].bytes = through[p].bytes;
    all[p].stacks = through[p].stacks;
    all[p].final = through[p].stacks > 0;
  }
}

std::vector<std::int32_t> Positions::path(std::uint32_t position) const {
  std::vector<std::int32_t> out;
  for (std::uint32_t p = position; p != kNone; p = all[p].above) out.push_back(all[p].line);
  std::reverse(out.begin(), out.end());
  return out;
}

}  // namespace snapdiff::diff::rebuild
