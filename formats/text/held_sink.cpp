#include "formats/text/held_sink.hpp"

#include <utility>

#include "formats/input/read_failure.hpp"

namespace snapdiff::formats::text {

void HeldSink::take(Snapshot snapshot) {
  flush();
  held_ = std::move(snapshot);
  ++taken_;
}

void HeldSink::take(Result<Snapshot> snapshot) {
  if (!snapshot) throw ReadFailure{std::move(snapshot).error()};
  take(std::move(snapshot).value());
}

void HeldSink::flush() {
  if (!held_) return;
  Status status = out_.take(std::move(*held_));
  held_.reset();
  if (!status) throw ReadFailure{std::move(status).error()};
}

}  // namespace snapdiff::formats::text
