#include "formats/input/all_formats.hpp"
#include "formats/tracemalloc/dump_machine.hpp"

namespace snapdiff::formats {
namespace {

using namespace tracemalloc;

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

/// One dump, or several one after the other.
void decode_dumps(Input& in, SnapshotSink& out, const ReadRequest& /*request*/) {
  std::vector<Snapshot> snapshots;
  read_all(in, snapshots);
  for (Snapshot& snapshot : snapshots) give(out, std::move(snapshot));
}

Match sniff_dump(std::string_view head) {
  if (head.size() < 2 || head[0] != '\x80') return Match::no;
  return certain_if(head.substr(0, 64).find("tracemalloc") != std::string_view::npos);
}

}  // namespace

constexpr Format kTracemalloc{
    .info = {"tracemalloc", "Snapshot.dump() of Python's tracemalloc (a pickle; read, never executed)",
             "*.tracemalloc, *.pickle, *.dump", "single blocks: they are added up by stack and domain"},
    .sniff = sniff_dump,
    .decode = decode_dumps};

}  // namespace snapdiff::formats
