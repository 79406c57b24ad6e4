#include "formats/pprof/pprof_importer.hpp"

#include "formats/pprof/read_profile.hpp"
#include "formats/pprof/sniff.hpp"

namespace snapdiff::formats {
namespace {

class PprofImporter final : public Importer {
 public:
  const FormatInfo& info() const override {
    static constexpr FormatInfo kInfo{
        "pprof", "profile.proto of google/pprof: Go, Node.js, Rust, tcmalloc, and what pprof saves",
        "*.pb.gz, *.pb, *.pprof, *.prof", "flags of mappings and locations; number labels that are 0 without a unit"};
    return kInfo;
  }
  Match sniff(std::string_view head) const override { return pprof::sniff_profile(head); }
  Status read(Input& in, SnapshotSink& out) const override { return pprof::read_profile(in, out, pprof::ReadLimits{}); }
};

}  // namespace

std::unique_ptr<Importer> make_pprof_importer() { return std::make_unique<PprofImporter>(); }

}  // namespace snapdiff::formats
