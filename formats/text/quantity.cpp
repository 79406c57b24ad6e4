#include "formats/text/quantity.hpp"

#include "formats/text/scan.hpp"

namespace snapdiff::formats::text {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t kMostDigits = 100'000'000'000'000'000;  // of 18 digits one more fits

constexpr Wide power_of_ten(int exponent) {
  Wide out = 1;
  for (int i = 0; i < exponent; ++i) out *= 10;
  return out;
}

/// Three digits and no fourth.
bool is_group(std::string_view text) {
  return text.size() >= 3 && is_digit(text[0]) && is_digit(text[1]) && is_digit(text[2]) &&
         (text.size() == 3 || !is_digit(text[3]));
}

std::size_t parse_exponent(std::string_view text, std::size_t at, Decimal& number) {
  std::size_t i = at + 1;
  bool negative = false;
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) negative = text[i++] == '-';
  const std::size_t digits = i;
  int exponent = 0;
  while (i < text.size() && is_digit(text[i]) && i - digits < 3) exponent = exponent * 10 + (text[i++] - '0');
  if (i == digits || (i < text.size() && is_word(text[i])) || exponent > 18) return at;
  number.fraction_digits += negative ? exponent : -exponent;
  return i;
}

}  // namespace

std::size_t parse_decimal(std::string_view text, std::size_t begin, Decimal& out) {
  std::size_t i = begin;
  out = Decimal{};
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) out.negative = text[i++] == '-';
  const std::size_t first = i;
  bool grouped = false;
  for (; i < text.size(); ++i) {
    if (text[i] == ',' && i > first && (grouped || i - first <= 3) && is_group(text.substr(i + 1, 4))) {
      grouped = true;
      continue;
    }
    if (!is_digit(text[i])) break;
    if (out.digits >= kMostDigits) return 0;
    out.digits = out.digits * 10 + static_cast<std::uint64_t>(text[i] - '0');
  }
  if (i == first) return 0;
  if (i + 1 < text.size() && text[i] == '.' && is_digit(text[i + 1])) {
    out.has_point = true;
    for (++i; i < text.size() && is_digit(text[i]); ++i) {
      if (out.digits >= kMostDigits || out.fraction_digits >= 18) continue;  // finer than any unit
      out.digits = out.digits * 10 + static_cast<std::uint64_t>(text[i] - '0');
      ++out.fraction_digits;
    }
  }
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) i = parse_exponent(text, i, out);
  return i;
}

std::optional<Quantity> scale(const Decimal& number, std::uint64_t multiplier) {
  if (multiplier == 0 || multiplier > (std::uint64_t{1} << 50)) return std::nullopt;
  const Wide divisor = power_of_ten(number.fraction_digits > 0 ? number.fraction_digits : 0);
  Wide step = multiplier;
  if (number.fraction_digits < 0) step *= power_of_ten(-number.fraction_digits);  // < 2^50 * 10^18
  if (step != 0 && number.digits > static_cast<Wide>(std::numeric_limits<std::uint64_t>::max()) * divisor / step)
    return std::nullopt;
  const Wide rounded = (step * number.digits + divisor / 2) / divisor;
  constexpr auto kMost = static_cast<Wide>(std::numeric_limits<std::int64_t>::max());
  if (rounded > kMost) return std::nullopt;
  Quantity out;
  out.value = static_cast<std::int64_t>(rounded);
  if (number.negative) out.value = -out.value;
  if (step != 1 || divisor != 1) {
    const Wide half = (step + 2 * divisor - 1) / (2 * divisor);
    if (half > kMost) return std::nullopt;
    out.half_unit = static_cast<std::int64_t>(half);
  }
  return out;
}

std::uint64_t size_unit(std::string_view word, bool decimal) {
  std::array<char, 10> text{};  // the longest word is "megabytes", or "kibibytes"
  if (word.empty() || word.size() > text.size()) return 0;
  for (std::size_t i = 0; i < word.size(); ++i) text[i] = lower(word[i]);
  std::string_view rest(text.data(), word.size());
  constexpr std::string_view kPrefixes = "kmgtp";
  constexpr std::array<std::string_view, 5> kDecimal = {"kilo", "mega", "giga", "tera", "peta"};
  constexpr std::array<std::string_view, 5> kBinary = {"kibi", "mebi", "gibi", "tebi", "pebi"};
  const auto is_bytes = [&] { return rest == "byte" || rest == "bytes"; };
  if (rest == "b" || is_bytes()) return 1;
  const std::size_t power = kPrefixes.find(rest[0]);
  if (power == std::string_view::npos) return 0;
  bool binary = rest.starts_with(kBinary[power]);
  if (binary || rest.starts_with(kDecimal[power])) {
    rest.remove_prefix(4);
    if (!is_bytes()) return 0;
  } else {
    rest.remove_prefix(1);
    binary = rest == "ib" || rest == "i" || rest == "ibyte" || rest == "ibytes";
    if (!binary && !rest.empty() && rest != "b" && !is_bytes()) return 0;
  }
  std::uint64_t out = 1;
  for (std::size_t i = 0; i <= power; ++i) out *= decimal && !binary ? 1000 : 1024;
  return out;
}

std::optional<Quantity> Measure::bytes(std::uint64_t without) const {
  const std::uint64_t step = unit.empty() ? without : size_unit(unit, false);
  return number_end == 0 || step == 0 ? std::nullopt : scale(number, step);
}

Measure measure_at(std::string_view text, std::size_t begin, std::size_t most_blanks) {
  while (begin < text.size() && is_blank(text[begin])) ++begin;
  Measure out;
  out.number_end = parse_decimal(text, begin, out.number);
  if (out.number_end == 0) return out;
  std::size_t unit = out.number_end;
  while (unit < text.size() && unit - out.number_end < most_blanks && is_blank(text[unit])) ++unit;
  out.end = unit;
  while (out.end < text.size() && is_letter(text[out.end])) ++out.end;
  out.unit = text.substr(unit, out.end - unit);
  return out;
}

std::optional<Quantity> parse_size(std::string_view text) {
  const Measure found = measure_at(text, 0);
  return trim(text.substr(found.end)).empty() ? found.bytes() : std::nullopt;
}

}  // namespace snapdiff::formats::text
