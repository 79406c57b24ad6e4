#include "formats/heap_text/dump.hpp"
#include "formats/heap_text/heap_text_importers.hpp"
#include "formats/heap_text/symbol_section.hpp"
#include "formats/input/read_failure.hpp"

namespace snapdiff::formats {
namespace {

using namespace heap_text;

constexpr FormatInfo kGperftools{"gperftools",
                                 "gperftools/tcmalloc heap profile, text (also growth, fragmentation, old jemalloc)",
                                 "*.heap", "regions of the memory map that hold no code"};
constexpr FormatInfo kGoText{"go-text", "Go heap profile, text (debug=1)", "*.txt",
                             "numbers of runtime.MemStats beyond the heap's own; which frames were inlined"};
constexpr FormatInfo kJemalloc{"jemalloc", "jemalloc heap profile, heap_v2 text", "*.heap",
                               "the split of each stack by thread; thread names"};
constexpr FormatInfo kSymbolized{"symbolized", "text heap profile with its symbols (pprof --raw)", "*.symbolized",
                                 "as the dump inside"};

/// A dump that its first line after the preamble tells: the gperftools grammar or jemalloc's blocks.
class DumpImporter : public Importer {
 public:
  DumpImporter(const FormatInfo& info, Dump dump) : info_(info), dump_(dump) {}

  const FormatInfo& info() const override { return info_; }

  Match sniff(std::string_view head) const override {
    const Signature signature = identify(head);
    if (signature.dump != dump_) return Match::no;
    return signature.certain ? Match::certain : Match::possible;
  }

  std::string refusal(std::string_view head) const override {
    if (dump_ == Dump::gperftools) return refused_relative(head);
    if (dump_ == Dump::jemalloc) return refused_jemalloc_log(head);
    return {};
  }

  Status read(Input& in, SnapshotSink& out) const override {
    return run_reader(
        [&]() -> Status {
          LineReader lines(in);
          DumpReader dump(lines);
          if (dump_ == Dump::symbolized) read_symbol_section(dump);
          read_dump(dump, dump_);
          return out.take(finish(dump));
        },
        "distinct stacks");
  }

 private:
  const FormatInfo& info_;
  Dump dump_;
};

}  // namespace

std::unique_ptr<Importer> make_gperftools_importer() {
  return std::make_unique<DumpImporter>(kGperftools, Dump::gperftools);
}
std::unique_ptr<Importer> make_go_text_importer() { return std::make_unique<DumpImporter>(kGoText, Dump::go_text); }
std::unique_ptr<Importer> make_jemalloc_importer() { return std::make_unique<DumpImporter>(kJemalloc, Dump::jemalloc); }
std::unique_ptr<Importer> make_symbolized_importer() {
  return std::make_unique<DumpImporter>(kSymbolized, Dump::symbolized);
}

}  // namespace snapdiff::formats
