#include <iostream>
#include <iterator>
#include <vector>

#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/compare.hpp"
#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/report/query.hpp"

namespace snapdiff::cli {
int run_sql(const Arguments& arguments) {
  Options options;
  CommandLine line(
      "SQL over the store; a script on stdin without QUERY.", "sql [options] [QUERY]",
      {"snapdiff sql 'SELECT * FROM growth(1, 2) ORDER BY growth DESC LIMIT 5'", "snapdiff sql --as csv < report.sql"});
  add_options(line, options, kTakesOperands | kTakesForm);
  if (const auto code = line.parse(arguments)) return *code;
  std::string script;
  if (options.operands.empty()) {
    script.assign(std::istreambuf_iterator<char>(std::cin), {});
  } else if (options.operands.size() == 1) {
    script = options.operands[0];
  } else {
    fail({ErrorCode::usage, "sql takes one query: found " + std::to_string(options.operands.size()) + "; quote it"});
  }
  const report::Form form = form_of(options);
  store::Store store = value_or_throw(session::open_store(session::choose_store(options.db), store::Access::read));
  Status printed = ok();
  report::QueryWriter writer(form, [&](std::string_view piece) {
    if (printed) printed = print_report(piece, form);
  });
  store::Store::SqlSink sink;
  std::vector<report::QueryCell> cells;
  sink.on_columns = [&](std::span<const std::string> names) { writer.columns(names); };
  sink.on_row = [&](std::span<const store::Store::SqlValue> row) {
    cells.clear();
    for (const store::Store::SqlValue& value : row) cells.push_back({value.text, value.is_number});
    writer.row(cells);
  };
  const Status status = store.sql(script, sink);
  writer.end();
  value_or_throw(printed);
  value_or_throw(status);
  return kExitDone;
}

}  // namespace snapdiff::cli
