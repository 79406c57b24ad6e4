#include "analyzer/cli/counter_answer.hpp"

#include "analyzer/cli/compare.hpp"
#include "analyzer/diff/diff.hpp"
#include "analyzer/session/judged_series.hpp"

namespace snapdiff::cli {

bool asks_for_counters(const std::vector<SnapshotRef>& refs, const Options& options) {
  return options.counters || diff::has_counters_only(refs);
}

std::string answer_counters(const std::vector<SnapshotRef>& refs, const report::Style& style) {
  const CounterReport counters = value_or_throw(session::judged_counters(refs));
  return report::write_counters(counters, style);
}

int show_counters(const Loaded& loaded, const Options& options, const report::Style& style) {
  const std::string text = answer_counters(loaded.refs(), style);
  value_or_throw(print_report(text, style.form));
  return tell_notes(loaded, options);
}

}  // namespace snapdiff::cli
