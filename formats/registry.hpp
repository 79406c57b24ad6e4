#pragma once

#include "formats/input/format.hpp"

/// Which formats exist, and how a file becomes snapshots.
namespace snapdiff::formats {

/// Every format, in the order `snapdiff formats` lists them.
std::span<const Format* const> all();

/// Errors: usage, with the nearest name.
Result<const Format*> called(std::string_view name);

struct ReadOptions : ReadRequest {
  std::string format;                 ///< FormatInfo::name to force, "" to detect by content
  std::uint64_t max_input_bytes = 0;  ///< of decompressed bytes; 0 = 64 GiB
  /// Called now and then with (compressed bytes read so far, size of the file); may be empty.
  std::function<void(std::uint64_t, std::uint64_t)> progress;
  bool hash = true;     ///< false: SourceFacts::sha256 is not asked for
  bool strict = false;  ///< stop at the first thing that reading would drop, where the format can know it
};

/// Text of no kind that its first kSniffBytes show is looked at again to here: logs begin with other
/// things than their first metric line.
inline constexpr std::size_t kTextSniffBytes[] = {64 * 1024, 1024 * 1024};

/// The format of `head` (the first bytes of decompressed input): of those that are certain, else of those that are
/// possible, the one of the highest rank.
/// Errors: unsupported (unknown format; a refused relative, by name; an empty input is malformed),
/// incompatible (a tie: lists the candidates and names --format).
Result<const Format*> detect(std::string_view head, bool whole_input);

/// Whether files of this format hold more moments than are read unasked: ReadOptions::point chooses them, and
/// facts.position - 1 is then the number of the one read.
bool reads_moments(std::string_view format);

/// Reads a file ("-" is standard input) into its snapshots, oldest first, with facts.source,
/// facts.format, facts.position, and pid and sequence as far as the file name says them.
/// Errors: as detect() and Format::read(), io, limit; `subject` is `path`.
Result<std::vector<Snapshot>> read_file(const std::string& path, const ReadOptions& options);

/// The same for bytes in memory; `name` stands for the path.
Result<std::vector<Snapshot>> read_bytes(std::string_view bytes, const std::string& name, const ReadOptions& options);

/// The name of the series that a file of this name belongs to: "svc" for dumps/svc.0001.heap,
/// "heap" for heap.001.pb.gz; formats/input/file_name_facts.hpp has the patterns.
std::string series_stem(std::string_view path);

/// The number of the file within that series, as its name has it: 1 for dumps/svc.0001.heap.
std::optional<std::int64_t> series_number(std::string_view path);

}  // namespace snapdiff::formats
