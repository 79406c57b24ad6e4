#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

namespace snapdiff::formats::hprof {

// An overlap cannot be: it outweighs a fit, which may be chance.
constexpr std::int64_t kOverlap = -4;

constexpr std::int64_t kEnoughVotes = 32;  // fits; every dump of a virtual machine has thousands

constexpr std::uint64_t aligned(std::uint64_t offset, std::uint64_t to) { return (offset + to - 1) / to * to; }

/// How a virtual machine lays objects out; a dump does not say.
struct ObjectModel {
  std::uint32_t header = 0;
  std::uint32_t array_header = 0;
  std::uint32_t reference = 0;
  /// 0: fields fill the gaps that those of ancestors left; else a place in kByClass, from 1: each class begins after
  /// its ancestors', and gaps between them stay.
  std::uint32_t by_class = 0;
  std::uint32_t alignment = 8;  ///< bytes, a power of two; -XX:ObjectAlignmentInBytes
  friend bool operator==(const ObjectModel&, const ObjectModel&) = default;
};

/// HotSpot before JDK 15. 64 bits: compressed references and class pointers, neither, class pointers only, references
/// only; 32 bits.
inline constexpr std::array<ObjectModel, 5> kByClass = {
    {{12, 16, 4, 1}, {16, 24, 8, 2}, {16, 16, 8, 3}, {16, 24, 4, 4}, {8, 12, 4, 5}}};

/// Fields of one class without those of its ancestors, by their size.
struct OwnFields {
  std::uint32_t eights = 0;
  std::uint32_t fours = 0;
  std::uint32_t twos = 0;
  std::uint32_t ones = 0;
  std::uint32_t references = 0;
};

inline std::uint64_t field_end(const ObjectModel& model, std::uint64_t at, OwnFields own) {
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

/// Where an instance's fields end in each model of kByClass, counted from the object's begin.
using FieldEnds = std::array<std::uint64_t, kByClass.size()>;

/// The ends for a class whose ancestors' fields end at `begin`; field_starts() without any.
/// Source: openjdk/jdk8u, src/share/vm/classfile/classFileParser.cpp, ClassFileParser::layout_fields.
inline FieldEnds field_ends(const FieldEnds& begin, const OwnFields& own) {
  FieldEnds out{};
  for (std::size_t i = 0; i < kByClass.size(); ++i) out[i] = field_end(kByClass[i], begin[i], own);
  return out;
}
inline FieldEnds field_starts() {
  FieldEnds out{};
  for (std::size_t i = 0; i < kByClass.size(); ++i) out[i] = kByClass[i].header;
  return out;
}

/// What is known of one object's contents.
struct Contents {
  std::uint64_t bytes = 0;       ///< fields or elements that are no references
  std::uint64_t references = 0;  ///< fields or elements that are
  bool is_array = false;
  const FieldEnds* ends = nullptr;  ///< of the object's class; null for arrays
  std::uint64_t more = 0;           ///< bytes after the fields: statics of a class object
  friend bool operator==(const Contents&, const Contents&) = default;
};

constexpr std::uint64_t size_of(const ObjectModel& model, const Contents& of) {
  const std::uint64_t fields =
      model.by_class != 0 && of.ends != nullptr
          ? (*of.ends)[model.by_class - 1]
          : (of.is_array ? model.array_header : model.header) + of.bytes + of.references * model.reference;
  // Without a division: ModelVote asks for this a dozen times for each object.
  return (fields + of.more + model.alignment - 1) & ~(std::uint64_t{model.alignment} - 1);
}

/// Votes for the model that explains how far objects lie apart: a dump of live objects comes after a
/// collection that packs them, so that most neighbours touch.
class ModelVote {
 public:
  // In kByClass's models only those classes differ that have gaps; where none does, the first of equals wins.
  // 64 bits: compressed references and class pointers; neither; class pointers only; references only;
  // compact headers (JDK 24) with and without compressed references; the commonest with objects aligned to 16, for
  // which heaps of more than 32 GiB have compressed references. 32 bits, Android: one.
  explicit ModelVote(std::uint32_t id_bytes)
      : all_{{{12, 16, 4}, 0}, {{16, 24, 8}, 0},        {{12, 16, 8}, 0},        {{16, 24, 4}, 0},
             {{8, 12, 8}, 0},  {kByClass[0], 0},        {kByClass[1], 0},        {kByClass[2], 0},
             {kByClass[3], 0}, {{12, 16, 4, 0, 16}, 0}, {{12, 16, 4, 1, 16}, 0}, {{16, 24, 4, 0, 16}, 0},
             {{8, 12, 4}, 0},  {kByClass[4], 0}} {
    constexpr std::size_t kSmall = 12;  // those of 32 bits, of which the first is a compact header's too
    candidates_ = id_bytes == 8 ? std::span<Candidate>(all_, kSmall + 1) : std::span<Candidate>(all_ + kSmall, 2);
  }

  /// An object and the distance to the next one above it. Equal ones are counted and vote together.
  void add(const Contents& of, std::uint64_t distance) {
    Equals& slot = equals_[(of.bytes / 8 + of.references * 5 + distance / 8 * 3) % equals_.size()];
    if (slot.objects == 0 || slot.distance != distance || slot.of != of) {
      vote(slot);
      slot = {of, distance, 0};
    }
    ++slot.objects;
  }

  /// The one that fits most; without any vote, what 64-bit virtual machines do below 32 GiB of heap.
  ObjectModel winner() {
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

 private:
  struct Equals {
    Contents of;
    std::uint64_t distance = 0;
    std::int64_t objects = 0;
  };
  void vote(const Equals& equals) {
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

  struct Candidate {
    ObjectModel model;
    std::int64_t votes = 0;
  };
  std::span<Candidate> candidates_;
  Candidate all_[14];
  std::array<Equals, 256> equals_;  // the last ones, by what they hash to
};

/// "headers of 12 bytes, references of 4"
inline std::string text_of(const ObjectModel& model) {
  return "headers of " + std::to_string(model.header) + " bytes, of arrays " + std::to_string(model.array_header) +
         ", references of " + std::to_string(model.reference) +
         (model.alignment != 8 ? ", objects aligned to " + std::to_string(model.alignment) : "") +
         (model.by_class != 0 ? ", the fields of each class after those of its ancestors" : "");
}

}  // namespace snapdiff::formats::hprof
