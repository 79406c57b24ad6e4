#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/base/snapshot_builder.hpp"
#include "snapdiff/growth.hpp"

namespace snapdiff::graph {

/// Distinguishes the functions of a report's frames and numbers them. Equal functions of the two
/// sides get one number: by name and base name of the file where symbolized (Python and C have
/// many functions of one name), else by module base name and offset.
class FunctionIndex {
 public:
  /// The number of the frame's function; 0 for the first one seen.
  std::uint32_t id(const FrameView& frame);
  /// As id(), but kAbsent instead of a new number.
  std::uint32_t find(const FrameView& frame) const;
  static constexpr std::uint32_t kAbsent = HashIndex::kAbsent;

  std::size_t size() const { return frames_.size(); }
  const FrameView& frame(std::uint32_t id) const { return frames_[id]; }
  /// Of the identity, the same whatever the order in which functions were seen.
  std::uint64_t hash(std::uint32_t id) const { return hashes_[id]; }
  /// Total order over functions by their texts.
  bool less(std::uint32_t a, std::uint32_t b) const;

 private:
  /// Texts of one dictionary are interned, so that most frames are recognised by addresses alone;
  /// hashing 30 million names again would take longer than all the rest.
  struct Seen {
    const char* name = nullptr;
    const char* file = nullptr;
    std::uint64_t offset = 0;
    std::uint32_t id = kAbsent;
  };
  static Seen address_of(const FrameView& frame);
  std::size_t slot_of(const Seen& key) const;
  void grow();

  std::vector<FrameView> frames_;
  std::vector<std::uint64_t> hashes_;
  HashIndex by_text_;
  std::vector<Seen> by_address_;
  std::size_t used_ = 0;
};

}  // namespace snapdiff::graph
