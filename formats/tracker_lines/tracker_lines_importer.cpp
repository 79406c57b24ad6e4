#include "formats/tracker_lines/tracker_lines_importer.hpp"

#include "formats/tracker_lines/reader.hpp"
#include "formats/tracker_lines/sniff.hpp"

namespace snapdiff::formats {
namespace {

class TrackerLinesImporter final : public Importer {
 public:
  const FormatInfo& info() const override {
    static constexpr FormatInfo kInfo{
        "snapdiff-tracker",
        "JSON Lines of any tracker: rows, counters, objects; formats/tracker_lines says how to write it", "*.sdt.jsonl",
        "x_ keys and attrs of rows, frames, stacks, counters and objects; unknown keys"};
    return kInfo;
  }
  Match sniff(std::string_view head) const override { return tracker_lines::sniff(head); }
  std::string refusal(std::string_view head) const override { return tracker_lines::refusal(head); }
  Status read(Input& in, SnapshotSink& out) const override { return tracker_lines::read(in, out, {}); }
  Status read_checked(Input& in, SnapshotSink& out, const ViolationSink& tell) const override {
    return tracker_lines::read(in, out, tell);
  }
};

}  // namespace

std::unique_ptr<Importer> make_tracker_lines_importer() { return std::make_unique<TrackerLinesImporter>(); }

}  // namespace snapdiff::formats
