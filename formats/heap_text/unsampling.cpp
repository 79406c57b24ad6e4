#include "formats/heap_text/unsampling.hpp"

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

bool unsample(const Sampler& sampler, Values& values) {
  if (sampler.rule == Rule::none || sampler.period <= 1) return true;
  return scale(sampler, values.inuse_objects, values.inuse_space) &&
         scale(sampler, values.alloc_objects, values.alloc_space);
}

}  // namespace snapdiff::formats::heap_text
