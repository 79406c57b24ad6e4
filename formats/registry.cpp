#include "formats/registry.hpp"

#include "analyzer/base/nearest.hpp"
#include "analyzer/base/printable.hpp"
#include "formats/foreign_files.hpp"
#include "formats/input/all_formats.hpp"
#include "formats/input/archive.hpp"
#include "formats/input/file_name_facts.hpp"
#include "formats/input/open_input.hpp"
#include "formats/text/pattern_hint.hpp"

namespace snapdiff::formats {
namespace {

constexpr const Format* kFormats[] = {&kPprof,
                                      &kOtlp,
                                      &kGperftools,
                                      &kJemalloc,
                                      &kGoText,
                                      &kGoHeapDump,
                                      &kJavaHeapz,
                                      &kSymbolized,
                                      &kTorchCuda,
                                      &kTorchHtml,
                                      &kTorchJson,
                                      &kTorchTimeline,
                                      &kTorchProfile,
                                      &kTrackerLines,
                                      &kHeaptrack,
                                      &kHeaptrackPrint,
                                      &kMassif,
                                      &kMsPrint,
                                      &kDhat,
                                      &kTracemalloc,
                                      &kTracemallocText,
                                      &kMetricLog,
                                      &kMemcheck,
                                      &kLeakSanitizer,
                                      &kLeakListing,
                                      &kUmdh,
                                      &kJvmHistogram,
                                      &kObjgraphText,
                                      &kCountLines,
                                      &kGuppy,
                                      &kPympler,
                                      &kDotnetHeap,
                                      &kBccMemleak,
                                      &kJemallocStats,
                                      &kPostgresContexts,
                                      &kTensorflowBfc,
                                      &kMemray,
                                      &kMemrayCsv,
                                      &kMemrayGprof2dot,
                                      &kMemraySpeedscope,
                                      &kMemrayStats,
                                      &kMemrayHtml,
                                      &kV8,
                                      &kV8HeapProfile,
                                      &kFoldedStacks,
                                      &kPprofText,
                                      &kGoroutineDump,
                                      &kRubyHeap,
                                      &kJsc,
                                      &kScalene,
                                      &kHprof,
                                      &kJfr,
                                      &kObjgraphDot,
                                      &kMimallocStats,
                                      &kProcSmaps,
                                      &kProcMemory,
                                      &kKernelOom,
                                      &kAndroidMemory,
                                      &kProcessTable,
                                      &kPrometheus,
                                      &kErlangMemory,
                                      &kErlangCrashDump,
                                      &kNodeReport,
                                      &kGhcHeap,
                                      &kJvmNativeMemory,
                                      &kJvmMemoryState,
                                      &kJvmClassLoaders,
                                      &kMallocTotals,
                                      &kPythonMalloc,
                                      &kRustTotals};

/// The highest first: what costs most to sniff is asked only where no other is certain.
std::span<const Format* const> by_rank() {
  static const std::vector<const Format*> kSorted = [] {
    std::vector<const Format*> formats(std::begin(kFormats), std::end(kFormats));
    std::stable_sort(formats.begin(), formats.end(),
                     [](const Format* a, const Format* b) { return a->rank > b->rank; });
    return formats;
  }();
  return kSorted;
}

std::string names_of(std::span<const Format* const> formats) {
  std::string out;
  for (const Format* format : formats) out.append(out.empty() ? "" : ", ").append(format->info.name);
  return out;
}

std::string first_bytes(std::string_view head) {
  std::string out;
  for (const char byte : head.substr(0, 8)) append_hex(out.empty() ? out : out += ' ', byte);
  return out;
}

Error not_read(std::string_view head) {
  constexpr std::string_view kExpected = ", expected a heap profile (`snapdiff formats` lists what is read)";
  for (const Format* format : kFormats) {
    const std::string reason = format->refusal(head);
    if (!reason.empty()) return Error{ErrorCode::unsupported, reason};
  }
  const std::string kind = foreign_kind(head);
  if (is_vague(kind) && !is_json(kind) && text::is_source_code(head))
    return Error{ErrorCode::unsupported, "not a heap profile: this is source code" + std::string(kExpected)};
  if (is_vague(kind)) {
    std::string message = "not a heap profile: this is " + kind;
    const std::string shape = is_json(kind) ? text::keys_hint(head) : text::shape_hint(head);
    if (!shape.empty()) message += "; " + shape;
    if (!is_json(kind) || !shape.empty()) {
      const std::string pattern = text::pattern_hint(head);
      message += pattern.empty() ? "; --pattern REGEX reads the numbers of any text"
                                 : "; to read its numbers as a log: --pattern '" + pattern + "'";
    }
    return Error{ErrorCode::unsupported, message + std::string(kExpected)};
  }
  if (!kind.empty()) {
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
  if (const std::string compression = opened.compression(); !compression.empty())
    facts.format_detail += (facts.format_detail.empty() ? "" : ", ") + compression;
  if (!facts.pid) facts.pid = name.pid;
  if (!facts.sequence) facts.sequence = name.sequence;
  if (!facts.rank) facts.rank = name.rank;
}

Status read_body(const Format& format, Input& body, SnapshotSink& out, const ReadOptions& options) {
  if (!options.strict || options.violations) return format.read(body, out, options);
  ReadRequest strict = static_cast<const ReadRequest&>(options);
  strict.violations = [](const Violation& v) { return v.severity != Severity::data_loss; };
  return format.read(body, out, strict);
}

Result<std::vector<Snapshot>> import_all(OpenedInput& opened, const Format& format, const std::string& name,
                                         const ReadOptions& options) {
  Result<Input*> body = opened.body(!options.strict);
  if (!body) return std::move(body).error();
  SnapshotList list;
  if (Status read = read_body(format, **body, list, options); !read) {
    if (const std::optional<Error> cut = opened.cut()) return *cut;
    Error error = std::move(read).error();
    if (error.offset && !opened.compression().empty() && !opened.body_failed())
      error.message += " (offset in the bytes after " + opened.compression() + " decompression)";
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
    const bool numbered = !options.point.empty() && format.has_moments;
    complete(snapshot, opened, format.info, from_name,
             numbered ? std::nullopt : std::optional(static_cast<std::uint32_t>(i)));
    snapshot.facts.source = *source;
    snapshot.facts.notes.add_all(opened.notes());
  }
  return std::move(list.snapshots);
}

/// The format of an opened input. Foreign files are refused by their first bytes; only text is
/// looked at further.
Result<const Format*> choose(OpenedInput& input, const ReadOptions& options) {
  if (!options.format.empty()) return called(options.format);
  Result<const Format*> found = detect(input.head(), input.head_is_all());
  if (!options.patterns.empty()) {
    const bool is_other = found && (*found)->sniff(input.head()) == Match::certain;
    const bool may_be_log = found || is_vague(foreign_kind(input.head()));
    if (!is_other && may_be_log) return &kMetricLog;
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
  const Result<const Format*> format = choose(input, options);
  if (!format) return input.head_error() ? *input.head_error() : format.error();
  return import_all(input, **format, name, options);
}

InputOptions input_options(const ReadOptions& options) {
  InputOptions out;
  if (options.max_input_bytes != 0) out.max_input_bytes = options.max_input_bytes;
  out.progress = options.progress;
  out.hash = options.hash;
  return out;
}

/// Running out of memory is what the standard library may throw from anywhere; nothing else
/// should come, and nothing may leave this module.
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

std::span<const Format* const> all() { return kFormats; }

Result<const Format*> called(std::string_view name) {
  std::vector<std::string> names;
  for (const Format* format : kFormats) {
    if (format->info.name == name) return format;
    names.emplace_back(format->info.name);
  }
  return Error{ErrorCode::usage, "no format called '" + std::string(name) + "': expected one of " + names_of(kFormats) +
                                     did_you_mean(std::string(name), names)};
}

Result<const Format*> detect(std::string_view head, bool whole_input) {
  if (head.empty() && whole_input) return Error{ErrorCode::malformed, "empty input file"};
  if (const std::string kind = mistaken_kind(head); !kind.empty())
    return Error{ErrorCode::unsupported, "not a heap profile: this is " + kind};
  std::vector<const Format*> best;
  Match match = Match::possible;
  for (const Format* format : by_rank()) {
    if (match == Match::certain && format->rank < best.front()->rank) break;
    const Match found = format->sniff(head);
    if (found == Match::no || found < match) continue;
    if (found > match) best.clear();
    match = found;
    if (best.empty() || format->rank == best.front()->rank) best.push_back(format);
  }
  if (best.empty()) return not_read(head);
  if (best.size() == 1) return best.front();
  return Error{ErrorCode::incompatible, "several formats fit: " + names_of(best) + ", expected one (--format NAME)"};
}

bool reads_moments(std::string_view format) {
  const Result<const Format*> found = called(format);
  return found && (*found)->has_moments;
}

Result<std::vector<Snapshot>> read_file(const std::string& path, const ReadOptions& options) {
  if (const auto member = archive_member(path)) {
    const Result<std::shared_ptr<const Archive>> archive = Archive::open(member->first);
    if (!archive) return archive.error();
    const ArchiveMember* const found = (*archive)->find(member->second);
    if (found == nullptr) return Error{ErrorCode::io, "no such file in the archive", std::nullopt, path};
    return read_bytes(found->bytes, path, options);
  }
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
