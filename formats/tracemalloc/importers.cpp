#include "formats/tracemalloc/read_dumps.hpp"
#include "formats/tracemalloc/read_lists.hpp"
#include "formats/tracemalloc/sniff.hpp"
#include "formats/tracemalloc/tracemalloc_importers.hpp"

namespace snapdiff::formats {
namespace {

class DumpImporter final : public Importer {
 public:
  const FormatInfo& info() const override {
    static constexpr FormatInfo kInfo{
        "tracemalloc", "Snapshot.dump() of Python's tracemalloc (a pickle; read, never executed)",
        "*.tracemalloc, *.pickle, *.dump", "single blocks: they are added up by stack and domain"};
    return kInfo;
  }
  Match sniff(std::string_view head) const override { return tracemalloc::sniff_dump(head); }
  Status read(Input& in, SnapshotSink& out) const override { return tracemalloc::read_dumps(in, out); }
};

class TextImporter final : public Importer {
 public:
  const FormatInfo& info() const override {
    static constexpr FormatInfo kInfo{"tracemalloc-text",
                                      "printed statistics of Python's tracemalloc, also compare_to() and display_top",
                                      "*.txt, *.log", "averages, source lines, all other text"};
    return kInfo;
  }
  Match sniff(std::string_view head) const override { return tracemalloc::sniff_text(head); }
  Status read(Input& in, SnapshotSink& out) const override { return tracemalloc::read_lists(in, out); }
};

}  // namespace

std::unique_ptr<Importer> make_tracemalloc_importer() { return std::make_unique<DumpImporter>(); }
std::unique_ptr<Importer> make_tracemalloc_text_importer() { return std::make_unique<TextImporter>(); }

}  // namespace snapdiff::formats
