#include "analyzer/diff/rebuild/owners.hpp"

#include <algorithm>
#include <span>

#include "analyzer/diff/rebuild/function_map.hpp"

namespace snapdiff::diff::rebuild {
namespace {

/// Names that say what kind of function it is and not which; "<module>" is its file's.
bool says_only_kind(const Function& f) {
  return f.plain == "(anonymous)" || (f.plain.starts_with('<') && f.plain.ends_with('>') && f.plain != "<module>");
}

/// Per owner its only closure; kNone without one, kNone - 1 of several.
std::vector<std::uint32_t> only_closures(const Owners& owners, std::size_t functions) {
  std::vector<std::uint32_t> out(functions, kNone);
  for (std::uint32_t f = 0; f < functions; ++f) {
    if (!owners.is_anonymous(f)) continue;
    const bool one = owners.of(f).size() == 1;
    for (const std::uint32_t owner : owners.of(f)) out[owner] = one && out[owner] == kNone ? f : kNone - 1;
  }
  return out;
}

}  // namespace

Owners::Owners(const Code& code) : anonymous_(code.functions.size(), 0) {
  for (std::size_t f = 0; f < anonymous_.size(); ++f) anonymous_[f] = says_only_kind(code.functions[f]) ? 1 : 0;
  if (std::find(anonymous_.begin(), anonymous_.end(), 1) == anonymous_.end()) return;
  of_.resize(anonymous_.size());
  std::vector<FrameId> scratch;
  for (std::size_t entry = 0; entry < code.side().stack.size(); ++entry) {
    const std::span<const FrameId> frames = code.frames(entry, scratch);
    for (std::size_t k = 0; k < frames.size(); ++k) {
      const std::uint32_t own = code.function[index_of(frames[k])];
      if (anonymous_[own] == 0) continue;
      const auto owner =
          std::find_if(frames.begin() + static_cast<std::ptrdiff_t>(k) + 1, frames.end(), [&](FrameId at) {
            const std::uint32_t f = code.function[index_of(at)];
            return anonymous_[f] == 0 && code.functions[f].file == code.functions[own].file;
          });
      if (owner == frames.end()) continue;
      std::vector<std::uint32_t>& owners = of_[own];
      const std::uint32_t f = code.function[index_of(*owner)];
      const auto at = std::lower_bound(owners.begin(), owners.end(), f);
      if (at == owners.end() || *at != f) owners.insert(at, f);
    }
  }
}

bool BothOwners::may_be_same(std::uint32_t a, std::uint32_t b, const FunctionMap& map, bool unmapped) const {
  if (!before.is_anonymous(a) || !after.is_anonymous(b)) return true;
  const std::vector<std::uint32_t>&in_a = before.of(a), &in_b = after.of(b);
  if (in_a.empty() || in_b.empty()) return true;
  return std::any_of(in_a.begin(), in_a.end(), [&](std::uint32_t owner) {
    const std::uint32_t there = map.after[owner];
    if (there != kNone) return std::binary_search(in_b.begin(), in_b.end(), there);
    return unmapped &&
           std::any_of(in_b.begin(), in_b.end(), [&](std::uint32_t other) { return map.before[other] == kNone; });
  });
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> BothOwners::only_ones(const FunctionMap& map) const {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> out;
  if (!before.any() || !after.any()) return out;
  const std::vector<std::uint32_t> in_a = only_closures(before, map.after.size());
  const std::vector<std::uint32_t> in_b = only_closures(after, map.before.size());
  for (std::uint32_t owner = 0; owner < in_a.size(); ++owner) {
    const std::uint32_t there = map.after[owner];
    if (there == kNone || in_a[owner] >= kNone - 1 || in_b[there] >= kNone - 1) continue;
    out.emplace_back(in_a[owner], in_b[there]);
  }
  return out;
}

}  // namespace snapdiff::diff::rebuild
