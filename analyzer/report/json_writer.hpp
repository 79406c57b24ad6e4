#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "analyzer/report/report.hpp"

namespace snapdiff::report {

/// Where the lines of a JSON text end.
enum class JsonLayout {
  rows,      ///< in front of what new_line() starts
  one_line,  ///< nowhere, as in JSON Lines
  indented,  ///< behind each element, two blanks a level
};

/// Writes JSON straight into a string, so that a million rows need no tree. Commas are set here; who
/// calls begin_ calls end_ too. Strings become valid UTF-8; control characters and
/// code points that hide or reorder text are escaped, so that it is also safe on a terminal. Numbers: integers exact,
/// doubles in the shortest form that reads back, NaN and infinities as null.
class JsonWriter {
 public:
  /// `sink` as that of a style: it takes from `out` what is there.
  explicit JsonWriter(std::string& out, JsonLayout layout = JsonLayout::rows, const Sink* sink = nullptr)
      : out_(out), layout_(layout), sink_(sink) {}

  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }
  /// Starts the next element on a line of its own, where there may be several.
  void new_line() {
    if (layout_ != JsonLayout::rows) return;
    if (comma_) out_ += ',';
    comma_ = false;
    out_ += '\n';
  }

  void key(std::string_view name);  ///< `name` needs no escaping
  /// A key of unknown origin.
  void any_key(std::string_view name) {
    string(name);
    end_key();
  }
  /// The same with its value.
  void any_field(std::string_view name, std::string_view text) {
    any_key(name);
    string(text);
  }
  void any_field(std::string_view name, std::int64_t value) {
    any_key(name);
    integer(value);
  }
  void string(std::string_view text);
  void integer(std::int64_t value);
  void unsigned_integer(std::uint64_t value);
  void number(double value);
  void boolean(bool value);
  void null();
  /// A value that is JSON already; its line ends are between elements alone, as texts hold none.
  void raw(std::string_view value) {
    separate();
    if (layout_ != JsonLayout::indented) {
      out_ += value;
      return;
    }
    for (const char c : value) {
      out_ += c;
      if (c == '\n') out_.append(2 * levels_, ' ');
    }
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
    if (layout_ == JsonLayout::indented && levels_ > 0 && !behind_key_) indent();
    behind_key_ = false;
  }
  void end_key() {
    out_ += layout_ == JsonLayout::indented ? ": " : ":";
    comma_ = false;
    behind_key_ = true;
  }
  void open(char bracket) {
    separate();
    out_ += bracket;
    comma_ = false;
    ++levels_;
  }
  void close(char bracket) {
    --levels_;
    if (layout_ == JsonLayout::indented && comma_) indent();
    out_ += bracket;
    comma_ = true;
    pass_on(out_, sink_);
  }
  void indent() { out_.append(1, '\n').append(2 * levels_, ' '); }

  std::string& out_;
  JsonLayout layout_;
  const Sink* sink_;
  std::size_t levels_ = 0;
  bool comma_ = false;
  bool behind_key_ = false;
};

/// A document of one object and a line end; `fill` writes its fields. `sink` as that of a style.
template <class Fill>
std::string json_text(const Sink* sink, const Fill& fill, JsonLayout layout = JsonLayout::rows) {
  std::string out;
  JsonWriter json(out, layout, sink);
  json.object([&] { fill(json); });
  return out += '\n';
}
template <class Fill>
std::string json_text(const Fill& fill, JsonLayout layout = JsonLayout::rows) {
  return json_text(nullptr, fill, layout);
}

}  // namespace snapdiff::report
