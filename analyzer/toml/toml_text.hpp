#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "snapdiff/result.hpp"

namespace snapdiff::toml_text {

/// One value of a TOML text.
struct Value {
  enum class Kind : std::uint8_t { text, flag, integer, number, day, list, table, other };
  Kind kind = Kind::other;
  std::uint64_t line = 0;  ///< where it begins, from 1
  std::string text;        ///< of a text; of a day, as 2026-12-31
  bool flag = false;
  std::int64_t integer = 0;
  double number = 0;
  std::vector<Value> items;   ///< of a list
  std::vector<Value> fields;  ///< of a table, in the order of the text
  std::string key;            ///< of a field

  /// The field called `name`, or null.
  const Value* field(std::string_view name) const;
};

/// The whole text, as a table. `file` is what messages call it.
/// Errors: limit, where it is beyond what snapdiff/toml_bounds.hpp allows; usage, with the line, where it is not TOML.
Result<Value> read(const std::string& text, const std::string& file);

/// A mistake on a line of `file`: "line 7: what".
Error mistake(const std::string& file, std::uint64_t line, const std::string& what);

}  // namespace snapdiff::toml_text
