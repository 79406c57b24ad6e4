#include <algorithm>
#include <tuple>

#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/compare.hpp"
#include "analyzer/report/report.hpp"
#include "analyzer/session/judged_series.hpp"

namespace snapdiff::cli {
namespace {

/// "growth" is the order that the report comes in.
void sort_rows(RetainedReport& report, const std::string& key) {
  const bool bytes = report.has_bytes;
  const auto value = [bytes](const ObjectSum& sum) { return bytes ? sum.bytes : sum.objects; };
  const auto by = [&](auto weight) {
    std::stable_sort(report.rows.begin(), report.rows.end(),
                     [&](const RetainedRow& a, const RetainedRow& b) { return weight(a) > weight(b); });
  };
  if (key == "retained") by([&](const RetainedRow& row) { return value(row.last().retained); });
  if (key == "self") by([&](const RetainedRow& row) { return value(row.last().self); });
  if (key == "objects") by([](const RetainedRow& row) { return row.last().self.objects; });
  if (key == "new") by([](const RetainedRow& row) { return row.fresh.objects; });
  if (key == "detached") by([](const RetainedRow& row) { return row.last().detached.objects; });
  if (key == "name") {
    std::stable_sort(report.rows.begin(), report.rows.end(), [](const RetainedRow& a, const RetainedRow& b) {
      return std::tie(a.type, a.kind) < std::tie(b.type, b.kind);
    });
  }
}

}  // namespace

int run_retained(const Arguments& arguments) {
  Options options;
  std::string sort = "growth";
  CommandLine line("What the types of an object graph keep alive, and how that grew.",
                   "retained [options] FILE [FILE...]\n\n"
                   "  FILE is a V8 heap snapshot, an HPROF dump or another one with references; of\n"
                   "  several, oldest first, growth is that from the first to the last",
                   {"snapdiff retained app.heapsnapshot", "snapdiff retained 1.hprof 2.hprof 3.hprof -n 10 --as csv"});
  add_options(line, options, kTakesOperands | kTakesCount | kTakesForm | kReadsFiles);
  line.text("--sort", "KEY", sort, "growth, retained, self, objects, new, detached, name\n(growth)")
      .choices({"growth", "retained", "self", "objects", "new", "detached", "name"});
  if (const auto code = line.parse(arguments)) return *code;
  if (options.operands.empty()) fail({ErrorCode::usage, "retained takes one file or more: found 0"});
  if (options.as != "text" && options.as != "json" && options.as != "csv")
    fail({ErrorCode::usage, "retained --as " + options.as + ": expected text, json or csv"});
  const auto make = [&](Loaded& loaded, const DiffOptions&) -> Result<RetainedReport> {
    Result<RetainedReport> report = session::retained_with_owners(loaded.refs());
    if (report) sort_rows(*report, sort);
    return report;
  };
  return answer_operands(options, {.expand = options.operands.size() == 1}, "finding dominators", make,
                         report::write_retained);
}

}  // namespace snapdiff::cli
