#pragma once

#include "formats/input/number_rows.hpp"
#include "formats/input/read_failure.hpp"

namespace snapdiff::formats::jfr {

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

/// The types of a chunk, as its metadata event says them.
class Metadata {
 public:
  /// `body` is behind the event's size and type. Throws Failure: malformed (a type within itself, ...).
  explicit Metadata(Cursor body);

  std::uint32_t find(std::uint64_t id) const { return ids_.find(id); }
  std::uint32_t find(std::string_view name) const;
  const Type& operator[](std::uint32_t row) const { return types_[row]; }
  std::size_t size() const { return types_.size(); }

  /// Moves over a value of this type; over what stands there for a field.
  void skip_value(std::uint32_t type, Cursor& at) const;
  void skip_field(const Field& field, Cursor& at) const;

 private:
  const std::string& string(Cursor& at) const;
  template <class Take>
  void attributes(Cursor& at, Take take) const;
  void read_class(Cursor& at, int depth);
  Field read_field(Cursor& at, int depth, std::uint64_t& type);
  void elements(Cursor& at, int depth);
  void resolve();
  void look_into(std::uint32_t row, int depth, std::vector<std::uint8_t>& height);

  std::vector<std::string> strings_;  // names are views into them
  std::vector<Type> types_;
  std::vector<std::vector<std::uint64_t>> type_of_field_;  // ids; until resolve()
  std::vector<std::uint64_t> offset_;                      // of each type in the input
  NumberRows ids_;
};

/// Moves over a coded text, which `out` gets as UTF-8 where it is not null; of more than `longest` bytes the
/// beginning, and then `at` is within the text. Returns the key where the text is one of the constants, else 0.
std::uint64_t read_text(Cursor& at, std::string* out, std::size_t longest = ~std::size_t{0});

}  // namespace snapdiff::formats::jfr
