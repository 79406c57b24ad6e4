#include "formats/foreign_files.hpp"

#include "analyzer/base/contains.hpp"
#include "formats/input/all_formats.hpp"
#include "formats/input/cpu_profile.hpp"
#include "formats/text/log_lines.hpp"

namespace snapdiff::formats {
namespace {

struct Magic {
  std::string_view bytes;
  std::string_view kind;
};

using namespace std::string_view_literals;

constexpr std::string_view kUnknownJson = "JSON of an unknown kind";
constexpr std::string_view kUnknownText = "text of an unknown kind";

constexpr Magic kMagics[] = {
    {"\x89PNG\r\n\x1a\n"sv, "a PNG image"},
    {"\xff\xd8\xff"sv, "a JPEG image"},
    {"GIF8"sv, "a GIF image"},
    {"%PDF-"sv, "a PDF document"},
    {"\x7f"
     "ELF"sv,
     "an ELF binary or core dump"},
    {"MZ"sv, "a Windows program"},
    {"\xcf\xfa\xed\xfe"sv, "a Mach-O binary"},
    {"\xca\xfe\xba\xbe"sv, "a Java class or Mach-O binary"},
    {"SQLite format 3\0"sv, "an SQLite file; if it is a store, give it with --db"},
    {"PK\x03\x04"sv, "a zip archive; unpack it first"},
    {"PK\x05\x06"sv, "an empty zip archive"},
    {"BZh"sv, "bzip2-compressed; unpack it first"},
    {"7z\xbc\xaf\x27\x1c"sv, "a 7z archive; unpack it first"},
    {"JAVA PROFILE 1.0"sv, "a Java heap dump (hprof)"},
    {"PERFILE2"sv, "a perf.data file"},
    {"go1."sv, "a Go execution trace; give a heap profile (/debug/pprof/heap)"},
    {"go 1."sv, "a Go execution trace; give a heap profile (/debug/pprof/heap)"},
    {"heaptrack"sv, "a heaptrack recording"},
    {"desc: "sv, "a massif recording"},
    {"bplist00"sv, "an Apple property list (Xcode's .memgraph is one); no format of macOS is read"},
    {"MDMP"sv, "a minidump, which holds no allocation stacks; take a heap profile of the running program"},
    {"Nettrace"sv, "a .NET trace (.nettrace); `dotnet-gcdump collect` and `dotnet-gcdump report` make what is read"},
    {"version https://git-lfs.github.com/spec/"sv, "a Git LFS pointer, not the file itself; `git lfs pull` fetches it"},
    {"/annex/objects/"sv, "a git-annex pointer, not the file itself; `git annex get` fetches it"},
    {"<?xml"sv, "XML"},
    {"<!DOCTYPE"sv, "HTML"},
    {"<!doctype"sv, "HTML"},
    {"<html"sv, "HTML"},
    {"<svg"sv, "an SVG image"},
    {"digraph"sv, "a DOT graph"},
    {"#!"sv, "a script"},
    {"--- contention"sv, "a contention profile (locks, not memory)"},
    {"--- mutex:"sv, "a mutex profile (locks, not memory)"},
    {"--- threadz"sv, "a thread listing"},
    {"--- cpu"sv, "a CPU profile"},
    {"--- profile"sv, "a CPU profile"},
    {"mutex profile:"sv, "a mutex profile (locks, not memory)"},
    {"block profile:"sv, "a block profile (waiting, not memory)"},
};

/// A bracket begins many lines of logs: "[INFO] ", "[12:00:01] ". In JSON a value follows it, and a comma or the end
/// that.
bool begins_json(std::string_view head) {
  const auto next = [&](std::size_t at) { return std::min(head.find_first_not_of(" \t\r\n", at), head.size()); };
  std::size_t at = next(head.starts_with(text::kByteOrderMark) ? text::kByteOrderMark.size() : 0);
  if (at == head.size()) return false;
  const char open = head[at];
  at = next(at + 1);
  if (open != '{' && open != '[') return false;
  if (at == head.size()) return true;
  if (open == '{') return head[at] == '"' || head[at] == '}';
  if (contains("{[\"", head.substr(at, 1))) return true;
  const std::size_t end = std::min(head.find_first_not_of("-+.0123456789eEaflnrstu", at), head.size());
  const std::size_t behind = next(end);
  if (behind == head.size()) return end > at;
  if (head[behind] == ']') return next(behind + 1) == head.size();
  return end > at && head[behind] == ',';
}

std::string json_kind(std::string_view head) {
  if (!begins_json(head)) return {};
  const std::string_view start = head.substr(0, 512);
  const auto has = [&](std::string_view key) { return start.find(key) != std::string_view::npos; };
  if (has("\"snapshot\"") && has("\"meta\"")) return "a V8 heap snapshot (.heapsnapshot)";
  if (has("\"stack_traces\"") || has("\"thread_uid\"")) return "a jemalloc allocation log, not a snapshot of the heap";
  if (has("\"traceEvents\"")) return "a Chrome trace";
  if (has("\"$schema\"") && has("speedscope")) return "a speedscope profile";
  return std::string(kUnknownJson);
}

/// bytehound: blocks of LZ4, each after a byte for its kind and its length; the first one names the machine.
/// Source: bytehound's common/src/lz4_stream.rs and event.rs.
bool is_bytehound(std::string_view head) {
  constexpr std::size_t kBlockHead = 5, kLongestBlock = std::size_t{1} << 20;
  if (head.size() < 64 || head[0] != '\x01') return false;
  std::size_t length = 0;
  for (std::size_t i = kBlockHead - 1; i > 0; --i) length = length << 8 | static_cast<unsigned char>(head[i]);
  const std::string_view start = head.substr(kBlockHead, 1024);
  const auto has = [start](std::string_view word) { return start.find(word) != std::string_view::npos; };
  return length >= 32 && length < kLongestBlock && (has("x86_64") || has("aarch64") || has("mips64") || has("armv7"));
}

/// A length of the wire format at `at`, which moves after it; nothing where it is cut.
std::optional<std::size_t> take_length(std::string_view head, std::size_t& at) {
  std::size_t length = 0;
  for (int shift = 0; at < head.size() && shift <= 28; shift += 7) {
    const auto byte = static_cast<unsigned char>(head[at++]);
    length |= static_cast<std::size_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return length;
  }
  return std::nullopt;
}

/// A perfetto trace is a list of packets, each field 1 of the whole; field 1 of profile.proto begins with a type or a
/// unit, which no packet does. Source: perfetto's protos/perfetto/trace/trace.proto.
bool is_perfetto(std::string_view head) {
  constexpr int kLookedAt = 4;
  // A newline is the byte that a packet begins with: text is none.
  const auto is_text = [](char c) { return (c >= ' ' && c <= '~') || c == '\n' || c == '\r' || c == '\t'; };
  if (std::all_of(head.begin(), head.end(), is_text)) return false;
  std::size_t at = 0;
  for (int packet = 0; packet < kLookedAt; ++packet) {
    if (at >= head.size() || head[at] != '\x0a') return false;
    const std::optional<std::size_t> length = take_length(head, ++at);
    if (!length || *length == 0 || at >= head.size() || head[at] == '\x08' || head[at] == '\x10') return false;
    if (*length > head.size() - at) return packet > 0;
    at += *length;
  }
  return true;
}

/// Documents about memory: they hold numbers by category, at one moment, not over time.
struct Document {
  std::string_view words, more;
  std::string_view kind;
};
constexpr Document kDocuments[] = {
    {"A fatal error has been detected by the Java Runtime Environment", "",
     "a crash report of the JVM (hs_err); give a heap dump (-XX:+HeapDumpOnOutOfMemoryError)"},
    {"Applications Memory Usage", "Total PSS by process",
     "the output of Android's dumpsys meminfo for all processes; give that of one process (dumpsys meminfo PID)"},
    {"Total memory allocated:", "Peak memory usage:",
     "the output of memray stats; give the recording itself (.bin), or what memray stats --json writes"},
    {"Biggest 10 allocations:", "Peak memory size:", "the output of memray tree; give the recording itself (.bin)"},
    {"Allocation metadata", "Peak memory size:", "the output of memray tree; give the recording itself (.bin)"},
    {"HEADER magic=memray", "", "the output of memray parse; give the recording itself (.bin)"},
    {"<Total", "Location", "the table of memray summary; give the recording itself (.bin)"},
    {"\"recording\"", "\"jdk.", "the JSON of jfr print; give the recording itself (.jfr)"},
    {"jdk.", "Chunks:", "the output of jfr summary; give the recording itself (.jfr)"},
    {"\njdk.OldObjectSample {", "", "the output of jfr print; give the recording itself (.jfr)"},
    {"\njdk.ObjectAllocationSample {", "", "the output of jfr print; give the recording itself (.jfr)"},
    {"\njdk.GCHeapSummary {", "", "the output of jfr print; give the recording itself (.jfr)"},
    {"<GCHeapDump", "", "a heap dump of PerfView; `dotnet-gcdump report` of a .gcdump makes what is read"},
    {"<StackWindow", "", "a view of PerfView; `dotnet-gcdump report` of a .gcdump makes what is read"},
    {"\"symbol_name\"", "\"is_root\"",
     "a dump of php-meminfo, which is not read; log memory_get_usage(), whose lines are"},
    {"heap_graph {", "packet {", "a perfetto trace as text; `traceconv profile` makes of heapprofd's what is read"},
    {"profile_packet {", "packet {", "a perfetto trace as text; `traceconv profile` makes of heapprofd's what is read"},
    {"Analysis Tool:", "Virtual Memory Map",
     "the output of macOS vmmap: regions, no allocations; `leaks` and `malloc_history` tell who allocated"},
    {"==== Non-writable regions for", "",
     "the output of macOS vmmap: regions, no allocations; `leaks PID` tells who allocated"},
    {"COUNT", "CLASS_NAME",
     "the output of macOS heap: counts by class; give that of `leaks --list PID`, or take a heap profile"},
    {"MEMRAY REPORT", "Allocation results for",
     "the report of pytest-memray; give the recording (pytest --memray-bin-path)"},
    {"\nNamespace:", "\nContainers:", "the output of kubectl describe: limits and requests, nothing measured"},
};

bool is_tar(std::string_view head) { return head.size() >= 263 && head.substr(257, 5) == "ustar"; }

bool is_pickle(std::string_view head) { return head.size() >= 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5; }

/// .NET's gcdump and nettrace 1: the length of the name, then the name.
bool is_fast_serialization(std::string_view head) {
  return head.size() >= 23 && head.substr(4, 19) == "!FastSerialization.";
}

/// Julia's --track-allocation: a count or a dash in front of each line of a source. It counts what was allocated.
bool is_julia_allocations(std::string_view head) {
  constexpr std::size_t kLeastLines = 4;
  std::size_t lines = 0, dashes = 0;
  std::string_view line;
  while (text::take_line(head, line)) {
    if (head.empty()) break;  // it may be cut
    text::Cursor at(line);
    if (!at.skip_blanks()) return false;
    const std::string_view count = at.token();
    if (count != "-" && !text::whole_number(count)) return false;
    ++lines;
    dashes += count == "-" ? 1U : 0U;
  }
  return lines >= kLeastLines && dashes > 0 && dashes < lines;
}

}  // namespace

std::string foreign_kind(std::string_view head) {
  for (const Magic& magic : kMagics) {
    if (head.substr(0, magic.bytes.size()) == magic.bytes) return std::string(magic.kind);
  }
  if (is_cpu_profile(head)) return "a legacy CPU profile (time, not memory)";
  if (std::string json = json_kind(head); !json.empty()) return json;
  if (is_bytehound(head)) return "a bytehound recording; `bytehound server` shows it, heaptrack records what is read";
  if (head.starts_with("reading file \"") && head.find("please wait, this might take some time") != head.npos)
    return "the output of heaptrack_print without a list of stacks; give the recording (heaptrack.NAME.PID.zst)";
  if (is_tar(head)) return "a tar archive; unpack it first";
  if (is_pickle(head)) return "a Python pickle";
  if (is_fast_serialization(head)) return "a .NET gcdump or trace; `dotnet-gcdump report` makes of it what is read";
  if (head.find_first_not_of('\0') == std::string_view::npos && !head.empty()) return "nothing but zero bytes";
  if (text::is_text(head.substr(0, 1024), "\n\r\t\f\x1b")) return std::string(kUnknownText);
  return {};
}

std::string mistaken_kind(std::string_view head) {
  if (kOtlp.sniff(head) == Match::certain) return {};
  if (is_perfetto(head)) return "a perfetto trace; `traceconv profile` makes of heapprofd's what is read";
  const std::string_view start = head.substr(0, 4096);
  const auto has = [start](std::string_view words) { return start.find(words) != std::string_view::npos; };
  if (is_julia_allocations(start))
    return "what Julia allocated in each line (--track-allocation), not what is alive; "
           "`Profile.take_heap_snapshot()` writes what is read";
  for (const Document& document : kDocuments) {
    if (has(document.words) && (document.more.empty() || has(document.more))) return std::string(document.kind);
  }
  return {};
}

bool is_json(std::string_view kind) { return kind == kUnknownJson; }
bool is_vague(std::string_view kind) { return kind == kUnknownJson || kind == kUnknownText; }

}  // namespace snapdiff::formats
