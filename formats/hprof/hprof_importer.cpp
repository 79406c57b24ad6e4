#include "formats/hprof/hprof_importer.hpp"

#include "formats/hprof/read_hprof.hpp"
#include "formats/input/byte_window.hpp"
#include "formats/input/read_failure.hpp"

namespace snapdiff::formats {
namespace {

class HprofImporter final : public Importer {
 public:
  const FormatInfo& info() const override {
    static constexpr FormatInfo kInfo{"hprof",
                                      "heap dump of a Java or Android virtual machine: objects and who holds them",
                                      "*.hprof", "values of fields and arrays; thread stacks; sizes are estimates"};
    return kInfo;
  }
  Match sniff(std::string_view head) const override {
    return head.substr(0, 17) == "JAVA PROFILE 1.0." ? Match::certain : Match::no;
  }
  Status read(Input& in, SnapshotSink& out) const override {
    return run_reader([&] { return hprof::read_hprof(in, out); });
  }
};

}  // namespace

std::unique_ptr<Importer> make_hprof_importer() { return std::make_unique<HprofImporter>(); }

}  // namespace snapdiff::formats
