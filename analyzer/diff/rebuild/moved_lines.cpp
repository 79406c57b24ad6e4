#include "analyzer/diff/rebuild/moved_lines.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <unordered_map>

#include "analyzer/diff/names.hpp"

namespace snapdiff::diff::rebuild {
namespace {

constexpr std::size_t kFewStacks = 4;  // fewer may differ so by chance
constexpr double kExplained = 0.5;     // of the bytes that are left, on each side
constexpr std::size_t kMost = 20'000;  // stacks: more tell nothing new
constexpr std::size_t kDeepest = 128;  // frames
constexpr std::uint64_t kBase = 0x9e3779b97f4a7c15ULL;

/// Numbers of a stack, one per frame: the stack without the line of that frame, and the size of its objects.
class Masked {
 public:
  explicit Masked(const Code& code) : code_(code) {
    for (const Function& f : code.functions)
      names_.push_back(hash_bytes(f.name.empty() ? f.file : std::string_view(f.base), 1).low);
  }

  /// Calls body(number, line) for each frame; for none where the size of its objects is not known.
  template <class Body>
  void each(std::uint32_t entry, Body body) {
    const Side& side = code_.side();
    const std::int64_t objects = side.objects.empty() ? 0 : side.objects[entry];
    if (objects <= 0) return;
    std::span<const FrameId> frames = code_.frames(entry, scratch_);
    frames = frames.first(std::min(frames.size(), kDeepest));
    std::uint64_t whole = mix64(static_cast<std::uint64_t>(side.value[entry] / objects)) + frames.size();
    std::uint64_t power = 1;
    for (const FrameId frame : frames) whole += line_hash(frame) * (power *= kBase);
    power = 1;
    for (const FrameId frame : frames) {
      power *= kBase;
      const std::int32_t line = code_.line[index_of(frame)];
      if (line != 0) body(mix64(whole - line_hash(frame) * power + name_hash(frame) * power), line);
    }
  }

 private:
  std::uint64_t name_hash(FrameId frame) const { return names_[code_.function[index_of(frame)]]; }
  std::uint64_t line_hash(FrameId frame) const {
    return mix64(name_hash(frame) + static_cast<std::uint32_t>(code_.line[index_of(frame)]));
  }

  const Code& code_;
  std::vector<std::uint64_t> names_;  ///< per function
  std::vector<FrameId> scratch_;
};

/// Share of the bytes of `left` that stand on the other side but for a line, and in how many stacks.
struct Explained {
  double share = 0;
  std::size_t stacks = 0;
};

Explained explained(const Code& code, const std::vector<std::uint32_t>& left, Masked& masked,
                    const std::unordered_map<std::uint64_t, std::int32_t>& there) {
  Explained out;
  double all = 0;
  for (const std::uint32_t entry : left) {
    const double bytes = std::abs(static_cast<double>(code.side().value[entry]));
    bool found = false;
    masked.each(entry, [&](std::uint64_t number, std::int32_t line) {
      const auto at = there.find(number);
      found = found || (at != there.end() && at->second != line);
    });
    all += bytes;
    if (!found) continue;
    out.share += bytes;
    ++out.stacks;
  }
  out.share = all > 0 ? out.share / all : 0;
  return out;
}

}  // namespace

bool differ_by_a_line(const Code& before, const Code& after, const std::vector<std::uint32_t>& left_before,
                      const std::vector<std::uint32_t>& left_after) {
  if (left_before.size() > kMost || left_after.size() > kMost) return false;
  Masked in_a(before), in_b(after);
  const auto numbers = [](const std::vector<std::uint32_t>& left, Masked& masked) {
    std::unordered_map<std::uint64_t, std::int32_t> out;
    for (const std::uint32_t entry : left)
      masked.each(entry, [&](std::uint64_t number, std::int32_t line) { out.emplace(number, line); });
    return out;
  };
  const auto enough = [](const Explained& one) { return one.share >= kExplained && one.stacks >= kFewStacks; };
  return enough(explained(before, left_before, in_a, numbers(left_after, in_b))) &&
         enough(explained(after, left_after, in_b, numbers(left_before, in_a)));
}

}  // namespace snapdiff::diff::rebuild
