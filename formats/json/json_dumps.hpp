#pragma once

#include "formats/json/json_walk.hpp"
#include "formats/text/held_sink.hpp"

namespace snapdiff::formats::json {

/// Reads JSON values one by one. `Dump` is a Walk whose finish(held) hands on what one value says. Values in front of a
/// cut or damaged one are kept. Throws Failure.
template <class Dump>
void read_dumps(Input& in, SnapshotSink& out) {
  text::HeldSink held(out);
  JsonScanner json(in);
  for (;;) {
    Dump dump;
    bool found = false;
    try {
      found = dump.read(json);
    } catch (const Failure& failure) {
      if (held.empty() || failure.error.code != ErrorCode::malformed) throw;
      held.last().lose("the input ends inside a dump, which was left out", failure.error.offset);
    }
    if (!found) break;
    dump.finish(held);
  }
  held.flush();
}

/// decode() of a format that is written as JSON objects or as text.
template <void (*kReadJson)(Input&, SnapshotSink&), void (*kReadText)(Input&, SnapshotSink&)>
void read_json_or_text(Input& in, SnapshotSink& out, const ReadRequest& /*request*/) {
  text::begins_with(value_or_throw(in.peek(kSniffBytes)), {"{"}) ? kReadJson(in, out) : kReadText(in, out);
}

}  // namespace snapdiff::formats::json
