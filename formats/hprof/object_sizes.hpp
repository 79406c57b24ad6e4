#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace snapdiff::formats::hprof {

/// How a virtual machine lays objects out; a dump does not say.
struct ObjectModel {
  std::uint32_t header = 0;
  std::uint32_t array_header = 0;
  std::uint32_t reference = 0;
  friend bool operator==(const ObjectModel&, const ObjectModel&) = default;
};

/// What is known of one object's contents.
struct Contents {
  std::uint64_t bytes = 0;       ///< fields or elements that are no references
  std::uint64_t references = 0;  ///< fields or elements that are
  bool is_array = false;
};

constexpr std::uint64_t size_of(const ObjectModel& model, const Contents& of) {
  const std::uint64_t exact =
      (of.is_array ? model.array_header : model.header) + of.bytes + of.references * model.reference;
  return (exact + 7) / 8 * 8;
}

/// Votes for the model that explains how far objects lie apart: a dump of live objects comes after a
/// collection that packs them, so that most neighbours touch.
class ModelVote {
 public:
  explicit ModelVote(std::uint32_t id_bytes);

  /// An object and the distance to the next one above it.
  void add(const Contents& of, std::uint64_t distance);

  /// The one that fits most; without any vote, what 64-bit virtual machines do below 32 GiB of heap.
  ObjectModel winner() const;

 private:
  struct Candidate {
    ObjectModel model;
    std::int64_t votes = 0;
  };
  std::span<Candidate> candidates_;
  Candidate all_[6];
};

/// "headers of 12 bytes, references of 4"
std::string text_of(const ObjectModel& model);

}  // namespace snapdiff::formats::hprof
