#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "analyzer/diff/visibility.hpp"
#include "snapdiff/growth.hpp"

namespace snapdiff::diff {

/// Numbers the functions of several dictionaries by name and file, else by module and offset, and knows which are
/// the user's own: the paths that culprits are looked for on. Immutable; any number of threads may ask at once.
class OwnFunctions {
 public:
  /// `renamed`: old and new names of functions that another build calls otherwise; they share a number, and its frame
  /// has the new name.
  OwnFunctions(std::span<const std::shared_ptr<const Visibility>> dictionaries,
               std::span<const RenamedFunction> renamed);

  std::size_t size() const { return first_.size(); }
  FrameView frame(std::uint32_t number) const;

  /// StackView::own_path() for a stack of dictionary `d`: `frames` leaf first, without those of the allocator.
  void path(std::size_t d, std::span<const FrameId> frames, std::vector<std::uint32_t>& out) const;

 private:
  struct Where {
    std::uint32_t dictionary;
    FrameId frame;
  };
  std::vector<std::shared_ptr<const Visibility>> dictionaries_;
  std::vector<std::vector<std::uint32_t>> codes_;  ///< per dictionary and frame: its number, with flags above it
  std::vector<Where> first_;                       ///< per number
};

}  // namespace snapdiff::diff
