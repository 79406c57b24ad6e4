#include "formats/registry.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>

#include "formats/bcc/bcc_importer.hpp"
#include "formats/foreign_files.hpp"
#include "formats/heap_text/heap_text_importers.hpp"
#include "formats/heaptrack/heaptrack_importer.hpp"
#include "formats/hprof/hprof_importer.hpp"
#include "formats/input/file_name_facts.hpp"
#include "formats/input/moment_importer.hpp"
#include "formats/input/open_input.hpp"
#include "formats/jemalloc_stats/jemalloc_stats_importer.hpp"
#include "formats/leak_reports/leak_report_importers.hpp"
#include "formats/memray/memray_importers.hpp"
#include "formats/metric_log/metric_log_importer.hpp"
#include "formats/objgraph_dot/objgraph_dot_importer.hpp"
#include "formats/pprof/pprof_importer.hpp"
#include "formats/tensorflow_bfc/tensorflow_bfc_importer.hpp"
#include "formats/torch_cuda/torch_cuda_importers.hpp"
#include "formats/tracemalloc/tracemalloc_importers.hpp"
#include "formats/tracker_lines/tracker_lines_importer.hpp"
#include "formats/type_counts/type_count_importers.hpp"
#include "formats/v8/v8_importer.hpp"
#include "formats/valgrind/valgrind_importers.hpp"
#include "snapdiff/nearest.hpp"

namespace snapdiff::formats {
namespace {

struct Registered {
  std::vector<std::unique_ptr<Importer>> owned;
  std::vector<const Importer*> listed;
};

Registered make_importers() {
  Registered all;
  all.owned.push_back(make_pprof_importer());
  all.owned.push_back(make_gperftools_importer());
  all.owned.push_back(make_jemalloc_importer());
  all.owned.push_back(make_go_text_importer());
  all.owned.push_back(make_java_heapz_importer());
  all.owned.push_back(make_symbolized_importer());
  all.owned.push_back(make_torch_cuda_importer());
  all.owned.push_back(make_torch_cuda_html_importer());
  all.owned.push_back(make_torch_cuda_json_importer());
  all.owned.push_back(make_torch_timeline_importer());
  all.owned.push_back(make_tracker_lines_importer());
  all.owned.push_back(make_heaptrack_importer());
  all.owned.push_back(make_massif_importer());
  all.owned.push_back(make_dhat_importer());
  all.owned.push_back(make_tracemalloc_importer());
  all.owned.push_back(make_tracemalloc_text_importer());
  all.owned.push_back(make_metric_log_importer());
  all.owned.push_back(make_memcheck_importer());
  all.owned.push_back(make_leak_sanitizer_importer());
  all.owned.push_back(make_jvm_histogram_importer());
  all.owned.push_back(make_objgraph_text_importer());
  all.owned.push_back(make_dotnet_heap_importer());
  all.owned.push_back(make_bcc_memleak_importer());
  all.owned.push_back(make_jemalloc_stats_importer());
  all.owned.push_back(make_tensorflow_bfc_importer());
  all.owned.push_back(make_memray_csv_importer());
  all.owned.push_back(make_memray_gprof2dot_importer());
  all.owned.push_back(make_memray_speedscope_importer());
  all.owned.push_back(make_memray_stats_importer());
  all.owned.push_back(make_v8_importer());
  all.owned.push_back(make_hprof_importer());
  all.owned.push_back(make_objgraph_dot_importer());
  for (const auto& importer : all.owned) all.listed.push_back(importer.get());
  return all;
}

std::string names_of(const std::vector<const Importer*>& importers_named) {
  std::string out;
  for (const Importer* importer : importers_named) out.append(out.empty() ? "" : ", ").append(importer->info().name);
  return out;
}

Result<const Importer*> importer_called(const std::string& name) {
  std::vector<const Importer*> all;
  std::vector<std::string> names;
  for (const Importer* importer : importers()) {
    if (importer->info().name == name) return importer;
    all.push_back(importer);
    names.emplace_back(importer->info().name);
  }
  return Error{ErrorCode::usage,
               "no format called '" + name + "': expected one of " + names_of(all) + did_you_mean(name, names)};
}

std::string first_bytes(std::string_view head) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out;
  for (const char c : head.substr(0, 8)) {
    const auto byte = static_cast<unsigned char>(c);
    if (!out.empty()) out += ' ';
    out += kHex[byte >> 4];
    out += kHex[byte & 15];
  }
  return out;
}

Error not_read(std::string_view head) {
  constexpr std::string_view kExpected = ", expected a heap profile (`snapdiff formats` lists what is read)";
  for (const Importer* importer : importers()) {
    const std::string reason = importer->refusal(head);
    if (!reason.empty()) return Error{ErrorCode::unsupported, reason};
  }
  if (const std::string kind = foreign_kind(head); !kind.empty()) {
    return Error{ErrorCode::unsupported, "not a heap profile: this is " + kind + std::string(kExpected)};
  }
  return Error{ErrorCode::unsupported, "unknown format: first bytes " + first_bytes(head) + std::string(kExpected)};
}

/// Completes the facts of what an importer made.
void complete(Snapshot& snapshot, const OpenedInput& opened, const FormatInfo& format, const FileNameFacts& name,
              std::optional<std::uint32_t> position) {
  SnapshotFacts& facts = snapshot.facts;
  facts.format = format.name;
  if (position) facts.position = *position;
  if (const std::string compression = opened.compression(); !compression.empty()) {
    facts.format_detail += (facts.format_detail.empty() ? "" : ", ") + compression;
  }
  if (!facts.pid) facts.pid = name.pid;
  if (!facts.sequence) facts.sequence = name.sequence;
  if (!facts.rank) facts.rank = name.rank;
}

Status read_body(const Importer& importer, Input& body, SnapshotSink& out, const ReadOptions& options) {
  const auto* moments = options.point.empty() ? nullptr : dynamic_cast<const MomentImporter*>(&importer);
  if (moments != nullptr) return moments->read_at(body, out, options.point);
  if (options.violations) return importer.read_checked(body, out, options.violations);
  if (!options.strict) return importer.read(body, out);
  return importer.read_checked(body, out, [](const Violation& v) { return v.severity != Severity::data_loss; });
}

Result<std::vector<Snapshot>> import_all(OpenedInput& opened, const Importer& importer, const std::string& name,
                                         const ReadOptions& options) {
  Result<Input*> body = opened.body(!options.strict);
  if (!body) return std::move(body).error();
  SnapshotList list;
  if (Status read = read_body(importer, **body, list, options); !read) {
    if (const std::optional<Error> cut = opened.cut()) return *cut;
    Error error = std::move(read).error();
    if (error.offset && !opened.compression().empty() && !opened.body_failed()) {
      error.message += " (offset in the bytes after " + opened.compression() + " decompression)";
    }
    return error;
  }
  if (const std::optional<Error> cut = opened.cut()) {
    if (list.snapshots.empty()) return *cut;
    SnapshotFacts& last = list.snapshots.back().facts;
    if (!last.partial) last.notes.add(Severity::data_loss, cut->message);
    last.partial = true;
  }
  if (list.snapshots.empty()) return Error{ErrorCode::malformed, "no snapshot in the input, expected at least one"};
  Result<SourceFacts> source = opened.finish();
  if (!source) return std::move(source).error();
  const FileNameFacts from_name = file_name_facts(name);
  for (std::size_t i = 0; i < list.snapshots.size(); ++i) {
    Snapshot& snapshot = list.snapshots[i];
    const bool numbered = !options.point.empty() && reads_moments(importer.info().name);
    complete(snapshot, opened, importer.info(), from_name,
             numbered ? std::nullopt : std::optional(static_cast<std::uint32_t>(i)));
    snapshot.facts.source = *source;
    snapshot.facts.notes.add_all(opened.notes());
  }
  return std::move(list.snapshots);
}

bool is_certain(const Importer& importer, std::string_view head) { return importer.sniff(head) == Match::certain; }

/// The importer for an opened input. Foreign files are refused by their first bytes; only text is
/// looked at further.
Result<const Importer*> choose_importer(OpenedInput& input, const ReadOptions& options) {
  if (!options.format.empty()) return importer_called(options.format);
  Result<const Importer*> found = detect(input.head(), input.head_is_all());
  if (!options.patterns.empty()) {
    const bool is_other = found && is_certain(**found, input.head());
    const bool may_be_log = found || is_vague(foreign_kind(input.head()));
    if (!is_other && may_be_log) return importer_called(std::string(kMetricLogName));
  }
  for (const std::size_t bytes : kTextSniffBytes) {
    if (found || input.head_is_all() || found.error().code != ErrorCode::unsupported ||
        !is_vague(foreign_kind(input.head())))
      break;
    if (Status looked = input.look_further(bytes); !looked) return std::move(looked).error();
    found = detect(input.head(), input.head_is_all());
  }
  return found;
}

Result<std::vector<Snapshot>> read_opened(Result<std::unique_ptr<OpenedInput>> opened, const std::string& name,
                                          const ReadOptions& options) {
  if (!opened) return std::move(opened).error();
  OpenedInput& input = **opened;
  Result<const Importer*> importer = choose_importer(input, options);
  if (!importer) return input.head_error() ? *input.head_error() : std::move(importer).error();
  if ((*importer)->info().name != kMetricLogName) return import_all(input, **importer, name, options);
  Result<std::unique_ptr<Importer>> log =
      make_metric_log_importer({options.patterns, options.group_by, options.decimal_units});
  if (!log) return std::move(log).error();
  return import_all(input, **log, name, options);
}

InputOptions input_options(const ReadOptions& options) {
  InputOptions out;
  if (options.max_input_bytes != 0) out.max_input_bytes = options.max_input_bytes;
  out.progress = options.progress;
  return out;
}

/// Running out of memory is what the standard library may throw from anywhere; nothing else
/// should come, and nothing may leave this room.
template <class Read>
Result<std::vector<Snapshot>> guarded(const std::string& name, Read read) {
  try {
    Result<std::vector<Snapshot>> out = read();
    if (!out) return std::move(out).error().about(name);
    return out;
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::limit, "not enough memory to read this input"}.about(name);
  } catch (const std::length_error&) {
    return Error{ErrorCode::limit, "a table outgrew what this machine can address"}.about(name);
  } catch (const std::exception& error) {
    return Error{ErrorCode::internal, std::string("reading failed: ") + error.what()}.about(name);
  }
}

}  // namespace

std::span<const Importer* const> importers() {
  static const Registered all = make_importers();
  return all.listed;
}

Result<const Importer*> detect(std::string_view head, bool whole_input) {
  if (head.empty() && whole_input) return Error{ErrorCode::malformed, "empty input file"};
  if (const std::string kind = mistaken_kind(head); !kind.empty())
    return Error{ErrorCode::unsupported, "not a heap profile: this is " + kind};
  std::vector<const Importer*> certain;
  std::vector<const Importer*> possible;
  for (const Importer* importer : importers()) {
    const Match match = importer->sniff(head);
    if (match == Match::certain) certain.push_back(importer);
    if (match == Match::possible) possible.push_back(importer);
  }
  const std::vector<const Importer*>& candidates = certain.empty() ? possible : certain;
  if (candidates.empty()) return not_read(head);
  if (candidates.size() == 1) return candidates.front();
  return Error{ErrorCode::incompatible,
               "several formats fit: " + names_of(candidates) + ", expected one (--format NAME)"};
}

bool reads_moments(std::string_view format) {
  for (const Importer* importer : importers()) {
    if (importer->info().name == format) return dynamic_cast<const MomentImporter*>(importer) != nullptr;
  }
  return false;
}

Result<std::vector<Snapshot>> read_file(const std::string& path, const ReadOptions& options) {
  return guarded(path,
                 [&] { return read_opened(OpenedInput::open_path(path, input_options(options)), path, options); });
}

Result<std::vector<Snapshot>> read_bytes(std::string_view bytes, const std::string& name, const ReadOptions& options) {
  return guarded(
      name, [&] { return read_opened(OpenedInput::open_bytes(bytes, name, input_options(options)), name, options); });
}

std::string series_stem(std::string_view path) { return file_name_facts(path).stem; }

std::optional<std::int64_t> series_number(std::string_view path) { return file_name_facts(path).sequence; }

}  // namespace snapdiff::formats
