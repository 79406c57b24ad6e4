#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "analyzer/postmortem/make_postmortem.hpp"
#include "analyzer/render/drawing.hpp"
#include "analyzer/session/postmortem_series.hpp"
#include "snapdiff/picture.hpp"

namespace snapdiff::session {

/// How the documents of a report are made.
///   rows      of the Markdown and JSON tables; by default what a ticket has room for, and 1000
///   drawing   null: neither the PDF nor the graph of the page is made
///   redactor  replaces the names of what is drawn beside the report; the report itself has its tokens already
struct DocumentOptions {
  std::optional<std::size_t> rows;
  render::Paper paper = render::Paper::a4;
  std::size_t max_nodes = 40;
  const render::Drawing* drawing = nullptr;
  const postmortem::Redactor* redactor = nullptr;
};

/// report.pdf, report.html, report.md and report.json of one series. Errors: those of the writers.
Result<std::vector<Document>> make_documents(const Postmortem& report, const ReportedSeries& series,
                                             const DocumentOptions& options);

}  // namespace snapdiff::session
