#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "analyzer/base/query_cell.hpp"
#include "analyzer/report/report.hpp"

namespace snapdiff::report {

/// Writes the rows of queries, one result after the other: text and Markdown once all are there, the others as they
/// come. Names and texts come out of files and are made harmless in every form.
class QueryWriter {
 public:
  QueryWriter(Form form, Sink sink) : form_(form), sink_(std::move(sink)) {}
  ~QueryWriter() = default;
  QueryWriter(const QueryWriter&) = delete;
  QueryWriter& operator=(const QueryWriter&) = delete;

  /// Begins a result; ends the one before.
  void columns(std::span<const std::string> names);
  /// A row, a cell for each column.
  void row(std::span<const QueryCell> cells);
  /// Call after the last row of all.
  void end();

 private:
  void object(std::span<const QueryCell> cells);
  void record(std::span<const QueryCell> cells);
  void write_text();
  void write_markdown();
  void flush();

  Form form_;
  Sink sink_;
  std::vector<std::string> names_;
  std::vector<std::vector<QueryCell>> table_;
  std::string out_;
  std::size_t rows_ = 0;
  bool open_ = false;
};

}  // namespace snapdiff::report
