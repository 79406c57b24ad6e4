#pragma once

#include "formats/text/log_lines.hpp"
#include "formats/text/printed_frame.hpp"
#include "formats/text/quantity.hpp"

namespace snapdiff::formats::pprof_text {

/// "3080.07kB", "-12", "0": a number with or without a unit of size. Nothing for times ("10ms").
struct PrintedValue {
  text::Quantity amount;
  bool has_unit = false;
};
std::optional<PrintedValue> printed_value(std::string_view token);

/// "main.account (inline)": the name alone, and whether it was inlined.
bool take_inline_mark(std::string_view& name);

/// The line between the blocks of -traces, and above those of -tree and -peek.
bool is_separator(std::string_view line);

/// "      flat  flat%   sum%        cum   cum%", above the rows.
bool is_row_heading(std::string_view line);

/// A row of -top, and of -tree and -peek those of the functions themselves. Only the flat value is one of the
/// profile's: what a function calls is in the cumulative one.
struct FlatRow {
  PrintedValue flat;
  std::string_view name;
};
std::optional<FlatRow> flat_row(std::string_view line);

/// "Showing nodes accounting for 12316.13kB, 100% of 12316.13kB total", "512kB of 512kB total (100%)".
std::optional<PrintedValue> stated_total(std::string_view line);

/// -top, -tree, -peek and -traces: one column, whose values are rounded. Throws Failure.
Snapshot read_printed(text::LogLines& lines);

/// -raw: all columns, exact. Throws Failure.
Snapshot read_raw(text::LogLines& lines);

}  // namespace snapdiff::formats::pprof_text
