#include "formats/hprof/object_sizes.hpp"

#include <algorithm>

namespace snapdiff::formats::hprof {
namespace {

// An overlap cannot be: it outweighs a fit, which may be chance.
constexpr std::int64_t kOverlap = -4;

}  // namespace

// 64 bits: compressed references and class pointers; neither; class pointers only; references only;
// compact headers (JDK 24) with and without compressed references. 32 bits, Android: one.
ModelVote::ModelVote(std::uint32_t id_bytes)
    : all_{{{12, 16, 4}, 0}, {{16, 24, 8}, 0}, {{12, 16, 8}, 0}, {{16, 24, 4}, 0}, {{8, 12, 4}, 0}, {{8, 12, 8}, 0}} {
  candidates_ = id_bytes == 8 ? std::span<Candidate>(all_) : std::span<Candidate>(all_ + 4, 1);
}

void ModelVote::add(const Contents& of, std::uint64_t distance) {
  for (Candidate& candidate : candidates_) {
    const std::uint64_t size = size_of(candidate.model, of);
    if (size == distance) {
      ++candidate.votes;
    } else if (size > distance) {
      candidate.votes += kOverlap;
    }
  }
}

ObjectModel ModelVote::winner() const {
  const auto less = [](const Candidate& a, const Candidate& b) { return a.votes < b.votes; };
  return std::max_element(candidates_.begin(), candidates_.end(), less)->model;
}

std::string text_of(const ObjectModel& model) {
  return "headers of " + std::to_string(model.header) + " bytes, of arrays " + std::to_string(model.array_header) +
         ", references of " + std::to_string(model.reference);
}

}  // namespace snapdiff::formats::hprof
