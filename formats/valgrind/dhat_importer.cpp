#include <algorithm>
#include <string>

#include "formats/input/read_failure.hpp"
#include "formats/valgrind/dhat_reader.hpp"
#include "formats/valgrind/valgrind_importers.hpp"

namespace snapdiff::formats {
namespace {

using namespace valgrind;

constexpr FormatInfo kInfo{"dhat", "DHAT heap profile (Valgrind, Rust's dhat), version 2", "dhat.out.*, dhat-heap.json",
                           "reads and writes of blocks, lifetimes"};

bool skip(std::string_view& head, std::string_view expected) {
  const std::size_t begin = std::min(head.find_first_not_of(" \t\r\n"), head.size());
  if (head.substr(begin, expected.size()) != expected) return false;
  head.remove_prefix(begin + expected.size());
  return true;
}

class DhatImporter final : public MomentImporter {
 public:
  const FormatInfo& info() const override { return kInfo; }

  Match sniff(std::string_view head) const override {
    return skip(head, "{") && skip(head, "\"dhatFileVersion\"") ? Match::certain : Match::no;
  }

  Status read(Input& in, SnapshotSink& out) const override { return read_state(in, out, false); }

  Status read_at(Input& in, SnapshotSink& out, const std::string& point) const override {
    const bool peak = point == "peak";
    if (!peak && point != "end" && point != "last") {
      return Error{ErrorCode::usage, "no point '" + point + "': expected end or peak"};
    }
    return read_state(in, out, peak);
  }

 private:
  static Status read_state(Input& in, SnapshotSink& out, bool at_peak) {
    return run_reader([&] { return out.take(value_or_throw(DhatReader(in).read(at_peak))); }, "stacks");
  }
};

}  // namespace

std::unique_ptr<MomentImporter> make_dhat_importer() { return std::make_unique<DhatImporter>(); }

}  // namespace snapdiff::formats
