#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/base/large_pages.hpp"
#include "snapdiff/snapdiff.h"

/// Tables in the memory layout of Apache Arrow, handed out through its C stream interface without a copy.
namespace snapdiff::library {

/// One column, of which exported arrays share the buffers.
///   format      Arrow's format string: "l", "g", "u", "+l", ...
///   buffers     validity first (null: all values are valid), then what the format needs
///   dictionary  of texts that `buffers` holds the numbers of; null otherwise
struct ArrowColumn {
  using Buffer = std::shared_ptr<const void>;
  std::string name;
  std::string format;
  std::int64_t length = 0;
  std::int64_t nulls = 0;
  bool nullable = false;
  std::vector<Buffer> buffers;
  std::vector<ArrowColumn> children;
  std::shared_ptr<const ArrowColumn> dictionary;
};

/// Values of a column: a table of millions of rows is filled once, and page faults are a third of that.
template <class T>
using ArrowValues = std::vector<T, LargePages<T>>;

/// The buffer that owns `values`.
template <class T, class Allocator>
ArrowColumn::Buffer arrow_buffer(std::vector<T, Allocator> values) {
  // Consumers may map the memory of an empty column: a pointer to something is safer than none.
  if (values.empty()) values.reserve(1);
  auto owned = std::make_shared<std::vector<T, Allocator>>(std::move(values));
  return {owned, owned->data()};
}

/// Which values of a column are null, one bit a value. Takes neither time nor memory until the first null.
class ArrowValidity {
 public:
  /// `index` ascends from call to call.
  void mark_null(std::size_t index) {
    bits_.resize(index / 8 + 1, 0xff);
    bits_[index / 8] &= static_cast<std::uint8_t>(~(1U << (index % 8)));
    ++nulls_;
  }
  /// Sets length, nulls and the first buffer of a column of `length` values.
  void finish(ArrowColumn& column, std::size_t length) &&;

 private:
  std::vector<std::uint8_t> bits_;
  std::int64_t nulls_ = 0;
};

/// Numbers: std::int64_t ("l"), double ("g") or std::int32_t ("i").
template <class T>
class ArrowNumbers {
 public:
  void reserve(std::size_t rows) { values_.reserve(rows); }
  void push(T value) { values_.push_back(value); }
  void push(std::optional<T> value) {
    if (!value) validity_.mark_null(values_.size());
    values_.push_back(value.value_or(T{}));
  }
  ArrowColumn finish(std::string name, bool nullable = false) && {
    ArrowColumn column;
    column.name = std::move(name);
    column.format = format(T{});
    column.nullable = nullable;
    std::move(validity_).finish(column, values_.size());
    column.buffers.push_back(arrow_buffer(std::move(values_)));
    return column;
  }

 private:
  static const char* format(std::int64_t) { return "l"; }
  static const char* format(std::int32_t) { return "i"; }
  static const char* format(double) { return "g"; }
  ArrowValues<T> values_;
  ArrowValidity validity_;
};

/// True and false, a bit each ("b").
class ArrowFlags {
 public:
  void push(bool value);
  ArrowColumn finish(std::string name) &&;

 private:
  std::vector<std::uint8_t> bits_;
  std::int64_t size_ = 0;
};

/// Texts, made printable: "u", or "U" beyond 2^31 bytes.
class ArrowTexts {
 public:
  void push(std::string_view text);
  void push_if(std::optional<std::string_view> text);
  ArrowColumn finish(std::string name, bool nullable = false) &&;
  std::size_t size() const { return end_.size() - 1; }

 private:
  std::string bytes_;
  ArrowValues<std::int64_t> end_{0};
  ArrowValidity validity_;
};

/// The distinct texts of columns with few of them; columns hold their numbers.
class ArrowDictionary {
 public:
  /// The number of `text` after it was made printable; equal texts have one number. Throws limit beyond 2^31 - 1.
  std::int32_t number(std::string_view text);
  std::size_t size() const { return texts_.size(); }
  std::shared_ptr<const ArrowColumn> finish() &&;

 private:
  ArrowTexts texts_;
  std::unordered_map<std::string, std::int32_t> numbers_;
};

/// A column of numbers of a dictionary. Negative numbers are nulls of a column that may have them.
ArrowColumn dictionary_column(std::string name, ArrowValues<std::int32_t> numbers,
                              std::shared_ptr<const ArrowColumn> dictionary, bool nullable = false);
ArrowColumn dictionary_column(std::string name, ArrowValues<std::int16_t> numbers,
                              std::shared_ptr<const ArrowColumn> dictionary);

/// A column of lists: list i is child[begin[i] .. begin[i + 1]). "+l", or "+L" beyond 2^31 elements.
ArrowColumn list_column(std::string name, ArrowValues<std::int64_t> begin, ArrowColumn child);

/// Lists of texts that are pushed one by one, for short tables.
class ArrowTextLists {
 public:
  void push(std::string_view text) { texts_.push(text); }
  void end_list() { begin_.push_back(static_cast<std::int64_t>(texts_.size())); }
  ArrowColumn finish(std::string name) &&;

 private:
  ArrowTexts texts_;
  ArrowValues<std::int64_t> begin_{0};
};

/// Columns of equal length.
using ArrowTable = std::vector<ArrowColumn>;

/// A stream of one batch, which shares the buffers of `table`. May throw std::bad_alloc; `out` is untouched then.
void export_stream(ArrowTable table, ArrowArrayStream* out);

}  // namespace snapdiff::library
