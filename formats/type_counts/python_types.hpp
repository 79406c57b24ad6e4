#pragma once

#include "formats/text/scan.hpp"

namespace snapdiff::formats {

/// Types that lead the lists of nearly every Python process.
inline bool is_common_type(std::string_view name) {
  constexpr std::string_view kNames =
      "function tuple dict list set type cell module method frozenset weakref ReferenceType "
      "wrapper_descriptor builtin_function_or_method method_descriptor getset_descriptor member_descriptor "
      "classmethod staticmethod property ABCMeta ModuleSpec SourceFileLoader generator frame ";
  const std::size_t dot = name.rfind('.');
  const std::string_view plain = dot == std::string_view::npos ? name : name.substr(dot + 1);
  return text::is_one_of(plain, kNames);
}

}  // namespace snapdiff::formats
