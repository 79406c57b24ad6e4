#pragma once

#include "formats/input/type_row.hpp"

/// Rows as they come, before the memory map at the end of the file says what their addresses
/// mean. Memory is bounded by the distinct stacks: four bytes per frame and some fifty per stack.
namespace snapdiff::formats::heap_text {

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
[[nodiscard]] bool checked_add(Values& a, const Values& b);

/// Distinct stacks with the sums of their rows, in order of first appearance.
class RawStacks {
 public:
  /// @param frames  rows of the addresses, leaf first; may be empty
  /// Returns false when a sum leaves 64 bits.
  [[nodiscard]] bool add(std::span<const std::uint32_t> frames, const Values& values);

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

/// Un-samples one row: the in-use and the allocated pair each on its own, truncated toward zero
/// (google/pprof, scaleHeapSample). Returns false when an estimate leaves 64 bits.
[[nodiscard]] bool unsample(const Sampler& sampler, Values& values);

}  // namespace snapdiff::formats::heap_text
