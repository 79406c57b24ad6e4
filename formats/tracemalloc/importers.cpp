#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/input/read_failure.hpp"
#include "formats/pickle/opcodes.hpp"
#include "formats/text/log_lines.hpp"
#include "formats/tracemalloc/dump_machine.hpp"
#include "formats/tracemalloc/read_lists.hpp"
#include "formats/tracemalloc/statistic_line.hpp"
#include "formats/tracemalloc/tracemalloc_importers.hpp"
#include "snapdiff/importer.hpp"

namespace snapdiff::formats::tracemalloc {
namespace {

void read_all(Input& in, std::vector<Snapshot>& snapshots) {
  ByteWindow bytes(in);
  const char* p = nullptr;
  for (;;) {
    const std::uint64_t begin = bytes.offset_of(p);
    TraceSums sums;
    DumpMachine machine(bytes, sums);
    try {
      machine.run(p);
    } catch (pickle::TruncatedPickle&) {
      if (snapshots.empty()) throw;
      snapshots.back().facts.notes.add(Severity::data_loss, "the input ends inside a further dump, which is left out",
                                       begin);
      return;
    }
    const std::uint64_t end = bytes.offset_of(p);
    snapshots.push_back(value_or_throw(sums.finish(machine.detail())));
    if (!bytes.ensure(p, 1)) return;
    if (static_cast<std::uint8_t>(*p) == pickle::kProto) continue;
    if (const std::uint64_t other = pickle::count_rest(bytes, p); other != 0)
      snapshots.back().facts.notes.add(Severity::warning, "bytes after the end of the pickle, ignored", end, other);
    return;
  }
}

/// One dump, or several one after the other. Throws ReadFailure.
void read_dumps(Input& in, SnapshotSink& out) {
  std::vector<Snapshot> snapshots;
  read_all(in, snapshots);
  for (Snapshot& snapshot : snapshots) value_or_throw(out.take(std::move(snapshot)));
}

Match sniff_dump(std::string_view head) {
  if (head.size() < 2 || head[0] != '\x80') return Match::no;
  return head.substr(0, 64).find("tracemalloc") != std::string_view::npos ? Match::certain : Match::no;
}

Match sniff_text(std::string_view head) {
  const std::string plain = text::plain_head(head);
  std::string_view rest = plain;
  std::string_view line;
  bool after_blocks = false;
  std::size_t ranked = 0;
  while (text::take_line(rest, line)) {
    const LineKind kind = parse_line(line).kind;
    if (kind == LineKind::statistic || kind == LineKind::difference) return Match::certain;
    if (kind == LineKind::frame && after_blocks) return Match::certain;
    // One such line alone may be anything.
    const bool ends_ranked = (kind == LineKind::rest || kind == LineKind::total) && ranked > 0;
    if (kind == LineKind::ranked) ++ranked;
    if (ranked > 1 || ends_ranked) return Match::certain;
    after_blocks = kind == LineKind::blocks;
  }
  return Match::no;
}

}  // namespace
}  // namespace snapdiff::formats::tracemalloc

namespace snapdiff::formats {
constexpr Format kTracemalloc{
    .info = {"tracemalloc", "Snapshot.dump() of Python's tracemalloc (a pickle; read, never executed)",
             "*.tracemalloc, *.pickle, *.dump", "single blocks: they are added up by stack and domain"},
    .sniff = tracemalloc::sniff_dump,
    .decode = [](Input& in, SnapshotSink& out, const ReadRequest&) { tracemalloc::read_dumps(in, out); }};

constexpr Format kTracemallocText{
    .info = {"tracemalloc-text", "printed statistics of Python's tracemalloc, also compare_to() and display_top",
             "*.txt, *.log", "averages, source lines, all other text"},
    .sniff = tracemalloc::sniff_text,
    .decode = [](Input& in, SnapshotSink& out, const ReadRequest&) { tracemalloc::read_lists(in, out); },
    .many = "distinct stacks"};

}  // namespace snapdiff::formats
