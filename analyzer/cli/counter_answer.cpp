#include "analyzer/cli/counter_answer.hpp"

#include <utility>

#include "analyzer/cli/compare.hpp"
#include "analyzer/diff/diff.hpp"
#include "analyzer/session/judged_series.hpp"

namespace snapdiff::cli {

bool asks_for_counters(const std::vector<SnapshotRef>& refs, const Options& options) {
  return options.counters || diff::has_counters_only(refs);
}

Result<std::string> answer_counters(const std::vector<SnapshotRef>& refs, const report::Style& style) {
  const Result<CounterReport> counters = session::judged_counters(refs);
  if (!counters) return counters.error();
  return report::write_counters(*counters, style);
}

int show_counters(const Loaded& loaded, const Options& options, const report::Style& style) {
  const Result<std::string> text = answer_counters(loaded.refs(), style);
  if (!text) return fail(text.error());
  if (Status printed = print_report(*text, style.form); !printed) return fail(printed.error());
  return tell_notes(loaded, options);
}

}  // namespace snapdiff::cli
