#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace snapdiff::formats::text {

/// A number as printed: digits * 10^-fraction_digits.
struct Decimal {
  std::uint64_t digits = 0;
  int fraction_digits = 0;  ///< negative after an exponent
  bool negative = false;
  bool has_point = false;
};

/// Reads a number at text[begin]: digits, perhaps grouped by commas, a fraction, an exponent; a sign in
/// front. Returns the position after it, 0 when there is none, or it has more than 18 digits before
/// the point.
std::size_t parse_decimal(std::string_view text, std::size_t begin, Decimal& out);

/// A value as a counter holds it, with half of the step that it was printed in; 0 where it is exact.
struct Quantity {
  std::int64_t value = 0;
  std::int64_t half_unit = 0;
};

/// `number` times `multiplier`, rounded to the nearest; nothing beyond 64 bits.
std::optional<Quantity> scale(const Decimal& number, std::uint64_t multiplier);

/// How many bytes a unit of size stands for, by its usual names in any case: B, byte(s), K, KB, KiB up
/// to P. KB and its kin are powers of 1024, of 1000 with `decimal`; 0 when `word` is none.
std::uint64_t size_unit(std::string_view word, bool decimal);

/// A number in a text, and the letters behind it, with blanks between them or not: "17.1 MB", "839K".
struct Measure {
  Decimal number;
  std::size_t number_end = 0;  ///< 0: there is no number
  std::size_t end = 0;         ///< behind the letters
  std::string_view unit;       ///< the letters

  /// Nothing without a number, for letters other than a unit of bytes, and beyond 64 bits. `without` is the unit of a
  /// number without letters, 0: none.
  std::optional<Quantity> bytes(std::uint64_t without = 0) const;
};

/// Reads at text[begin], blanks in front of the number apart, and at most `most_blanks` behind it.
Measure measure_at(std::string_view text, std::size_t begin, std::size_t most_blanks = std::string_view::npos);

/// "1184 MB", "0 B": a whole text, in powers of 1024. For tables of tools that are known.
std::optional<Quantity> parse_size(std::string_view text);

}  // namespace snapdiff::formats::text
