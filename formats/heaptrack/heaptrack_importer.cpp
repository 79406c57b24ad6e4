#include "formats/heaptrack/heaptrack_importer.hpp"

#include "formats/heaptrack/event_reader.hpp"
#include "formats/heaptrack/record_fields.hpp"
#include "formats/input/read_failure.hpp"

namespace snapdiff::formats {
namespace {

using namespace heaptrack;

constexpr FormatInfo kInfo{"heaptrack", "heaptrack recording (interpreted), file versions 0 to 3",
                           "heaptrack.*.zst, heaptrack.*.gz",
                           "single events; addresses of frames, which differ from run to run"};

/// "v 10400 3", and nothing else.
bool is_version_line(std::string_view line) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  if (line.size() < 3 || line.substr(0, 2) != "v ") return false;
  Fields fields(line.substr(2));
  std::uint64_t number = 0;
  if (!fields.number(number)) return false;
  return fields.at_end() || (fields.number(number) && fields.at_end());
}

Status read_until(Input& in, SnapshotSink& out, Moment moment) {
  return run_reader([&] { return EventReader(in, out, moment).read(); }, "traces");
}

class HeaptrackImporter final : public MomentImporter {
 public:
  const FormatInfo& info() const override { return kInfo; }

  Match sniff(std::string_view head) const override {
    constexpr std::string_view kModes = "sitaXIScRA+-#xm";
    const std::size_t end = head.find('\n');
    if (!is_version_line(head.substr(0, end))) return Match::no;
    if (end == std::string_view::npos || end + 1 == head.size()) return Match::possible;
    const std::string_view next = head.substr(end + 1);
    const bool known = kModes.find(next[0]) != std::string_view::npos;
    return known && (next.size() < 2 || next[1] == ' ' || next[1] == '\n' || next[0] == '#') ? Match::certain
                                                                                             : Match::no;
  }

  Status read(Input& in, SnapshotSink& out) const override { return read_until(in, out, {}); }

  Status read_at(Input& in, SnapshotSink& out, const std::string& point) const override {
    const Result<Moment> moment = parse_moment(point);
    if (!moment) return moment.error();
    return read_until(in, out, *moment);
  }
};

}  // namespace

std::unique_ptr<MomentImporter> make_heaptrack_importer() { return std::make_unique<HeaptrackImporter>(); }

}  // namespace snapdiff::formats
