#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analyzer/diff/row_names.hpp"
#include "analyzer/diff/visibility.hpp"
#include "snapdiff/growth.hpp"

namespace snapdiff::diff {

/// Numbers what frames are grouped by (function, file, line or module) over several dictionaries:
/// equal texts have equal keys, 0 .. size() - 1.
class FrameKeys {
 public:
  FrameKeys(std::span<const std::shared_ptr<const Visibility>> dictionaries, GroupBy by);

  std::uint32_t key(std::uint32_t dictionary, FrameId frame) const { return keys_[dictionary][index_of(frame)]; }
  std::size_t size() const { return first_.size(); }
  std::string text(std::uint32_t key) const;

  /// Makes functions that another build calls otherwise share a key.
  void rename(std::span<const RenamedFunction> renamed);

 private:
  struct Where {
    std::uint32_t dictionary;
    FrameId frame;
  };
  GroupBy by_;
  std::vector<const Dictionary*> dictionaries_;
  std::vector<std::vector<std::uint32_t>> keys_;  ///< per dictionary and frame
  std::vector<Where> first_;                      ///< per key the first frame that has it
};

}  // namespace snapdiff::diff
