#include "formats/pprof/pprof_importer.hpp"

#include "formats/pprof/profile_reader.hpp"
#include "formats/pprof/sniff_profile.hpp"

namespace snapdiff::formats {
constexpr Format kPprof{
    .info = {"pprof", "profile.proto of google/pprof: Go, Node.js, Rust, tcmalloc, and what pprof saves",
             "*.pb.gz, *.pb, *.pprof, *.prof",
             "flags of mappings and locations; number labels that are 0 without a unit"},
    .sniff = pprof::sniff_profile,
    .decode = [](Input& in, SnapshotSink& out, const ReadRequest&) {
      value_or_throw(pprof::read_profile(in, out, pprof::ReadLimits{}));
    }};

}  // namespace snapdiff::formats
