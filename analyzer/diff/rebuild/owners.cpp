#include "analyzer/diff/rebuild/owners.hpp"

#include <algorithm>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

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

/// Per function a number of its file.
std::vector<std::uint32_t> number_files(const Code& code) {
  std::vector<std::uint32_t> out;
  out.reserve(code.functions.size());
  std::unordered_map<std::string_view, std::uint32_t> numbers;
  for (const Function& f : code.functions)
    out.push_back(numbers.try_emplace(f.file, static_cast<std::uint32_t>(numbers.size())).first->second);
  return out;
}

}  // namespace

Owners::Owners(const Code& code) : anonymous_(code.functions.size(), 0) {
  for (std::size_t f = 0; f < anonymous_.size(); ++f) anonymous_[f] = says_only_kind(code.functions[f]) ? 1 : 0;
  if (std::find(anonymous_.begin(), anonymous_.end(), 1) == anonymous_.end()) return;
  of_.resize(anonymous_.size());
  const std::vector<std::uint32_t> file_of = number_files(code);
  // Per file its named function that the frames from the root down to the current one passed last, of which entry.
  std::vector<std::pair<std::uint32_t, std::size_t>> last_named(code.functions.size(), {kNone, 0});
  std::unordered_set<std::uint64_t> known;
  std::vector<FrameId> scratch;
  for (std::size_t entry = 0; entry < code.side().stack.size(); ++entry) {
    const std::span<const FrameId> frames = code.frames(entry, scratch);
    for (std::size_t k = frames.size(); k-- > 0;) {
      const std::uint32_t own = code.function[index_of(frames[k])];
      auto& [named, of_entry] = last_named[file_of[own]];
      if (anonymous_[own] == 0) {
        named = own, of_entry = entry;
      } else if (named != kNone && of_entry == entry && known.insert(std::uint64_t{own} << 32U | named).second) {
        of_[own].push_back(named);
      }
    }
  }
  for (std::vector<std::uint32_t>& owners : of_) std::sort(owners.begin(), owners.end());
}

bool BothOwners::may_be_same(std::uint32_t a, std::uint32_t b, const FunctionMap& map, bool unmapped) const {
  if (!before.is_anonymous(a) || !after.is_anonymous(b)) return true;
  const std::vector<std::uint32_t>&in_a = before.of(a), &in_b = after.of(b);
  if (in_a.empty() || in_b.empty()) return true;
  const bool open_b = unmapped && std::any_of(in_b.begin(), in_b.end(),
                                              [&](std::uint32_t other) { return map.before[other] == kNone; });
  return std::any_of(in_a.begin(), in_a.end(), [&](std::uint32_t owner) {
    const std::uint32_t there = map.after[owner];
    return there != kNone ? std::binary_search(in_b.begin(), in_b.end(), there) : open_b;
  });
}

void BothOwners::match_only_ones(FunctionMap& map) const {
  if (!before.any() || !after.any()) return;
  const std::vector<std::uint32_t> in_a = only_closures(before, map.after.size());
  const std::vector<std::uint32_t> in_b = only_closures(after, map.before.size());
  std::vector<std::pair<std::uint32_t, std::uint32_t>> found;
  for (std::uint32_t owner = 0; owner < in_a.size(); ++owner) {
    const std::uint32_t there = map.after[owner];
    if (there == kNone || in_a[owner] >= kNone - 1 || in_b[there] >= kNone - 1) continue;
    found.emplace_back(in_a[owner], in_b[there]);
  }
  for (const auto& [a, b] : found) {
    if (map.after[a] == kNone && map.before[b] == kNone) map.match(a, b);
  }
}

}  // namespace snapdiff::diff::rebuild
