#include "formats/pprof_text/printed_text.hpp"

namespace snapdiff::formats::pprof_text {

using text::trim;

constexpr std::uint64_t kMostDigits = 10'000'000'000'000'000;

std::optional<PrintedValue> printed_value(std::string_view token) {
  text::Decimal number;
  const std::size_t end = text::parse_decimal(token, 0, number);
  if (end == 0) return std::nullopt;
  const bool has_unit = end < token.size();
  const std::uint64_t unit = has_unit ? text::size_unit(token.substr(end), false) : 1;
  // Two decimals are printed, of which ".00" is left out.
  if (unit > 1 && !number.has_point && number.digits <= kMostDigits) {
    number.digits *= 100;
    number.fraction_digits += 2;
  }
  const std::optional<text::Quantity> amount = unit == 0 ? std::nullopt : text::scale(number, unit);
  if (!amount) return std::nullopt;
  return PrintedValue{*amount, has_unit};
}

bool take_inline_mark(std::string_view& name) {
  for (const std::string_view mark : {" (inline)", " (partial-inline)"}) {
    if (!name.ends_with(mark)) continue;
    name.remove_suffix(mark.size());
    return mark == " (inline)";
  }
  return false;
}

bool is_separator(std::string_view line) {
  return text::has_prefix(line, "-----------+----") || text::has_prefix(line, "--------------------");
}

bool is_row_heading(std::string_view line) {
  text::Cursor at(line);
  for (const std::string_view word : {"flat", "flat%", "sum%", "cum", "cum%"}) {
    at.skip_blanks();
    if (at.token() != word) return false;
  }
  return true;
}

std::optional<FlatRow> flat_row(std::string_view line) {
  text::Cursor at(line);
  FlatRow out;
  for (int field = 0; field < 5; ++field) {
    at.skip_blanks();
    const std::string_view token = at.token();
    const bool is_percent = field != 0 && field != 3;
    if (is_percent != token.ends_with('%')) return std::nullopt;
    const auto value = printed_value(is_percent ? token.substr(0, token.size() - 1) : token);
    if (!value) return std::nullopt;
    if (field == 0) out.flat = *value;
  }
  out.name = trim(at.rest());
  if (text::has_prefix(out.name, "|")) out.name = trim(out.name.substr(1));
  take_inline_mark(out.name);
  return out.name.empty() ? std::nullopt : std::optional(out);
}

std::optional<PrintedValue> stated_total(std::string_view line) {
  constexpr std::string_view kOf = " of ", kTotal = " total";
  const std::size_t end = line.rfind(kTotal);
  const std::size_t begin = end == std::string_view::npos ? end : line.rfind(kOf, end);
  if (begin == std::string_view::npos) return std::nullopt;
  return printed_value(line.substr(begin + kOf.size(), end - begin - kOf.size()));
}

}  // namespace snapdiff::formats::pprof_text
