#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyzer/objects/path_shapes.hpp"
#include "analyzer/objects/retained_objects.hpp"

namespace snapdiff::objects {

/// The holder of an object, as people call it.
struct HolderName {
  std::string holder, above;
  bool own = false;  ///< a name of the program's own is in it
  friend bool operator==(const HolderName&, const HolderName&) = default;
};

/// Names the holders of objects by their paths: the nearest own object or named reference above collections, arrays
/// and objects of the engine. Each shape is looked at once.
class HolderNames {
 public:
  HolderNames(const ShapeTree& tree, const IsLibraryType& is_library) : tree_(tree), is_library_(is_library) {}

  /// Row of all() for an object of this shape. `itself`: the object is the container.
  std::uint32_t of(std::uint32_t shape, bool itself);
  const std::vector<HolderName>& all() const { return all_; }
  /// Whether the type of this name belongs to the language, a library or the engine.
  bool is_library(std::uint32_t type);

 private:
  struct Step;
  HolderName name(std::uint32_t shape, bool itself);
  HolderName name_of(std::uint32_t owner, std::uint32_t below, std::uint32_t held);
  std::string above_of(std::uint32_t owner);
  bool is_plumbing(std::uint32_t shape);

  const ShapeTree& tree_;
  const IsLibraryType& is_library_;
  std::vector<HolderName> all_;
  std::unordered_map<std::uint64_t, std::uint32_t> known_;  // by shape
  std::unordered_map<std::string, std::uint32_t> row_of_;   // by text
  std::unordered_map<std::uint32_t, bool> library_;         // by type
};

}  // namespace snapdiff::objects
