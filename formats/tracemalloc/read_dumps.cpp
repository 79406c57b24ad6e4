#include "formats/tracemalloc/read_dumps.hpp"

#include <utility>
#include <vector>

#include "formats/input/read_failure.hpp"
#include "formats/pickle/opcodes.hpp"
#include "formats/tracemalloc/dump_machine.hpp"

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

}  // namespace

void read_dumps(Input& in, SnapshotSink& out) {
  std::vector<Snapshot> snapshots;
  read_all(in, snapshots);
  for (Snapshot& snapshot : snapshots) value_or_throw(out.take(std::move(snapshot)));
}

}  // namespace snapdiff::formats::tracemalloc
