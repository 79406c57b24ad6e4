#include "analyzer/cli/render_job.hpp"

#include <string>
#include <utility>
#include <vector>

#include "analyzer/cli/document.hpp"
#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/cli/judged_series.hpp"
#include "analyzer/cli/left_out.hpp"
#include "analyzer/cli/output_file.hpp"
#include "analyzer/diff/diff.hpp"

namespace snapdiff::cli {

Result<render::Story> tell_story(const Compared& compared, bool with_pairs) {
  const std::vector<SnapshotRef> refs = compared.loaded.refs();
  DiffOptions options = compared.options;
  options.by = GroupBy::stack;
  render::Story story;
  Result<JudgedSeries> series = judge_series(refs, options);
  if (!series) return std::move(series).error();
  for (std::size_t i = 1; with_pairs && refs.size() > 2 && i < refs.size(); ++i) {
    Result<GrowthReport> pair = compare_pair(refs[i - 1], refs[i], options);
    if (!pair) return std::move(pair).error();
    story.pairs.push_back(*std::move(pair));
  }
  TrendReport& trend = series->trend;
  if (trend.series.overall.series_length >= kJudgedFrom) {
    for (const Verdict& verdict : trend.verdicts) story.verdicts.push_back({verdict.word, verdict.reason});
  }
  story.steps = std::move(series->steps);
  story.missing = missing_inputs(compared.loaded);
  story.overall = std::move(trend.series.overall);
  story.title = title_of(compared.loaded);
  story.version = "snapdiff " SNAPDIFF_VERSION;
  story.order_note = order_of(compared.loaded);
  story.created_at_ns = document_time_ns(compared.loaded);
  story.full = with_pairs;
  return story;
}

int write_picture(const Options& options, std::string_view ending, const std::string& bytes) {
  const std::string path = options.output.empty() ? "snapdiff." + std::string(ending) : options.output;
  if (Status written = write_output(path, bytes); !written) return fail(written.error());
  if (path != "-") {
    say("wrote " + escape_for_terminal(path) + " (" + report::bytes_text(static_cast<std::int64_t>(bytes.size())) +
        ")");
  }
  return kExitDone;
}

}  // namespace snapdiff::cli
