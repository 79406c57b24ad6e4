#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace snapdiff::formats::hprof {

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

/// Where an instance's fields end in each model of kByClass, counted from the object's begin.
using FieldEnds = std::array<std::uint64_t, kByClass.size()>;

/// The ends for a class whose ancestors' fields end at `begin`; field_starts() without any.
/// Source: openjdk/jdk8u, src/share/vm/classfile/classFileParser.cpp, ClassFileParser::layout_fields.
FieldEnds field_ends(const FieldEnds& begin, const OwnFields& own);
FieldEnds field_starts();

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
  explicit ModelVote(std::uint32_t id_bytes);

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
  ObjectModel winner();

 private:
  struct Equals {
    Contents of;
    std::uint64_t distance = 0;
    std::int64_t objects = 0;
  };
  void vote(const Equals& equals);

  struct Candidate {
    ObjectModel model;
    std::int64_t votes = 0;
  };
  std::span<Candidate> candidates_;
  Candidate all_[14];
  std::array<Equals, 256> equals_;  // the last ones, by what they hash to
};

/// "headers of 12 bytes, references of 4"
std::string text_of(const ObjectModel& model);

}  // namespace snapdiff::formats::hprof
