#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/compare.hpp"
#include "analyzer/cli/document.hpp"
#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/cli/memory_story.hpp"
#include "analyzer/cli/output_file.hpp"
#include "analyzer/cli/pins.hpp"
#include "analyzer/cli/recording.hpp"
#include "analyzer/cuda/cuda.hpp"
#include "analyzer/diff/diff.hpp"
#include "analyzer/postmortem/postmortem.hpp"

namespace snapdiff::cli {
namespace {

struct Wanted {
  std::string folder = "postmortem";
  std::optional<std::int64_t> limit;
};

/// The last allocation that failed in a snapshot's busiest trace.
Result<std::optional<OutOfMemory>> failure_of(const Snapshot& snapshot) {
  if (snapshot.allocator == nullptr) return std::optional<OutOfMemory>();
  const std::optional<cuda::TraceRef> trace = cuda::busiest_trace(snapshot);
  if (!trace) return std::optional<OutOfMemory>();
  return cuda::out_of_memory(snapshot, *trace);
}

/// What is known of the memory of CUDA devices: the last failure, and who pins segments at the end.
Status add_device_memory(const std::vector<SnapshotRef>& refs, const DiffOptions& view, postmortem::Request& request) {
  for (std::size_t i = refs.size(); i-- > 0 && !request.failure;) {
    Result<std::optional<OutOfMemory>> failure = failure_of(*refs[i].snapshot);
    if (!failure) return std::move(failure).error();
    request.failure = *std::move(failure);
  }
  const Snapshot& last = *refs.back().snapshot;
  if (last.allocator == nullptr || !last.allocator->has_segments || last.column("pinned_space") == nullptr) return ok();
  const bool first_too = refs.front().snapshot->column("pinned_space") != nullptr;
  Result<PinReport> pins = make_pins(first_too ? refs.front() : SnapshotRef{}, refs.back(), view);
  if (!pins) return std::move(pins).error();
  request.pins = *std::move(pins);
  return ok();
}

Result<Postmortem> find_out(const Compared& compared, const Wanted& wanted) {
  const std::vector<SnapshotRef> refs = compared.loaded.refs();
  postmortem::Request request;
  request.view = compared.options;
  request.limit = wanted.limit;
  request.title = title_of(compared.loaded);
  request.version = "snapdiff " SNAPDIFF_VERSION;
  request.order_note = order_of(compared.loaded);
  request.created_at_ns = document_time_ns(compared.loaded);
  request.notes = compared.loaded.notes;
  if (Status added = add_device_memory(refs, compared.options, request); !added) return std::move(added).error();
  return postmortem::assemble(refs, std::move(request));
}

}  // namespace

int run_postmortem(const Arguments& arguments) {
  Options options;
  std::string limit_text;
  Wanted wanted;
  auto app = make_command_app("The report of a series: PDF, one HTML page, Markdown, JSON, and the store.",
                              "postmortem [OPERAND OPERAND...] [-o DIR]\n\n"
                              "  without operands: the newest series in the store",
                              {"snapdiff postmortem heaps/ -o incident-4711"});
  add_options(*app, options, kTakesOperands | kTakesView | kReadsFiles | kTakesSymbols);
  app->add_option("-o,--output", wanted.folder, "folder of the report (postmortem)")->type_name("DIR");
  app->add_option("--limit", limit_text, "say when the total will reach this")->type_name("SIZE");
  if (const auto code = parse_arguments(*app, options, arguments)) return *code;
  if (!limit_text.empty()) {
    const Result<std::int64_t> size = parse_size(limit_text);
    if (!size) return fail(size.error());
    wanted.limit = *size;
  }

  const Terminal terminal = look_at_terminal(options.no_color);
  const Result<Compared> compared = load_compared(options, terminal, Fallback::newest_series, store::Parts::allocator);
  if (!compared) return fail(compared.error());
  const Result<Postmortem> found = find_out(*compared, wanted);
  if (!found) return fail(found.error());
  std::error_code failure;
  std::filesystem::create_directories(wanted.folder, failure);
  if (failure)
    return fail({ErrorCode::io, "cannot make the folder: " + failure.message(), std::nullopt, wanted.folder});
  return tell_notes(compared->loaded, options);
}

}  // namespace snapdiff::cli
