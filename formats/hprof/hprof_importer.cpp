#include "formats/hprof/hprof_importer.hpp"

#include "formats/hprof/read_hprof.hpp"
#include "formats/input/byte_window.hpp"
#include "formats/input/read_failure.hpp"

namespace snapdiff::formats {
constexpr Format kHprof{
    .info = {"hprof", "heap dump of a Java or Android virtual machine: objects and who holds them", "*.hprof",
             "values of fields and arrays; thread stacks; sizes are estimates"},
    .sniff =
        [](std::string_view head) { return head.substr(0, 17) == "JAVA PROFILE 1.0." ? Match::certain : Match::no; },
    .decode = [](Input& in, SnapshotSink& out, const ReadRequest&) { value_or_throw(hprof::read_hprof(in, out)); }};

}  // namespace snapdiff::formats
