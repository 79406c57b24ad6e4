#pragma once

#include "formats/input/number_rows.hpp"
#include "formats/input/read_failure.hpp"

namespace snapdiff::formats::jfr {

/// Real metadata has classes in the root's first child, fields in them and annotations in these; values four deep.
constexpr int kDeepest = 32;

constexpr std::uint32_t kMostNumbers = 1024;

inline void append_unit(std::string& out, std::uint32_t unit) {
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

inline std::uint64_t id_of(const std::string& text, std::uint64_t offset) {
  std::uint64_t id = 0;
  const bool digits = !text.empty() && text.size() < 19 && text.find_first_not_of("0123456789") == std::string::npos;
  if (!digits) fail_malformed("id of a type: expected a number of up to 18 digits", offset);
  for (const char c : text) id = id * 10 + static_cast<std::uint64_t>(c - '0');
  return id;
}

/// A place in the bytes of a chunk; every read is checked. Throws Failure: malformed.
class Cursor {
 public:
  /// `base`: offset of the first byte in the input.
  Cursor(std::string_view bytes, std::uint64_t base, std::size_t at = 0) : bytes_(bytes), base_(base), at_(at) {}

  std::size_t at() const { return at_; }
  std::size_t left() const { return bytes_.size() - at_; }
  std::uint64_t offset() const { return base_ + at_; }
  /// The same place, with `size` bytes in front of the end at most.
  Cursor first(std::size_t size) const { return Cursor(bytes_.substr(0, at_ + size), base_, at_); }

  void skip(std::uint64_t count) {
    if (count > left()) ends(count);
    at_ += static_cast<std::size_t>(count);
  }

  std::string_view take(std::uint64_t count) {
    const std::size_t begin = at_;
    skip(count);
    return bytes_.substr(begin, at_ - begin);
  }

  std::uint8_t byte() {
    if (at_ == bytes_.size()) ends(1);
    return static_cast<std::uint8_t>(bytes_[at_++]);
  }

  /// Big-endian, `size` bytes.
  std::uint64_t fixed(std::size_t size) {
    std::uint64_t value = 0;
    for (const char c : take(size)) value = value << 8 | static_cast<unsigned char>(c);
    return value;
  }

  /// Seven bits a byte, the lowest first; the ninth byte has eight.
  std::uint64_t number() {
    std::uint64_t value = byte();
    if (value < 128) return value;
    value &= 127;
    for (unsigned shift = 7; shift < 56; shift += 7) {
      const std::uint64_t next = byte();
      value |= (next & 127) << shift;
      if (next < 128) return value;
    }
    return value | std::uint64_t{byte()} << 56;
  }

  void skip_numbers(std::uint64_t count) {
    for (; count > 0; --count) number();
  }

  /// How many elements follow, of at least one byte each.
  std::size_t count() {
    const std::uint64_t start = offset();
    const std::uint64_t value = number();
    if (value > left())
      fail_malformed(instead("count beyond the end", value, "at most " + std::to_string(left())), start);
    return static_cast<std::size_t>(value);
  }

 private:
  [[noreturn]] void ends(std::uint64_t wanted) const {
    fail_malformed("record too short: " + std::to_string(left()) + " bytes left, expected " + std::to_string(wanted),
                   offset());
  }

  std::string_view bytes_;
  std::uint64_t base_;
  std::size_t at_;
};

inline constexpr std::uint32_t kNoType = NumberRows::kAbsent;

/// How the values of a type lie in the file.
enum class Form : std::uint8_t { fields, byte, number16, number32, number64, bits32, bits64, text };

inline Form form_of(std::string_view name) {
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

inline bool is_number(Form form) { return form >= Form::number16 && form <= Form::number64; }

struct Field {
  std::string_view name;
  std::uint32_t type = kNoType;  ///< row
  bool in_pool = false;          ///< a key of the type's constants stands there
  bool is_array = false;
};

struct Type {
  std::string_view name;
  Form form = Form::fields;
  std::vector<Field> fields;  ///< those that take bytes
  bool is_empty = false;      ///< takes no bytes at all
  std::uint32_t numbers = 0;  ///< takes this number of compressed numbers and nothing else; 0: takes other things
};

/// How a text is coded.
enum class Coding : std::uint8_t { null, empty, constant, utf8, utf16, latin1 };

/// Moves over a coded text, which `out` gets as UTF-8 where it is not null; of more than `longest` bytes the
/// beginning, and then `at` is within the text. Returns the key where the text is one of the constants, else 0.
inline std::uint64_t read_text(Cursor& at, std::string* out, std::size_t longest = ~std::size_t{0}) {
  const std::uint64_t start = at.offset();
  const std::uint8_t coding = at.byte();
  const auto append = [&](std::uint64_t unit) {
    if (out != nullptr) append_unit(*out, static_cast<std::uint32_t>(unit & 0xffff));
    return out == nullptr || out->size() < longest;
  };
  switch (static_cast<Coding>(coding)) {
    case Coding::null:
    case Coding::empty: return 0;
    case Coding::constant: return at.number();
    case Coding::utf8:
    case Coding::latin1: {
      const std::string_view bytes = at.take(at.number());
      if (out == nullptr) return 0;
      if (static_cast<Coding>(coding) == Coding::utf8) return *out = bytes.substr(0, longest), 0;
      for (const char c : bytes) {
        if (!append(static_cast<unsigned char>(c))) break;
      }
      return 0;
    }
    case Coding::utf16:
      for (std::size_t left = at.count(); left > 0 && append(at.number()); --left) {
      }
      return 0;
  }
  fail_malformed(instead("coding of a text", coding, "0 to 5"), start);
}

/// The types of a chunk, as its metadata event says them.
class Metadata {
 public:
  /// `body` is behind the event's size and type. Throws Failure: malformed (a type within itself, ...).
  explicit Metadata(Cursor body) {
    for (int fields = 0; fields < 3; ++fields) body.number();  // start, duration, number of the metadata
    for (std::size_t left = body.count(); left > 0; --left) read_text(body, &strings_.emplace_back());
    elements(body, 0);
    resolve();
  }

  std::uint32_t find(std::uint64_t id) const { return ids_.find(id); }
  std::uint32_t find(std::string_view name) const {
    const auto at = std::find_if(types_.begin(), types_.end(), [&](const Type& type) { return type.name == name; });
    return at == types_.end() ? kNoType : static_cast<std::uint32_t>(at - types_.begin());
  }

  const Type& operator[](std::uint32_t row) const { return types_[row]; }
  std::size_t size() const { return types_.size(); }

  /// Moves over a value of this type; over what stands there for a field.
  void skip_value(std::uint32_t row, Cursor& at) const {
    const Type& type = types_[row];
    if (type.numbers > 0) return at.skip_numbers(type.numbers);
    switch (type.form) {
      case Form::byte: at.skip(1); break;
      case Form::bits32: at.skip(4); break;
      case Form::bits64: at.skip(8); break;
      case Form::text: read_text(at, nullptr); break;
      default:
        for (const Field& field : type.fields) skip_field(field, at);
    }
  }

  void skip_field(const Field& field, Cursor& at) const {
    const Type& type = types_[field.type];
    const std::uint32_t numbers = field.in_pool ? 1 : type.numbers;
    std::size_t left = 1;
    if (field.is_array) left = field.in_pool || !type.is_empty ? at.count() : (at.number(), 0);
    if (numbers > 0) return at.skip_numbers(std::uint64_t{left} * numbers);
    for (; left > 0; --left) skip_value(field.type, at);
  }

 private:
  const std::string& string(Cursor& at) const {
    const std::uint64_t start = at.offset();
    const std::uint64_t index = at.number();
    if (index >= strings_.size())
      fail_malformed("text of the metadata: found number " + std::to_string(index) + ", expected one below " +
                         std::to_string(strings_.size()),
                     start);
    return strings_[static_cast<std::size_t>(index)];
  }

  template <class Take>
  void attributes(Cursor& at, Take take) const {
    for (std::size_t left = at.count(); left > 0; --left) {
      const std::string& key = string(at);
      take(key, string(at));
    }
  }

  void read_class(Cursor& at, int depth) {
    const std::uint64_t start = at.offset();
    Type type;
    std::vector<std::uint64_t> ids;
    std::optional<std::uint64_t> id;
    string(at);
    attributes(at, [&](const std::string& key, const std::string& value) {
      if (key == "name") type.name = value;
      if (key == "id") id = id_of(value, start);
    });
    for (std::size_t left = at.count(); left > 0; --left) {
      Cursor child = at;
      if (string(child) == "field") {
        at = child;
        type.fields.push_back(read_field(at, depth, ids.emplace_back()));
      } else {
        elements(at, depth + 1);
      }
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

  Field read_field(Cursor& at, int depth, std::uint64_t& type) {
    const std::uint64_t start = at.offset();
    Field field;
    attributes(at, [&](const std::string& key, const std::string& value) {
      if (key == "name") field.name = value;
      if (key == "class") type = id_of(value, start);
      if (key == "constantPool") field.in_pool = value == "true";
      if (key == "dimension") field.is_array = value != "0";
    });
    for (std::size_t left = at.count(); left > 0; --left) elements(at, depth + 2);
    return field;
  }

  /// An element and those within it: name, attributes, children.
  void elements(Cursor& at, int depth) {
    if (depth >= kDeepest) fail_malformed("metadata too deep: expected at most 32 levels", at.offset());
    Cursor child = at;
    if (string(child) == "class") return read_class(at, depth);
    at = child;
    attributes(at, [](const std::string&, const std::string&) {});
    for (std::size_t left = at.count(); left > 0; --left) elements(at, depth + 1);
  }

  void resolve() {
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
  void look_into(std::uint32_t row, int depth, std::vector<std::uint8_t>& height) {
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

  std::vector<std::string> strings_;  // names are views into them
  std::vector<Type> types_;
  std::vector<std::vector<std::uint64_t>> type_of_field_;  // ids; until resolve()
  std::vector<std::uint64_t> offset_;                      // of each type in the input
  NumberRows ids_;
};

}  // namespace snapdiff::formats::jfr
