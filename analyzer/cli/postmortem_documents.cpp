#include "analyzer/cli/postmortem_documents.hpp"

#include <algorithm>
#include <future>
#include <string>
#include <system_error>
#include <utility>

#include "analyzer/cli/memory_story.hpp"
#include "analyzer/cli/output_file.hpp"
#include "analyzer/cuda/cuda.hpp"
#include "analyzer/html/html.hpp"
#include "analyzer/report/report.hpp"

namespace snapdiff::cli {
namespace {

/// Rows of the Markdown table: what a ticket has room for.
constexpr std::size_t kTicketRows = 10;
/// Rows of report.json, most changed first; what is left out is summed up there. Fewer where a series is so long that
/// these would have more values than kJsonValues, but never less than kFewestJsonRows.
constexpr std::size_t kJsonRows = 1000;
constexpr std::size_t kFewestJsonRows = 20;
constexpr std::size_t kJsonValues = 1'000'000;

std::size_t json_rows(const Postmortem& report) {
  const std::size_t length = std::max<std::size_t>(report.growth().series_length, 1);
  return std::clamp(kJsonValues / length, kFewestJsonRows, kJsonRows);
}

Status write_file(const std::filesystem::path& path, const std::string& bytes) {
  Status written = write_output(path.string(), bytes);
  if (written)
    say("wrote " + escape_for_terminal(path.string()) + " (" +
        report::bytes_text(static_cast<std::int64_t>(bytes.size())) + ")");
  return written;
}

Loaded only(const LoadedSnapshot& snapshot) {
  Loaded loaded;
  loaded.snapshots.push_back(snapshot);
  return loaded;
}

/// Charts of CUDA devices: the last trace, and where the segments lie at the end. No pages elsewhere.
Result<render::MemoryStory> device_pages(const Postmortem& report, const ReportedSeries& series,
                                         const DiffOptions& view) {
  render::MemoryStory story;
  const LoadedSnapshot& last = series.trace ? *series.trace : series.loaded.snapshots.back();
  const Snapshot& snapshot = *last.ref.snapshot;
  if (snapshot.allocator != nullptr && cuda::busiest_trace(snapshot)) {
    Result<render::MemoryStory> timeline = tell_memory(only(last), {.timeline = true}, view);
    if (!timeline) return std::move(timeline).error();
    story.pages = std::move(timeline->pages);
  }
  if (report.pins) {
    story.pages.emplace_back(render::SegmentsPage{*report.pins});
    story.pages.emplace_back(render::PinsPage{*report.pins});
  }
  story.source = source_text(series.trace ? only(*series.trace) : series.loaded);
  return story;
}

void redact(const postmortem::Redactor& redactor, render::MemoryStory& story) {
  story.source = redactor.redacted(story.source);
  for (render::MemoryPage& page : story.pages) {
    if (auto* timeline = std::get_if<render::TimelinePage>(&page)) timeline->view = redactor.redacted(timeline->view);
  }
}

Result<std::string> make_pdf(const Postmortem& report, const ReportedSeries& series, const DiffOptions& view,
                             const DocumentOptions& options) {
  Result<render::MemoryStory> memory = device_pages(report, series, view);
  if (!memory) return std::move(memory).error();
  if (options.redactor != nullptr) redact(*options.redactor, *memory);
  memory->title = report.title;
  memory->version = report.version;
  memory->created_at_ns = report.created_at_ns;
  return options.drawing->postmortem_pdf(report, *memory, {.max_nodes = options.max_nodes}, options.paper,
                                         options.full);
}

}  // namespace

Status write_documents(const Postmortem& report, const ReportedSeries& series, const DiffOptions& view,
                       const std::filesystem::path& folder, const DocumentOptions& options) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure)
    return Error{ErrorCode::io, "cannot make the folder: " + failure.message(), std::nullopt, folder.string()};
  html::HtmlOptions page;
  if (options.drawing != nullptr && !report.growth().metric.empty()) {
    Result<std::string> graph = options.drawing->growth_svg(report, {.max_nodes = options.max_nodes});
    if (!graph) return std::move(graph).error();
    page.graph_svg = *std::move(graph);
  }
  // Fonts are used in one thread at a time: the page needs none any more.
  std::future<Result<std::string>> pdf;
  if (options.drawing != nullptr)
    pdf = std::async(std::launch::async, [&] { return make_pdf(report, series, view, options); });
  const Result<std::string> html = html::to_html(report, page);
  report::Style style;
  style.max_rows = options.rows.value_or(kTicketRows);
  const std::string markdown = report::postmortem_markdown(report, style);
  style.max_rows = options.rows.value_or(json_rows(report));
  const std::string json = report::postmortem_json(report, style);
  const Result<std::string> document = pdf.valid() ? pdf.get() : std::string();
  if (!document) return document.error();
  if (!html) return html.error();
  if (options.drawing != nullptr) {
    if (Status done = write_file(folder / "report.pdf", *document); !done) return done;
  }
  if (Status done = write_file(folder / "report.html", *html); !done) return done;
  if (Status done = write_file(folder / "report.md", markdown); !done) return done;
  return write_file(folder / "report.json", json);
}

}  // namespace snapdiff::cli
