#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/report/report.hpp"

/// What the Markdown forms share.
namespace snapdiff::report {

/// Text that Markdown takes literally: no markup, no HTML, no cell ends, and no mention or issue
/// link that a code host would make of '@' and '#'.
std::string literal(std::string_view text);

/// Columns from `text_from` on are aligned to the left.
class MarkdownTable {
 public:
  explicit MarkdownTable(const std::vector<std::string>& headers, std::size_t text_from) {
    add(headers);
    for (std::size_t i = 0; i < headers.size(); ++i) out_ += i < text_from ? "| ---: " : "| :--- ";
    out_ += "|\n";
  }
  void add(const std::vector<std::string>& cells) {
    for (const std::string& cell : cells) {
      out_ += "| ";
      out_ += cell;
      if (!cell.empty()) out_ += ' ';
    }
    out_ += "|\n";
  }
  const std::string& text() const { return out_; }

 private:
  std::string out_;
};

/// The table of a diff. `verdicts` parallel to the rows, or empty.
std::string growth_rows(const GrowthReport& report, const std::vector<RowVerdict>& verdicts, const Style& style);

}  // namespace snapdiff::report
