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

Match sniff_heaptrack(std::string_view head) {
  constexpr std::string_view kModes = "sitaXIScRA+-#xm";
  const std::size_t end = head.find('\n');
  if (!is_version_line(head.substr(0, end))) return Match::no;
  if (end == std::string_view::npos || end + 1 == head.size()) return Match::possible;
  const std::string_view next = head.substr(end + 1);
  const bool known = kModes.find(next[0]) != std::string_view::npos;
  return known && (next.size() < 2 || next[1] == ' ' || next[1] == '\n' || next[0] == '#') ? Match::certain : Match::no;
}

void decode_heaptrack(Input& in, SnapshotSink& out, const ReadRequest& request) {
  const Moment moment = request.point.empty() ? Moment{} : value_or_throw(parse_moment(request.point));
  value_or_throw(EventReader(in, out, moment).read());
}

}  // namespace

constexpr Format kHeaptrack{
    .info = kInfo, .sniff = sniff_heaptrack, .decode = decode_heaptrack, .many = "traces", .has_moments = true};

}  // namespace snapdiff::formats
