#pragma once

#include "formats/input/read_failure.hpp"
#include "formats/json/json_walk.hpp"
#include "formats/text/held_sink.hpp"

namespace snapdiff::formats::json {

/// Reads JSON values one by one. `Dump` is a Walk whose finish(held) hands on what one value says. Values in front of a
/// cut or damaged one are kept. Throws ReadFailure.
template <class Dump>
void read_dumps(Input& in, SnapshotSink& out) {
  text::HeldSink held(out);
  JsonScanner json(in);
  for (;;) {
    Dump dump;
    bool found = false;
    try {
      found = dump.read(json);
    } catch (const ReadFailure& failure) {
      if (held.empty() || failure.error.code != ErrorCode::malformed) throw;
      held.last().partial = true;
      held.last().notes.add(Severity::data_loss, "the input ends inside a dump, which was left out",
                            failure.error.offset);
    }
    if (!found) break;
    dump.finish(held);
  }
  held.flush();
}

}  // namespace snapdiff::formats::json
