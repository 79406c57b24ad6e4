#include "formats/registry.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <new>
#include <stdexcept>
#include <utility>

#include "formats/foreign_files.hpp"
#include "formats/heap_text/heap_text_importers.hpp"
#include "formats/hprof/hprof_importer.hpp"
#include "formats/input/file_name_facts.hpp"
#include "formats/input/open_input.hpp"
#include "formats/objgraph_dot/objgraph_dot_importer.hpp"
#include "formats/pprof/pprof_importer.hpp"
#include "formats/torch_cuda/torch_cuda_importers.hpp"
#include "formats/v8/v8_importer.hpp"

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
  for (const Importer* importer : importers()) {
    if (importer->info().name == name) return importer;
    all.push_back(importer);
  }
  return Error{ErrorCode::usage, "no format called " + name + ": expected one of " + names_of(all)};
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
              std::uint32_t position) {
  SnapshotFacts& facts = snapshot.facts;
  facts.format = format.name;
  facts.position = position;
  if (const std::string compression = opened.compression(); !compression.empty()) {
    facts.format_detail += (facts.format_detail.empty() ? "" : ", ") + compression;
  }
  if (!facts.pid) facts.pid = name.pid;
  if (!facts.sequence) facts.sequence = name.sequence;
  if (!facts.rank) facts.rank = name.rank;
}

Result<std::vector<Snapshot>> import_all(OpenedInput& opened, const Importer& importer, const std::string& name) {
  Result<Input*> body = opened.body();
  if (!body) return std::move(body).error();
  SnapshotList list;
  if (Status read = importer.read(**body, list); !read) {
    Error error = std::move(read).error();
    if (error.offset && !opened.compression().empty() && !opened.body_failed()) {
      error.message += " (offset in the bytes after " + opened.compression() + " decompression)";
    }
    return error;
  }
  if (list.snapshots.empty()) return Error{ErrorCode::malformed, "no snapshot in the input, expected at least one"};
  Result<SourceFacts> source = opened.finish();
  if (!source) return std::move(source).error();
  const FileNameFacts from_name = file_name_facts(name);
  for (std::size_t i = 0; i < list.snapshots.size(); ++i) {
    Snapshot& snapshot = list.snapshots[i];
    complete(snapshot, opened, importer.info(), from_name, static_cast<std::uint32_t>(i));
    snapshot.facts.source = *source;
    snapshot.facts.notes.add_all(opened.notes());
  }
  return std::move(list.snapshots);
}

Result<std::vector<Snapshot>> read_opened(Result<std::unique_ptr<OpenedInput>> opened, const std::string& name,
                                          const ReadOptions& options) {
  if (!opened) return std::move(opened).error();
  OpenedInput& input = **opened;
  Result<const Importer*> importer =
      options.format.empty() ? detect(input.head(), input.head_is_all()) : importer_called(options.format);
  if (!importer) return std::move(importer).error();
  return import_all(input, **importer, name);
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

Result<std::vector<Snapshot>> read_file(const std::string& path, const ReadOptions& options) {
  return guarded(path,
                 [&] { return read_opened(OpenedInput::open_path(path, input_options(options)), path, options); });
}

Result<std::vector<Snapshot>> read_bytes(std::string_view bytes, const std::string& name, const ReadOptions& options) {
  return guarded(
      name, [&] { return read_opened(OpenedInput::open_bytes(bytes, name, input_options(options)), name, options); });
}

std::string series_stem(std::string_view path) { return file_name_facts(path).stem; }

}  // namespace snapdiff::formats
