#pragma once

#include <span>
#include <string>
#include <vector>

#include "analyzer/cli/options.hpp"
#include "analyzer/report/query.hpp"

/// What a query of one's own says and how its rows are printed, wherever they come from.
namespace snapdiff::cli {

/// The query that the words after `command` are, else what stdin holds. Throws usage.
std::string query_of(const std::vector<std::string>& words, const std::string& command);

/// A table in the form that was asked for, printed as it comes.
class PrintedTable {
 public:
  explicit PrintedTable(const Options& options);
  void columns(std::span<const std::string> names) { writer_.columns(names); }
  void row(std::span<const QueryCell> cells) { writer_.row(cells); }
  /// After the last row. Throws io.
  void end();

 private:
  report::Form form_;
  Status printed_ = ok();
  report::QueryWriter writer_;
};

}  // namespace snapdiff::cli
