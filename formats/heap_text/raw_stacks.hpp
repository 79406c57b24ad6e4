#pragma once

#include <cmath>

#include "formats/input/type_row.hpp"

/// Rows as they come, before the memory map at the end of the file says what their addresses
/// mean. Memory is bounded by the distinct stacks: four bytes per frame and some fifty per stack.
namespace snapdiff::formats::heap_text {

inline bool to_integer(double value, std::int64_t& out) {
  constexpr double kBeyond = 9223372036854775808.0;  // 2^63
  if (!(value > -kBeyond && value < kBeyond)) return false;
  out = static_cast<std::int64_t>(value);
  return true;
}

/// Most frames that one stack may have.
inline constexpr std::size_t kMaxFrames = 1'000'000;

/// Of Go's runtime.MemStats, in its order: what its text form prints (src/runtime/pprof/pprof.go) and its heap dump
/// has; the pauses follow.
inline constexpr KnownCounter kMemStats[] = {
    {"Alloc", "bytes"},         {"TotalAlloc", "bytes", true}, {"Sys", "bytes"},          {"Lookups", "count", true},
    {"Mallocs", "count", true}, {"Frees", "count", true},      {"HeapAlloc", "bytes"},    {"HeapSys", "bytes"},
    {"HeapIdle", "bytes"},      {"HeapInuse", "bytes"},        {"HeapReleased", "bytes"}, {"HeapObjects", "count"},
    {"StackInuse", "bytes"},    {"StackSys", "bytes"},         {"MSpanInuse", "bytes"},   {"MSpanSys", "bytes"},
    {"MCacheInuse", "bytes"},   {"MCacheSys", "bytes"},        {"BuckHashSys", "bytes"},  {"GCSys", "bytes"},
    {"OtherSys", "bytes"},      {"NextGC", "bytes"},           {"LastGC", "nanoseconds"}};

/// The four numbers of a row, in file order.
struct Values {
  std::int64_t inuse_objects = 0;
  std::int64_t inuse_space = 0;
  std::int64_t alloc_objects = 0;
  std::int64_t alloc_space = 0;
  friend bool operator==(const Values&, const Values&) = default;
};

/// a += b; false when a sum leaves 64 bits (a is then half changed).
[[nodiscard]] inline bool checked_add(Values& a, const Values& b) {
  return snapdiff::checked_add(a.inuse_objects, b.inuse_objects, a.inuse_objects) &&
         snapdiff::checked_add(a.inuse_space, b.inuse_space, a.inuse_space) &&
         snapdiff::checked_add(a.alloc_objects, b.alloc_objects, a.alloc_objects) &&
         snapdiff::checked_add(a.alloc_space, b.alloc_space, a.alloc_space);
}

/// Distinct stacks with the sums of their rows, in order of first appearance.
class RawStacks {
 public:
  /// @param frames  rows of the addresses, leaf first; may be empty
  /// Returns false when a sum leaves 64 bits.
  [[nodiscard]] bool add(std::span<const std::uint32_t> frames, const Values& values) {
    // Keyed, so that no input can be made whose stacks all fall into one slot.
    std::uint64_t hash = keyed_hash(frames.size());
    for (const std::uint32_t frame : frames) hash = (hash ^ frame) * 0x9e3779b97f4a7c15ULL + (hash >> 29);
    hash = mix64(hash);
    const auto [row, is_new] = index_.intern(hash, size(), [&](std::uint32_t r) {
      const auto other = this->frames(r);
      return std::equal(frames.begin(), frames.end(), other.begin(), other.end());
    });
    if (!is_new) return checked_add(values_[row], values);
    frame_.insert(frame_.end(), frames.begin(), frames.end());
    begin_.push_back(frame_.size());
    values_.push_back(values);
    return true;
  }

  /// Hint: so many frames may come. Reserved pages cost nothing until they are used; growing by
  /// doubling would touch each of them three times.
  void reserve_frames(std::size_t frames) { frame_.reserve(frames); }

  std::size_t size() const { return values_.size(); }
  std::size_t frame_count() const { return frame_.size(); }
  std::span<const std::uint32_t> frames(std::size_t stack) const {
    return std::span(frame_).subspan(begin_[stack], begin_[stack + 1] - begin_[stack]);
  }

  const Values& values(std::size_t stack) const { return values_[stack]; }

 private:
  std::vector<std::uint32_t> frame_;
  std::vector<std::uint64_t> begin_{0};
  std::vector<Values> values_;
  HashIndex index_;
};

/// How the numbers of a row become estimates.
///   none  they already are what was allocated
///   v2    Poisson sampling of bytes with mean gap R: an object of size s is seen with probability 1 - exp(-s/R)
///   v1    the oldest sampler: bytes per object below R count as R (perl pprof's rule)
enum class Rule : std::uint8_t { none, v2, v1 };

struct Sampler {
  Rule rule = Rule::none;
  std::int64_t period = 0;  ///< R, bytes
};

inline bool scale(const Sampler& sampler, std::int64_t& count, std::int64_t& bytes) {
  if (count == 0 || bytes == 0) {
    count = 0;
    bytes = 0;
    return true;
  }
  const double size = static_cast<double>(bytes) / static_cast<double>(count);
  const auto period = static_cast<double>(sampler.period);
  if (size < 0) return true;  // a count and bytes of unlike sign: no size to reason with
  double factor = 1;
  if (sampler.rule == Rule::v2) {
    factor = 1 / -std::expm1(-size / period);
  } else if (size < period) {
    factor = period / size;
  }
  if (factor == 1) return true;  // keeps integers beyond 2^53 exact
  return to_integer(static_cast<double>(count) * factor, count) &&
         to_integer(static_cast<double>(bytes) * factor, bytes);
}

/// Un-samples one row: the in-use and the allocated pair each on its own, truncated toward zero
/// (google/pprof, scaleHeapSample). Returns false when an estimate leaves 64 bits.
[[nodiscard]] inline bool unsample(const Sampler& sampler, Values& values) {
  if (sampler.rule == Rule::none || sampler.period <= 1) return true;
  return scale(sampler, values.inuse_objects, values.inuse_space) &&
         scale(sampler, values.alloc_objects, values.alloc_space);
}

}  // namespace snapdiff::formats::heap_text
