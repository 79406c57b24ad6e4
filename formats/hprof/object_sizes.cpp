#include "formats/hprof/object_sizes.hpp"

#include <algorithm>
#include <limits>

namespace snapdiff::formats::hprof {
namespace {

// An overlap cannot be: it outweighs a fit, which may be chance.
constexpr std::int64_t kOverlap = -4;
constexpr std::int64_t kEnoughVotes = 32;  // fits; every dump of a virtual machine has thousands

constexpr std::uint64_t aligned(std::uint64_t offset, std::uint64_t to) { return (offset + to - 1) / to * to; }

std::uint64_t field_end(const ObjectModel& model, std::uint64_t at, OwnFields own) {
  if (own.eights > 0 && aligned(at, 8) != at) {
    // Four bytes are left before the first long or double: one of the widest that fit goes there.
    std::uint64_t gap = aligned(at, 8) - at;
    at += gap;
    const auto fill = [&gap](std::uint32_t& count, std::uint64_t size, std::uint64_t most) {
      for (; most > 0 && count > 0 && gap >= size; --most, --count) gap -= size;
    };
    fill(own.fours, 4, 1);
    fill(own.twos, 2, 2);
    fill(own.ones, 1, 4);
    fill(own.references, model.reference, 1);
  }
  at += std::uint64_t{own.eights} * 8 + std::uint64_t{own.fours} * 4 + std::uint64_t{own.twos} * 2 + own.ones;
  if (own.references > 0) at = aligned(at, model.reference) + std::uint64_t{own.references} * model.reference;
  return aligned(at, model.reference);
}

}  // namespace

FieldEnds field_starts() {
  FieldEnds out{};
  for (std::size_t i = 0; i < kByClass.size(); ++i) out[i] = kByClass[i].header;
  return out;
}

FieldEnds field_ends(const FieldEnds& begin, const OwnFields& own) {
  FieldEnds out{};
  for (std::size_t i = 0; i < kByClass.size(); ++i) out[i] = field_end(kByClass[i], begin[i], own);
  return out;
}

// In kByClass's models only those classes differ that have gaps; where none does, the first of equals wins.
// 64 bits: compressed references and class pointers; neither; class pointers only; references only;
// compact headers (JDK 24) with and without compressed references; the commonest with objects aligned to 16, for which
// heaps of more than 32 GiB have compressed references. 32 bits, Android: one.
ModelVote::ModelVote(std::uint32_t id_bytes)
    : all_{{{12, 16, 4}, 0}, {{16, 24, 8}, 0},        {{12, 16, 8}, 0},        {{16, 24, 4}, 0},
           {{8, 12, 8}, 0},  {kByClass[0], 0},        {kByClass[1], 0},        {kByClass[2], 0},
           {kByClass[3], 0}, {{12, 16, 4, 0, 16}, 0}, {{12, 16, 4, 1, 16}, 0}, {{16, 24, 4, 0, 16}, 0},
           {{8, 12, 4}, 0},  {kByClass[4], 0}} {
  constexpr std::size_t kSmall = 12;  // those of 32 bits, of which the first is a compact header's too
  candidates_ = id_bytes == 8 ? std::span<Candidate>(all_, kSmall + 1) : std::span<Candidate>(all_ + kSmall, 2);
}

void ModelVote::vote(const Equals& equals) {
  if (equals.objects == 0) return;
  for (Candidate& candidate : candidates_) {
    const std::uint64_t size = size_of(candidate.model, equals.of);
    if (size == equals.distance) {
      candidate.votes += equals.objects;
    } else if (size > equals.distance) {
      candidate.votes += kOverlap * equals.objects;
    }
  }
}

ObjectModel ModelVote::winner() {
  for (Equals& equals : equals_) {
    vote(equals);
    equals.objects = 0;
  }
  // Gaps of a few objects fit the wider alignment by chance.
  const auto votes = [](const Candidate& c) {
    return c.model.alignment != 8 && c.votes < kEnoughVotes ? std::numeric_limits<std::int64_t>::min() : c.votes;
  };
  const auto less = [&](const Candidate& a, const Candidate& b) { return votes(a) < votes(b); };
  return std::max_element(candidates_.begin(), candidates_.end(), less)->model;
}

std::string text_of(const ObjectModel& model) {
  return "headers of " + std::to_string(model.header) + " bytes, of arrays " + std::to_string(model.array_header) +
         ", references of " + std::to_string(model.reference) +
         (model.alignment != 8 ? ", objects aligned to " + std::to_string(model.alignment) : "") +
         (model.by_class != 0 ? ", the fields of each class after those of its ancestors" : "");
}

}  // namespace snapdiff::formats::hprof
