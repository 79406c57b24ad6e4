#include "analyzer/session/postmortem_documents.hpp"

#include <algorithm>
#include <future>
#include <string>
#include <utility>

#include "analyzer/base/failure.hpp"
#include "analyzer/html/html.hpp"
#include "analyzer/report/report.hpp"
#include "analyzer/session/memory_story.hpp"

namespace snapdiff::session {
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

Result<std::string> make_pdf(const Postmortem& report, const ReportedSeries& series, const DocumentOptions& options) {
  return guarded([&] {
    Loaded trace;
    if (series.trace) trace.snapshots.push_back(*series.trace);
    std::string source = source_text(series.trace ? trace : series.loaded);
    if (options.redactor != nullptr) source = options.redactor->redacted(source);
    return value_or_throw(
        options.drawing->postmortem_pdf(report, source, {.max_nodes = options.max_nodes}, options.paper));
  });
}

}  // namespace

Result<std::vector<Document>> make_documents(const Postmortem& report, const ReportedSeries& series,
                                             const DocumentOptions& options) {
  return guarded([&] {
    html::HtmlOptions page;
    if (options.drawing != nullptr && !report.growth().metric.empty())
      page.graph_svg = value_or_throw(options.drawing->growth_svg(report, {.max_nodes = options.max_nodes}));
    // Fonts are used in one thread at a time: the page needs none any more.
    std::future<Result<std::string>> pdf;
    if (options.drawing != nullptr)
      pdf = std::async(std::launch::async, [&] { return make_pdf(report, series, options); });
    Result<std::string> html = html::to_html(report, page);
    report::Style style;
    style.max_rows = options.rows.value_or(kTicketRows);
    std::string markdown = report::postmortem_markdown(report, style);
    style.max_rows = options.rows.value_or(json_rows(report));
    std::string json = report::postmortem_json(report, style);
    std::vector<Document> documents;
    if (pdf.valid()) documents.push_back({"report.pdf", value_or_throw(pdf.get())});
    documents.push_back({"report.html", value_or_throw(std::move(html))});
    documents.push_back({"report.md", std::move(markdown)});
    documents.push_back({"report.json", std::move(json)});
    return documents;
  });
}

}  // namespace snapdiff::session
