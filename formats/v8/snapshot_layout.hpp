#pragma once

#include "formats/json/json_scanner.hpp"

namespace snapdiff::formats::v8 {

/// What the member "snapshot" says of the arrays after it: which number of a row means what, by the names of
/// its meta data, since the rows differ between versions.
struct Layout {
  static constexpr std::size_t kAbsent = ~std::size_t{0};
  static constexpr std::size_t kMostFields = 32;

  std::vector<std::string> node_types;  ///< those that the file lists, then those that V8 writes without listing
  std::size_t listed_node_types = 0;
  std::vector<std::string> edge_types;
  std::size_t node_width = 0;
  std::size_t type = kAbsent;
  std::size_t name = kAbsent;
  std::size_t id = kAbsent;
  std::size_t self_size = kAbsent;
  std::size_t edge_count = kAbsent;
  std::size_t detachedness = kAbsent;
  std::size_t trace = kAbsent;
  std::size_t edge_width = 0;
  std::size_t edge_type = kAbsent;
  std::size_t name_or_index = kAbsent;
  std::size_t to_node = kAbsent;
  std::uint64_t nodes = 0;  ///< as declared
  std::uint64_t edges = 0;
};

/// Consumes the value of "snapshot". Throws Failure.
Layout read_layout(json::JsonScanner& json);

}  // namespace snapdiff::formats::v8
