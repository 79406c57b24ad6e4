#include "analyzer/base/number_text.hpp"

#include <array>
#include <charconv>
#include <cstddef>
#include <span>
#include <utility>

namespace snapdiff {
namespace {

__extension__ using Wide = unsigned __int128;

/// value / unit times 10^decimals, rounded half up.
std::uint64_t rounded(std::uint64_t value, std::uint64_t unit, unsigned decimals) {
  Wide scaled = value;
  for (unsigned i = 0; i < decimals; ++i) scaled *= 10;
  return static_cast<std::uint64_t>((scaled * 2 + unit) / (Wide{unit} * 2));
}

/// "2.52", "64.0", "244": value / unit, which is below 999.5 or in the last unit.
std::string three_digits(std::uint64_t value, std::uint64_t unit) {
  for (unsigned decimals = 2; decimals > 0; --decimals) {
    const std::uint64_t number = rounded(value, unit, decimals);
    if (number >= 1000) continue;
    const std::string digits = std::to_string(number);
    std::string text(digits.size() <= decimals ? decimals + 1 - digits.size() : 0, '0');
    text += digits;
    const std::string fraction = text.substr(text.size() - decimals);
    text.resize(text.size() - decimals);
    text += '.';
    return text += fraction;
  }
  return std::to_string(rounded(value, unit, 0));
}

std::string grouped(std::uint64_t value, std::string_view gap) {
  const std::string digits = std::to_string(value);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += gap;
    text += digits[i];
  }
  return text;
}

/// `units` in steps of `step`; the first one is shown whole. Next unit from 999.5.
std::string scaled(std::uint64_t value, std::uint64_t step, std::span<const std::string_view> units,
                   const NumberGlyphs& glyphs) {
  std::size_t index = 0;
  std::uint64_t unit = 1;
  // 999.5 units in integers: 1000 for the first, whose values are whole; (1999 * unit) / 2 beyond.
  while (index + 1 < units.size() && (index == 0 ? value >= 1000 : Wide{value} * 2 >= Wide{unit} * 1999)) {
    ++index;
    unit *= step;
  }
  std::string text = index == 0 ? std::to_string(value) : three_digits(value, unit);
  text += glyphs.before_unit;
  text += units[index];
  return text;
}

constexpr std::array<std::string_view, 7> kByteUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
constexpr std::array<std::string_view, 4> kTimeUnits{"ns", "us", "ms", "s"};

std::string with_sign(std::int64_t value, bool force_plus, const std::string& text, const NumberGlyphs& glyphs) {
  std::string signed_text;
  if (value < 0) signed_text += glyphs.minus;
  if (value > 0 && force_plus) signed_text += '+';
  return signed_text += text;
}

}  // namespace

std::string bytes_text(std::int64_t bytes, const NumberGlyphs& glyphs) {
  return with_sign(bytes, false, scaled(magnitude(bytes), 1024, kByteUnits, glyphs), glyphs);
}

std::string growth_text(std::int64_t bytes, const NumberGlyphs& glyphs) {
  return with_sign(bytes, true, scaled(magnitude(bytes), 1024, kByteUnits, glyphs), glyphs);
}

std::string count_text(std::int64_t count, const NumberGlyphs& glyphs) {
  return with_sign(count, false, grouped(magnitude(count), glyphs.thousands), glyphs);
}

std::string growth_count_text(std::int64_t count, const NumberGlyphs& glyphs) {
  return with_sign(count, true, grouped(magnitude(count), glyphs.thousands), glyphs);
}

std::string value_text(std::int64_t value, std::string_view unit, bool force_plus, const NumberGlyphs& glyphs) {
  if (unit == "bytes") return force_plus ? growth_text(value, glyphs) : bytes_text(value, glyphs);
  if (unit == "nanoseconds")
    return with_sign(value, force_plus, scaled(magnitude(value), 1000, kTimeUnits, glyphs), glyphs);
  return force_plus ? growth_count_text(value, glyphs) : count_text(value, glyphs);
}

std::string change_text(std::int64_t before, std::int64_t after, std::string_view unit, const NumberGlyphs& glyphs) {
  std::string last = value_text(after, unit, false, glyphs);
  if (before == after) return "stayed at " + last;
  const std::string verb = after > before ? "grew " : "shrank ";
  std::string first = value_text(before, unit, false, glyphs);
  if (first == last) {
    const auto [low, high] = before < after ? std::pair(before, after) : std::pair(after, before);
    const auto step = static_cast<std::int64_t>(static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low));
    return verb + "by " + value_text(step, unit, false, glyphs) + " to " + last;
  }
  if (unit == "bytes" || unit == "nanoseconds") {
    const std::size_t end = first.rfind(glyphs.before_unit);
    if (first.substr(end) == last.substr(last.rfind(glyphs.before_unit))) first.resize(end);
  }
  return verb + "from " + first + " to " + last;
}

std::string others_text(std::int64_t count, const NumberGlyphs& glyphs) {
  std::string text("[");
  return text.append(count_text(count, glyphs)).append(count == 1 ? " other]" : " others]");
}

std::string hex_text(std::uint64_t value) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
  std::string text("0x");
  return text.append(digits.data(), end);
}

std::string percent_text(std::int64_t part, std::int64_t whole, const NumberGlyphs& glyphs) {
  if (whole == 0) return "n/a";
  const std::uint64_t a = magnitude(part);
  const std::uint64_t b = magnitude(whole);
  const std::uint64_t percent = static_cast<std::uint64_t>((Wide{a} * 200 + b) / (Wide{b} * 2));
  std::string text;
  if (part != 0 && Wide{a} * 100 < Wide{b}) {
    text += "<1";
  } else if (percent == 100 && a < b) {
    text += ">99";
  } else {
    if (part != 0 && (part < 0) != (whole < 0)) text += glyphs.minus;
    text += grouped(percent, glyphs.thousands);
  }
  text += glyphs.before_unit;
  return text += '%';
}

}  // namespace snapdiff
