#include "analyzer/toml/toml_text.hpp"

#include <algorithm>
#include <exception>
#include <sstream>
#include <toml.hpp>

#include "analyzer/base/toml_bounds.hpp"

namespace snapdiff::toml_text {
namespace {

/// toml11 draws the place over several lines; its first line says what is wrong.
std::string first_line(const std::string& text) {
  std::string line = text.substr(0, text.find('\n'));
  for (const std::string_view prefix : {"[error] ", "toml::"}) {
    if (line.starts_with(prefix)) line.erase(0, prefix.size());
  }
  return line;
}

Value plain(const toml::value& from);

/// toml11 keeps fields by hash.
std::vector<Value> fields_of(const toml::table& from) {
  std::vector<const toml::table::value_type*> order;
  for (const auto& field : from) order.push_back(&field);
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    const auto place = [](const auto* field) {
      return std::pair(field->second.location().line(), field->second.location().column());
    };
    return place(a) < place(b);
  });
  std::vector<Value> fields;
  for (const auto* field : order) {
    fields.push_back(plain(field->second));
    fields.back().key = field->first;
  }
  return fields;
}

/// Recursion: as deep as kMaxTomlDepth.
Value plain(const toml::value& from) {
  Value to;
  to.line = from.location().line();
  switch (from.type()) {
    case toml::value_t::string:
      to.kind = Value::Kind::text;
      to.text = from.as_string().str;
      break;
    case toml::value_t::boolean:
      to.kind = Value::Kind::flag;
      to.flag = from.as_boolean();
      break;
    case toml::value_t::integer:
      to.kind = Value::Kind::integer;
      to.integer = from.as_integer();
      break;
    case toml::value_t::floating:
      to.kind = Value::Kind::number;
      to.number = from.as_floating();
      break;
    case toml::value_t::local_date: {
      to.kind = Value::Kind::day;
      std::ostringstream out;
      out << from.as_local_date();
      to.text = out.str();
      break;
    }
    case toml::value_t::array:
      to.kind = Value::Kind::list;
      for (const toml::value& item : from.as_array()) to.items.push_back(plain(item));
      break;
    case toml::value_t::table:
      to.kind = Value::Kind::table;
      to.fields = fields_of(from.as_table());
      break;
    default: break;
  }
  return to;
}

}  // namespace

const Value* Value::field(std::string_view name) const {
  for (const Value& value : fields) {
    if (value.key == name) return &value;
  }
  return nullptr;
}

Error mistake(const std::string& file, std::uint64_t line, const std::string& what) {
  return Error{ErrorCode::usage, "line " + std::to_string(line) + ": " + what, std::nullopt, file};
}

Result<Value> read(const std::string& text, const std::string& file) {
  if (Status bounded = check_toml_bounds(text, file); !bounded) return std::move(bounded).error();
  try {
    std::istringstream stream(text);
    return plain(toml::parse(stream, file));
  } catch (const toml::exception& failure) {
    return mistake(file, failure.location().line(), first_line(failure.what()));
  } catch (const std::exception& failure) {
    return Error{ErrorCode::usage, first_line(failure.what()), std::nullopt, file};
  }
}

}  // namespace snapdiff::toml_text
