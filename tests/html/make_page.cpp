#include <charconv>
#include <ctime>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "analyzer/cuda/cuda.hpp"
#include "analyzer/html/html.hpp"
#include "analyzer/postmortem/make_postmortem.hpp"
#include "analyzer/render/render.hpp"
#include "analyzer/session/pins.hpp"
#include "formats/registry.hpp"

// make_page OUTPUT [--start PART] [--most BYTES] [--no-graph] [--time] FILE FILE...
//   writes the page of these snapshots, in this order, as the post-mortem command does.

namespace {

using namespace snapdiff;

int failed(const Error& error) {
  std::cerr << error.text() << "\n";
  return 2;
}

void add_device_memory(const std::vector<SnapshotRef>& refs, postmortem::Request& request) {
  for (std::size_t i = refs.size(); i-- > 0 && !request.failure;) {
    if (refs[i].snapshot->allocator == nullptr) continue;
    const std::optional<cuda::TraceRef> trace = cuda::busiest_trace(*refs[i].snapshot);
    if (!trace) continue;
    if (Result<std::optional<OutOfMemory>> failure = cuda::out_of_memory(*refs[i].snapshot, *trace))
      request.failure = *std::move(failure);
  }
  const Snapshot& last = *refs.back().snapshot;
  if (last.allocator == nullptr || !last.allocator->has_segments || last.column("pinned_space") == nullptr) return;
  const bool first_too = refs.front().snapshot->column("pinned_space") != nullptr;
  if (Result<PinReport> pins = session::make_pins(first_too ? refs.front() : SnapshotRef{}, refs.back(), request.view))
    request.pins = *std::move(pins);
}

Result<std::string> graph_of(const Postmortem& report) {
  if (report.growth().metric.empty()) return std::string();
  render::Story story;
  story.overall = report.growth();
  story.steps = report.trend.series.steps;
  story.title = report.title;
  story.version = report.version;
  return render::to_svg(story, graph::GraphOptions{});
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> files;
  html::HtmlOptions options;
  std::string output;
  bool graph = true;
  bool timed = false;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--start" && i + 1 < argc) {
      options.start = argv[++i];
    } else if (argument == "--most" && i + 1 < argc) {
      const std::string number = argv[++i];
      std::from_chars(number.data(), number.data() + number.size(), options.most_bytes);
    } else if (argument == "--time") {
      timed = true;
    } else if (argument == "--no-graph") {
      graph = false;
    } else if (output.empty()) {
      output = argument;
    } else {
      files.push_back(argument);
    }
  }
  std::vector<SnapshotRef> refs;
  for (const std::string& file : files) {
    Result<std::vector<Snapshot>> read = formats::read_file(file, formats::ReadOptions{});
    if (!read) return failed(std::move(read).error().about(file));
    for (Snapshot& snapshot : *read) refs.push_back({std::make_shared<const Snapshot>(std::move(snapshot)), file, ""});
  }
  if (refs.empty()) return 2;
  postmortem::Request request;
  request.title = std::string(base_name(refs.front().snapshot->facts.source.name));
  request.version = "snapdiff test";
  request.order_note = std::to_string(refs.size()) + " snapshots, in the order given";
  request.created_at_ns = 1'700'000'000'000'000'000;
  add_device_memory(refs, request);
  Result<Postmortem> report = postmortem::assemble(refs, std::move(request));
  if (!report) return failed(report.error());
  if (const Result<postmortem::Rules> rules = postmortem::built_in_rules())
    report->narrative = postmortem::tell(*report, *rules);
  if (graph) {
    Result<std::string> drawn = graph_of(*report);
    if (!drawn) return failed(drawn.error());
    options.graph_svg = *std::move(drawn);
  }
  const std::clock_t start = std::clock();
  const Result<std::string> page = html::to_html(*report, options);
  if (timed) std::cout << "to_html " << (std::clock() - start) * 1000 / CLOCKS_PER_SEC << " ms of CPU time\n";
  if (!page) return failed(page.error());
  std::ofstream(output, std::ios::binary) << *page;
  return 0;
}
