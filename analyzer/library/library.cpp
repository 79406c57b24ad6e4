#include <mutex>
#include <utility>

#include "analyzer/base/frame_text.hpp"
#include "analyzer/base/function_name.hpp"
#include "analyzer/diff/diff.hpp"
#include "analyzer/report/report.hpp"
#include "analyzer/session/compared.hpp"
#include "analyzer/session/gate_rules.hpp"
#include "analyzer/session/judged_series.hpp"
#include "analyzer/session/pictures.hpp"
#include "analyzer/session/postmortem_documents.hpp"
#include "analyzer/session/recording.hpp"
#include "formats/registry.hpp"
#include "snapdiff/snapdiff.hpp"

namespace snapdiff {
namespace {

/// Fonts are used in one thread at a time.
std::mutex& drawing() {
  static std::mutex mutex;
  return mutex;
}

session::Request request_of(const OpenOptions& options) {
  session::Request request;
  static_cast<OpenOptions&>(request) = options;
  return request;
}

report::Style json_style() {
  report::Style style;
  style.form = report::Form::json;
  style.max_rows = 0;
  return style;
}

Result<std::optional<postmortem::Redactor>> redactor_of(const PostmortemOptions& options) {
  if (!options.redact) return std::optional<postmortem::Redactor>();
  if (!options.redact->empty() && options.redact->size() < 16)
    return Error{ErrorCode::usage,
                 "too short a key: found " + std::to_string(options.redact->size()) + " B, expected 16 or more"};
  return std::optional<postmortem::Redactor>(std::in_place, *options.redact);
}

Result<Postmortem> report_on(const session::ReportedSeries& series, const PostmortemOptions& options,
                             const DiffOptions& view, const std::optional<postmortem::Redactor>& redactor) {
  if (series.loaded.snapshots.size() < 2)
    return Error{ErrorCode::usage,
                 "a post-mortem is of two snapshots or more: found " + std::to_string(series.loaded.snapshots.size())};
  const Result<postmortem::Rules> rules = postmortem::built_in_rules();
  if (!rules) return rules.error();
  Result<Postmortem> report = session::find_out(series, view, options.limit, *rules);
  if (report && redactor) redactor->redact(*report);
  return report;
}

}  // namespace

Result<Loaded> open_snapshots(const std::vector<std::string>& operands, const OpenOptions& options) {
  Result<session::Compared> compared =
      session::load_compared(operands, {}, request_of(options), session::Fallback::snapshots, store::Parts::allocator);
  if (!compared) return std::move(compared).error();
  return std::move(compared->loaded);
}

Result<std::vector<SnapshotRef>> read_snapshots(const std::string& path, const std::string& format) {
  formats::ReadOptions options;
  options.format = format;
  Result<std::vector<Snapshot>> read = formats::read_file(path, options);
  if (!read) return std::move(read).error();
  std::vector<SnapshotRef> refs;
  for (Snapshot& snapshot : *read) {
    const std::string ref = read->size() > 1 ? path + "@" + std::to_string(refs.size() + 1) : path;
    refs.push_back({std::make_shared<const Snapshot>(std::move(snapshot)), ref, ""});
  }
  return refs;
}

Result<std::vector<SnapshotId>> record(const Loaded& loaded, const std::string& store, const std::string& series) {
  session::Recording recording(session::choose_store(store), loaded, {}, series);
  recording.answered();
  session::Recorded done = recording.finish({});
  if (!done.is_kept) return Error{ErrorCode::usage, "a store in memory ends with the call: expected a file"};
  if (!done.status) return std::move(done.status).error();
  return std::move(done.ids);
}

Result<GrowthReport> compare(const SnapshotRef& baseline, const SnapshotRef& current, const DiffOptions& options) {
  return session::compare_two(baseline, current, options);
}

Result<SeriesReport> compare_series(std::span<const SnapshotRef> snapshots, const DiffOptions& options) {
  return diff::diff_series(snapshots, options);
}

Result<TrendReport> judge(std::span<const SnapshotRef> snapshots, const DiffOptions& options,
                          std::optional<std::int64_t> limit) {
  if (snapshots.size() < 3)
    return Error{ErrorCode::usage,
                 "too few snapshots for a trend: found " + std::to_string(snapshots.size()) + ", expected at least 3"};
  return session::judge_series(snapshots, options, limit);
}

Result<GateReport> check_gate(std::span<const SnapshotRef> snapshots, const GateOptions& options,
                              const DiffOptions& view) {
  if (snapshots.size() < 2)
    return Error{ErrorCode::usage, "a gate needs at least two snapshots: found " + std::to_string(snapshots.size())};
  session::GateRequest wanted;
  wanted.budgets = options.budgets;
  wanted.budget_file = options.budget_file;
  wanted.allowance_file = options.allowance_file;
  wanted.allow_unjudged = options.allow_unjudged;
  Result<session::GateRules> rules = session::gate_rules(wanted);
  if (!rules) return std::move(rules).error();
  Result<session::GateSeries> series = session::gate_series(snapshots, view);
  if (!series) return std::move(series).error();
  Result<session::GateAnswer> answer = session::judge_gate(*std::move(series), wanted, *std::move(rules));
  if (!answer) return std::move(answer).error();
  return std::move(answer->report);
}

Result<std::string> draw_picture(const Loaded& loaded, const PictureOptions& options, const DiffOptions& view) {
  const std::lock_guard<std::mutex> alone(drawing());
  return session::draw({loaded, view}, options, {});
}

Result<Postmortem> make_postmortem(const Loaded& loaded, const PostmortemOptions& options, const DiffOptions& view) {
  const Result<std::optional<postmortem::Redactor>> redactor = redactor_of(options);
  if (!redactor) return redactor.error();
  const Result<session::ReportedSeries> series = session::reported_series(loaded);
  if (!series) return series.error();
  return report_on(*series, options, view, *redactor);
}

Result<std::vector<Document>> make_postmortem_documents(const Loaded& loaded, const PostmortemOptions& options,
                                                        const DiffOptions& view) {
  const Result<std::optional<postmortem::Redactor>> redactor = redactor_of(options);
  if (!redactor) return redactor.error();
  const Result<session::ReportedSeries> series = session::reported_series(loaded);
  if (!series) return series.error();
  const Result<Postmortem> report = report_on(*series, options, view, *redactor);
  if (!report) return report.error();
  session::DocumentOptions documents;
  documents.rows = options.rows;
  documents.paper = options.letter ? render::Paper::letter : render::Paper::a4;
  if (*redactor) documents.redactor = &**redactor;
  const std::lock_guard<std::mutex> alone(drawing());
  if (const Result<const render::Drawing*> module = render::open_drawing(); module) documents.drawing = *module;
  return session::make_documents(*report, *series, documents);
}

std::string to_json(const GrowthReport& report) { return report::write_diff(report, json_style()); }
std::string to_json(const TrendReport& report) { return report::write_trend(report, json_style()); }

std::string prose_text(const Prose& prose) {
  std::string text;
  for (const Span& span : prose) text += span.name ? printable(span.text) : span.text;
  return text;
}

std::string frame_text(const FrameView& frame) {
  return frame.function.empty() ? address_text(frame) : short_function_name(frame.function);
}

}  // namespace snapdiff
