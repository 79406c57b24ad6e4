#include "formats/heap_text/dump.hpp"
#include "formats/input/all_formats.hpp"

namespace snapdiff::formats {
namespace {

using namespace heap_text;

constexpr FormatInfo kGperftoolsInfo{
    "gperftools", "gperftools/tcmalloc heap profile, text (also growth, fragmentation, old jemalloc)", "*.heap",
    "regions of the memory map that hold no code"};
constexpr FormatInfo kGoTextInfo{"go-text",
                                 "Go heap profile, text (debug=1); also goroutines, threads and own profiles", "*.txt",
                                 "numbers of runtime.MemStats beyond the heap's own; which frames were inlined"};
constexpr FormatInfo kJemallocInfo{"jemalloc", "jemalloc heap profile, heap_v2 text", "*.heap",
                                   "the split of each stack by thread; thread names"};
constexpr FormatInfo kSymbolizedInfo{"symbolized", "text heap profile with its symbols (pprof --raw)", "*.symbolized",
                                     "as the dump inside"};

/// A dump that its first line after the preamble identifies: the gperftools grammar or jemalloc's blocks.
template <Dump kDump>
Match sniff_dump(std::string_view head) {
  const Signature signature = identify(head);
  if (signature.dump != kDump) return Match::no;
  return signature.certain ? Match::certain : Match::possible;
}

template <Dump kDump>
void decode_dump(Input& in, SnapshotSink& out, const ReadRequest& /*request*/) {
  LineReader lines(in);
  DumpReader dump(lines);
  if (kDump == Dump::symbolized) read_symbol_section(dump);
  read_dump(dump, kDump);
  give(out, finish(dump));
}

template <Dump kDump>
constexpr Format dump_format(const FormatInfo& info, std::string (*refusal)(std::string_view) = no_refusal) {
  return {.info = info, .sniff = sniff_dump<kDump>, .decode = decode_dump<kDump>, .refusal = refusal};
}

}  // namespace

constexpr Format kGperftools = dump_format<Dump::gperftools>(kGperftoolsInfo, refused_relative);
constexpr Format kGoText = dump_format<Dump::go_text>(kGoTextInfo);
constexpr Format kJemalloc = dump_format<Dump::jemalloc>(kJemallocInfo, refused_jemalloc_log);
constexpr Format kSymbolized = dump_format<Dump::symbolized>(kSymbolizedInfo);

}  // namespace snapdiff::formats
