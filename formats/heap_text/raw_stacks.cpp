#include "formats/heap_text/raw_stacks.hpp"

#include <cmath>

namespace snapdiff::formats::heap_text {
namespace {

bool to_integer(double value, std::int64_t& out) {
  constexpr double kBeyond = 9223372036854775808.0;  // 2^63
  if (!(value > -kBeyond && value < kBeyond)) return false;
  out = static_cast<std::int64_t>(value);
  return true;
}

bool scale(const Sampler& sampler, std::int64_t& count, std::int64_t& bytes) {
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

}  // namespace

bool checked_add(Values& a, const Values& b) {
  return snapdiff::checked_add(a.inuse_objects, b.inuse_objects, a.inuse_objects) &&
         snapdiff::checked_add(a.inuse_space, b.inuse_space, a.inuse_space) &&
         snapdiff::checked_add(a.alloc_objects, b.alloc_objects, a.alloc_objects) &&
         snapdiff::checked_add(a.alloc_space, b.alloc_space, a.alloc_space);
}

bool RawStacks::add(std::span<const std::uint32_t> frames, const Values& values) {
  // Keyed, so that no input can be made whose stacks all fall into one slot.
  std::uint64_t hash = keyed_hash(frames.size());
  for (const std::uint32_t frame : frames) hash = (hash ^ frame) * 0x9e3779b97f4a7c15ULL + (hash >> 29);
  hash = mix64(hash);
  const std::uint32_t row = index_.find(hash, [&](std::uint32_t r) {
    const auto other = this->frames(r);
    return std::equal(frames.begin(), frames.end(), other.begin(), other.end());
  });
  if (row != HashIndex::kAbsent) return checked_add(values_[row], values);
  index_.insert(hash, static_cast<std::uint32_t>(size()));
  frame_.insert(frame_.end(), frames.begin(), frames.end());
  begin_.push_back(frame_.size());
  values_.push_back(values);
  return true;
}

bool unsample(const Sampler& sampler, Values& values) {
  if (sampler.rule == Rule::none || sampler.period <= 1) return true;
  return scale(sampler, values.inuse_objects, values.inuse_space) &&
         scale(sampler, values.alloc_objects, values.alloc_space);
}

}  // namespace snapdiff::formats::heap_text
