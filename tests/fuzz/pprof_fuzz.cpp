// profile.proto from memory and through a window: both must agree.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "analyzer/base/validate.hpp"
#include "formats/input/all_formats.hpp"
#include "formats/input/window_input.hpp"
#include "formats/pprof/profile_reader.hpp"
#include "fuzz/fuzz_targets.hpp"

namespace {

using namespace snapdiff;

struct Outcome {
  Status status = ok();
  SnapshotList list;
};

Outcome read(std::string_view bytes, const formats::pprof::ReadLimits& limits) {
  Outcome out;
  formats::MemoryInput in(bytes, "fuzz");
  out.status = formats::pprof::read_profile(in, out.list, limits);
  return out;
}

std::map<std::string, std::int64_t> totals(const Snapshot& snapshot) {
  std::map<std::string, std::int64_t> out;
  for (const Column& column : snapshot.samples.columns) {
    for (const std::int64_t value : column.value) out[column.type.name] += value;
  }
  return out;
}

}  // namespace

void snapdiff::test::fuzz_pprof(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  formats::kPprof.sniff(bytes.substr(0, kSniffBytes));
  formats::pprof::ReadLimits streaming;
  streaming.in_memory_bytes = 0;
  const Outcome whole = read(bytes, formats::pprof::ReadLimits{});
  const Outcome streamed = read(bytes, streaming);
  for (const Outcome* outcome : {&whole, &streamed}) {
    if (!outcome->status && outcome->status.error().code == ErrorCode::internal) __builtin_trap();
  }
  if (whole.status && streamed.status) {
    const Snapshot& a = whole.list.snapshots.at(0);
    const Snapshot& b = streamed.list.snapshots.at(0);
    if (a.samples.size() != b.samples.size() || totals(a) != totals(b) || !validate(a)) __builtin_trap();
  }
}
