#pragma once

#include "formats/leak_reports/leak_check.hpp"

namespace snapdiff::formats::leak_reports {

/// Takes what a dialect finds. A report is open between open() and close().
class ListingSink {
 public:
  virtual ~ListingSink() = default;
  virtual bool is_open() const = 0;
  /// Begins a report of `tool`; one that is open is whole.
  virtual void open(std::string_view tool) = 0;
  virtual LeakCheck& check() = 0;
  /// The report is whole; `total` is what it says itself, where it does.
  virtual void close() = 0;
  virtual void close(Leaked total) = 0;
  /// A line of the report could not be read.
  virtual void lose(std::string_view why) = 0;
};

/// How one tool prints its leaks. Keeps its place in a report between lines.
class Dialect {
 public:
  virtual ~Dialect() = default;
  /// Whether the line begins a report of this tool, and of no other text.
  virtual bool begins(std::string_view line) const = 0;
  /// Offered each line, where no other dialect's report is open.
  virtual void take(std::string_view line, ListingSink& out) = 0;
  /// The input ends in an open report.
  virtual void finish(ListingSink& /*out*/) {}
  /// Reports of this tool have no line that ends them.
  virtual bool is_endless() const { return false; }
};

using Dialects = std::vector<std::unique_ptr<Dialect>>;

void add_listing_dialects(Dialects& all);
void add_block_dialects(Dialects& all);

}  // namespace snapdiff::formats::leak_reports
