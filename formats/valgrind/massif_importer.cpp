#include "formats/input/read_failure.hpp"
#include "formats/valgrind/massif_reader.hpp"
#include "formats/valgrind/valgrind_importers.hpp"

namespace snapdiff::formats {
namespace {

using namespace valgrind;

constexpr FormatInfo kMassifInfo{"massif", "Valgrind massif output", "massif.out.*",
                                 "numbers of blocks and sites below the threshold, which massif does not write"};

/// Takes one line off `head`; false unless it starts so.
bool take_line(std::string_view& head, std::string_view start) {
  if (head.substr(0, start.size()) != start) return false;
  const std::size_t end = head.find('\n');
  head = end == std::string_view::npos ? std::string_view() : head.substr(end + 1);
  return true;
}

class MassifImporter final : public Importer {
 public:
  const FormatInfo& info() const override { return kMassifInfo; }

  Match sniff(std::string_view head) const override {
    if (!take_line(head, "desc:") || !take_line(head, "cmd:")) return Match::no;
    return take_line(head, "time_unit:") ? Match::certain : head.empty() ? Match::possible : Match::no;
  }

  Status read(Input& in, SnapshotSink& out) const override {
    return run_reader([&] { return MassifReader(in).read(out); }, "stacks");
  }
};

}  // namespace

std::unique_ptr<Importer> make_massif_importer() { return std::make_unique<MassifImporter>(); }

}  // namespace snapdiff::formats
