#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/report/report.hpp"
#include "snapdiff/growth.hpp"

/// Which rows a view shows, and what the rest adds up to.
namespace snapdiff::report {

/// The sum of the rows that are not shown. The flat values of shown rows + this + unattributed + filtered are
/// the total, exactly.
struct Others {
  std::size_t rows = 0;
  Change value;
  Change objects;
  bool changed = false;  ///< some row among them grew or shrank
  double error = 0;      ///< of the sum; NaN when one is unknown
};

/// Takes a row in: its count, value and objects.
void add(Others& others, const GrowthRow& row);

struct Selection {
  std::vector<std::uint32_t> rows;  ///< row numbers in the order they are shown
  Others others;
};

/// "[2 others]", "[1 other]".
std::string others_name(const Others& others);

/// Whether unchanged rows are in the table: people who ask for changes don't want to read them,
/// machine forms and -n 0 hold everything.
enum class Unchanged : std::uint8_t { shown, hidden };

/// Rows by size of change put unchanged rows last, so a table of them is only noise.
Unchanged unchanged_rows(const GrowthReport& report, const Style& style);

Selection select_rows(const GrowthReport& report, const Style& style, Unchanged unchanged);

/// How many rows may be shown: as the style says; of a sparse series no more than can be written out whole.
std::size_t most_rows(const GrowthReport& report, const Style& style);

/// The same for one snapshot; only `rows`, and values on the current side.
Selection select_rows(const TopReport& report, const Style& style);

/// Growth is smaller than two standard deviations of its sampling error. False when exact or unknown.
bool within_error(const GrowthReport& report, const GrowthRow& row);

/// Heading and table after a blank line; "" without such a stack.
std::string listed_once_text(const GrowthReport& report, const Style& style);
std::string listed_once_markdown(const GrowthReport& report, const Style& style);

}  // namespace snapdiff::report
