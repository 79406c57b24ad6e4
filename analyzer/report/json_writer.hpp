#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace snapdiff::report {

/// Writes JSON straight into a string, so that a million rows need no tree. Commas are set here; who
/// calls begin_ calls end_ too. Strings become valid UTF-8; control characters and
/// code points that hide or reorder text are escaped, so that it is also safe on a terminal. Numbers: integers exact,
/// doubles in the shortest form that reads back, NaN and infinities as null.
class JsonWriter {
 public:
  /// `one_line`: the whole value is on one line, as a line of JSON Lines does.
  explicit JsonWriter(std::string& out, bool one_line = false) : out_(out), one_line_(one_line) {}

  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }
  /// Starts the next element on a line of its own, where there may be several.
  void new_line() {
    if (one_line_) return;
    if (comma_) out_ += ',';
    comma_ = false;
    out_ += '\n';
  }

  void key(std::string_view name);  ///< `name` needs no escaping
  /// A key of unknown origin.
  void any_key(std::string_view name) {
    string(name);
    out_ += ':';
    comma_ = false;
  }
  void string(std::string_view text);
  void integer(std::int64_t value);
  void unsigned_integer(std::uint64_t value);
  void number(double value);
  void boolean(bool value);
  void null();
  /// A value that is JSON already.
  void raw(std::string_view value) {
    separate();
    out_ += value;
  }

  void field(std::string_view name, std::string_view text) {
    key(name);
    string(text);
  }
  void field(std::string_view name, std::int64_t value) {
    key(name);
    integer(value);
  }
  template <std::same_as<bool> Bool>
  void field(std::string_view name, Bool value) {
    key(name);
    boolean(value);
  }
  template <std::same_as<double> Double>
  void field(std::string_view name, Double value) {
    key(name);
    number(value);
  }
  template <std::unsigned_integral Unsigned>
  requires(!std::same_as<Unsigned, bool>) void field(std::string_view name, Unsigned value) {
    key(name);
    unsigned_integer(value);
  }
  /// null instead of an empty text.
  void field_or_null(std::string_view name, std::string_view text) {
    key(name);
    text.empty() ? null() : string(text);
  }
  void field_or_null(std::string_view name, std::optional<std::int64_t> value) {
    key(name);
    value ? integer(*value) : null();
  }

  /// An object; `fill` writes its fields.
  template <class Fill>
  void object(const Fill& fill) {
    begin_object();
    fill();
    end_object();
  }
  template <class Fill>
  void object(std::string_view name, const Fill& fill) {
    key(name);
    object(fill);
  }
  /// null where it is not known.
  template <class Fill>
  void object_or_null(std::string_view name, bool known, const Fill& fill) {
    key(name);
    known ? object(fill) : null();
  }
  /// An array that holds one object.
  template <class Fill>
  void one_object(std::string_view name, const Fill& fill) {
    key(name);
    begin_array();
    object(fill);
    end_array();
  }
  /// An array; `write` writes one value for each of `values`. It and the `fill`s below may take the index, too.
  template <class Values, class Write>
  void array(std::string_view name, const Values& values, const Write& write) {
    key(name);
    begin_array();
    std::size_t i = 0;
    for (const auto& value : values) call(write, value, i++);
    end_array();
  }
  /// The same, each value on a line of its own.
  template <class Values, class Write>
  void rows(std::string_view name, const Values& values, const Write& write) {
    array(name, values, [&](const auto& value, std::size_t i) {
      new_line();
      call(write, value, i);
    });
  }
  /// An array of objects; `fill` writes the fields of one.
  template <class Values, class Fill>
  void objects(std::string_view name, const Values& values, const Fill& fill) {
    array(name, values, [&](const auto& value, std::size_t i) { object([&] { call(fill, value, i); }); });
  }
  /// The same, each object on a line of its own.
  template <class Values, class Fill>
  void object_rows(std::string_view name, const Values& values, const Fill& fill) {
    rows(name, values, [&](const auto& value, std::size_t i) { object([&] { call(fill, value, i); }); });
  }

 private:
  template <class Write, class Value>
  static void call(const Write& write, const Value& value, std::size_t i) {
    if constexpr (std::is_invocable_v<const Write&, const Value&, std::size_t>) {
      write(value, i);
    } else {
      write(value);
    }
  }
  void separate() {
    if (comma_) out_ += ',';
    comma_ = true;
  }
  void open(char bracket) {
    separate();
    out_ += bracket;
    comma_ = false;
  }
  void close(char bracket) {
    out_ += bracket;
    comma_ = true;
  }

  std::string& out_;
  bool one_line_;
  bool comma_ = false;
};

/// A document of one object and a line end; `fill` writes its fields.
template <class Fill>
std::string json_text(const Fill& fill) {
  std::string out;
  JsonWriter json(out);
  json.object([&] { fill(json); });
  return out += '\n';
}

}  // namespace snapdiff::report
