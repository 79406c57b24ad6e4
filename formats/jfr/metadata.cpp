#include "formats/jfr/metadata.hpp"

#include <algorithm>
#include <optional>

namespace snapdiff::formats::jfr {
namespace {

/// Real metadata has classes in the root's first child, fields in them and annotations in these; values four deep.
constexpr int kDeepest = 32;
constexpr std::uint32_t kMostNumbers = 1024;

Form form_of(std::string_view name) {
  struct Named {
    std::string_view name;
    Form form;
  };
  constexpr Named kForms[] = {{"boolean", Form::byte},   {"byte", Form::byte},     {"char", Form::number16},
                              {"short", Form::number16}, {"int", Form::number32},  {"long", Form::number64},
                              {"float", Form::bits32},   {"double", Form::bits64}, {"java.lang.String", Form::text}};
  for (const Named& each : kForms) {
    if (each.name == name) return each.form;
  }
  return Form::fields;
}

bool is_number(Form form) { return form >= Form::number16 && form <= Form::number64; }

void append_unit(std::string& out, std::uint32_t unit) {
  const auto put = [&](std::uint32_t bits) { out += static_cast<char>(static_cast<unsigned char>(bits)); };
  if (unit < 0x80) return put(unit);
  if (unit < 0x800) {
    put(0xc0 | unit >> 6);
  } else {
    put(0xe0 | unit >> 12);
    put(0x80 | (unit >> 6 & 0x3f));
  }
  put(0x80 | (unit & 0x3f));
}

const std::string& string_of(const std::vector<std::string>& strings, Cursor& at) {
  const std::uint64_t start = at.offset();
  const std::uint64_t index = at.number();
  if (index >= strings.size())
    fail_malformed("text of the metadata: found number " + std::to_string(index) + ", expected one below " +
                       std::to_string(strings.size()),
                   start);
  return strings[static_cast<std::size_t>(index)];
}

std::uint64_t id_of(const std::string& text, std::uint64_t offset) {
  std::uint64_t id = 0;
  const bool digits = !text.empty() && text.size() < 19 && text.find_first_not_of("0123456789") == std::string::npos;
  if (!digits) fail_malformed("id of a type: expected a number of up to 18 digits", offset);
  for (const char c : text) id = id * 10 + static_cast<std::uint64_t>(c - '0');
  return id;
}

}  // namespace

void skip_text(Cursor& at) {
  const std::uint64_t start = at.offset();
  const std::uint8_t coding = at.byte();
  switch (static_cast<Coding>(coding)) {
    case Coding::null:
    case Coding::empty: return;
    case Coding::constant: at.number(); return;
    case Coding::utf8:
    case Coding::latin1: at.skip(at.number()); return;
    case Coding::utf16:
      for (std::size_t left = at.count(); left > 0; --left) at.number();
      return;
  }
  fail_malformed("coding of a text: found " + std::to_string(coding) + ", expected 0 to 5", start);
}

std::string text_at(Cursor& at, std::uint64_t* constant) {
  Cursor from = at;
  skip_text(at);
  std::string out;
  switch (static_cast<Coding>(from.byte())) {
    case Coding::null:
    case Coding::empty: break;
    case Coding::constant:
      if (constant != nullptr) *constant = from.number();
      break;
    case Coding::utf8: out = from.take(from.number()); break;
    case Coding::utf16:
      for (std::size_t left = from.count(); left > 0; --left)
        append_unit(out, static_cast<std::uint32_t>(from.number() & 0xffff));
      break;
    case Coding::latin1:
      for (const char c : from.take(from.number())) append_unit(out, static_cast<unsigned char>(c));
      break;
  }
  return out;
}

Metadata::Metadata(Cursor body) {
  for (int fields = 0; fields < 3; ++fields) body.number();  // start, duration, number of the metadata
  std::vector<std::string> strings;
  for (std::size_t left = body.count(); left > 0; --left) strings.push_back(text_at(body));
  elements(body, strings, 0);
  resolve();
}

/// An element and those within it: name, attributes, children.
void Metadata::elements(Cursor& at, const std::vector<std::string>& strings, int depth) {
  if (depth >= kDeepest) fail_malformed("metadata too deep: expected at most 32 levels", at.offset());
  Cursor peek = at;
  const std::string& name = string_of(strings, peek);
  if (name == "class") return read_class(at, strings, depth);
  string_of(strings, at);
  for (std::size_t left = at.count(); left > 0; --left) {
    string_of(strings, at);
    string_of(strings, at);
  }
  for (std::size_t left = at.count(); left > 0; --left) elements(at, strings, depth + 1);
}

void Metadata::read_class(Cursor& at, const std::vector<std::string>& strings, int depth) {
  const std::uint64_t start = at.offset();
  Type type;
  std::vector<std::uint64_t> ids;
  std::optional<std::uint64_t> id;
  string_of(strings, at);
  for (std::size_t left = at.count(); left > 0; --left) {
    const std::string& key = string_of(strings, at);
    const std::string& value = string_of(strings, at);
    if (key == "name") type.name = value;
    if (key == "id") id = id_of(value, start);
  }
  for (std::size_t left = at.count(); left > 0; --left) {
    Cursor child = at;
    if (string_of(strings, child) != "field") {
      elements(at, strings, depth + 1);
      continue;
    }
    at = child;
    Field field;
    std::uint64_t of = 0;
    for (std::size_t more = at.count(); more > 0; --more) {
      const std::string& key = string_of(strings, at);
      const std::string& value = string_of(strings, at);
      if (key == "name") field.name = value;
      if (key == "class") of = id_of(value, start);
      if (key == "constantPool") field.in_pool = value == "true";
      if (key == "dimension") field.is_array = value != "0";
    }
    for (std::size_t more = at.count(); more > 0; --more) elements(at, strings, depth + 2);
    type.fields.push_back(std::move(field));
    ids.push_back(of);
  }
  if (!id) fail_malformed("type without an id in the metadata, expected one", start);
  if (ids_.find(*id) != kNoType) fail_malformed("type twice in the metadata: id " + std::to_string(*id), start);
  ids_.intern(*id);
  type.form = form_of(type.name);
  if (type.form != Form::fields) {
    type.fields.clear();
    ids.clear();
  }
  types_.push_back(std::move(type));
  type_of_field_.push_back(std::move(ids));
  offset_.push_back(start);
}

void Metadata::resolve() {
  for (std::uint32_t row = 0; row < types_.size(); ++row) {
    for (std::size_t i = 0; i < types_[row].fields.size(); ++i) {
      types_[row].fields[i].type = ids_.find(type_of_field_[row][i]);
      if (types_[row].fields[i].type == kNoType)
        fail_malformed("field of an unknown type: found id " + std::to_string(type_of_field_[row][i]) +
                           ", expected that of a type of this metadata",
                       offset_[row]);
    }
  }
  type_of_field_.clear();
  std::vector<std::uint8_t> height(types_.size());
  for (std::uint32_t row = 0; row < types_.size(); ++row) look_into(row, 0, height);
}

/// Finds types within themselves and those that take no bytes at all. Fields of these are left out, so that reading
/// costs no more than the bytes that are there.
void Metadata::look_into(std::uint32_t row, int depth, std::vector<std::uint8_t>& height) {
  constexpr std::uint8_t kOpen = 255;
  if (height[row] == kOpen) fail_malformed("type within itself in the metadata, expected none", offset_[row]);
  if (height[row] != 0) return;
  height[row] = kOpen;
  Type& type = types_[row];
  std::uint8_t highest = 0;
  const auto too_deep = [&] { fail_malformed("types nest too deep, expected at most 32 levels", offset_[row]); };
  if (depth > kDeepest) too_deep();
  for (const Field& field : type.fields) {
    if (field.in_pool) continue;
    look_into(field.type, depth + 1, height);
    highest = std::max(highest, height[field.type]);
  }
  if (highest >= kDeepest) too_deep();
  std::erase_if(type.fields,
                [&](const Field& field) { return !field.in_pool && !field.is_array && types_[field.type].is_empty; });
  type.is_empty = type.form == Form::fields && type.fields.empty();
  type.numbers = is_number(type.form) ? 1 : 0;
  for (const Field& field : type.fields) {
    const std::uint32_t more = field.is_array ? 0 : field.in_pool ? 1 : types_[field.type].numbers;
    type.numbers = more == 0 || type.numbers > kMostNumbers ? 0 : type.numbers + more;
    if (type.numbers == 0) break;
  }
  height[row] = static_cast<std::uint8_t>(highest + 1);
}

std::uint32_t Metadata::find(std::string_view name) const {
  const auto at = std::find_if(types_.begin(), types_.end(), [&](const Type& type) { return type.name == name; });
  return at == types_.end() ? kNoType : static_cast<std::uint32_t>(at - types_.begin());
}

void Metadata::skip_value(std::uint32_t row, Cursor& at) const {
  const Type& type = types_[row];
  if (type.numbers > 0) return at.skip_numbers(type.numbers);
  switch (type.form) {
    case Form::byte: at.skip(1); break;
    case Form::bits32: at.skip(4); break;
    case Form::bits64: at.skip(8); break;
    case Form::text: skip_text(at); break;
    default:
      for (const Field& field : type.fields) skip_field(field, at);
  }
}

void Metadata::skip_field(const Field& field, Cursor& at) const {
  const Type& type = types_[field.type];
  const std::uint32_t numbers = field.in_pool ? 1 : type.numbers;
  std::size_t left = 1;
  if (field.is_array) left = field.in_pool || !type.is_empty ? at.count() : (at.number(), 0);
  if (numbers > 0) return at.skip_numbers(std::uint64_t{left} * numbers);
  for (; left > 0; --left) skip_value(field.type, at);
}

}  // namespace snapdiff::formats::jfr
