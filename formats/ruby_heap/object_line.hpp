#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/json/json_scanner.hpp"

namespace snapdiff::formats::ruby {

/// One line of ObjectSpace.dump_all, as far as it is used. Addresses are 0 where there is none.
struct ObjectLine {
  std::string type;  ///< "STRING", "OBJECT", "ROOT", ...
  std::string root;  ///< of a ROOT: what holds its references
  std::string name;  ///< of a CLASS or MODULE
  std::string of;    ///< of a singleton class: the class of its object; of DATA and IMEMO: what it is
  std::string file, method;
  std::int64_t line = 0;
  std::uint64_t address = 0, class_address = 0, superclass = 0;
  std::int64_t bytes = 0;
  std::vector<std::uint64_t> references;
  bool is_singleton = false;
};

/// Reads the next object into `out`. Throws Failure.
void read_object_line(json::JsonScanner& json, ObjectLine& out);

}  // namespace snapdiff::formats::ruby
