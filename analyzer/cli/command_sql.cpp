#include <iostream>
#include <iterator>

#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/compare.hpp"
#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/cli/query_answer.hpp"

namespace snapdiff::cli {

std::string query_of(const std::vector<std::string>& words, const std::string& command) {
  if (words.empty()) return {std::istreambuf_iterator<char>(std::cin), {}};
  if (words.size() > 1)
    fail(ErrorCode::usage, command + " takes one query: found " + std::to_string(words.size()) + "; quote it");
  return words.front();
}

PrintedTable::PrintedTable(const Options& options)
    : form_(form_of(options)), writer_(form_, [this](std::string_view piece) {
        if (printed_) printed_ = print_report(piece, form_);
      }) {}

void PrintedTable::end() {
  writer_.end();
  value_or_throw(printed_);
}
int run_sql(const Arguments& arguments) {
  Options options;
  CommandLine line(
      "SQL over the store; a script on stdin without QUERY.", "sql [options] [QUERY]",
      {"snapdiff sql 'SELECT * FROM growth(1, 2) ORDER BY growth DESC LIMIT 5'", "snapdiff sql --as csv < report.sql"});
  add_options(line, options, kTakesOperands | kTakesForm);
  if (const auto code = line.parse(arguments)) return *code;
  const std::string script = query_of(options.operands, "sql");
  store::Store store = value_or_throw(session::open_store(session::choose_store(options.db), store::Access::read));
  session::match_builds(store);
  PrintedTable table(options);
  store::Store::SqlSink sink;
  sink.on_columns = [&](std::span<const std::string> names) { table.columns(names); };
  sink.on_row = [&](std::span<const QueryCell> row) { table.row(row); };
  const Status status = store.sql(script, sink);
  table.end();
  value_or_throw(status);
  return kExitDone;
}

}  // namespace snapdiff::cli
