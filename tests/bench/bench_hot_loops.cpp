// Google Benchmark for the loops that the main job's time goes into, each through its public header.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/base/snapshot_builder.hpp"
#include "analyzer/diff/diff.hpp"
#include "formats/registry.hpp"
#include "snapdiff/hash.hpp"
#include "synthetic_heap.hpp"
#ifdef SNAPDIFF_BENCH_STORE
#include "analyzer/store/store.hpp"
#endif

namespace {

using namespace snapdiff;

constexpr std::uint32_t kStacks = 50'000;
constexpr std::uint32_t kDepth = 30;
constexpr std::uint32_t kFunctions = 10'000;

/// Both states of one heap, ten of a hundred stacks changed and one replaced.
struct HeapPair {
  bench::Program program{kFunctions, 1};
  bench::Heap heap{program, kStacks, kDepth, 2};
  std::string proto[2];
  std::string text[2];
  HeapPair() {
    for (int i = 0; i < 2; ++i) {
      if (i != 0) heap.step(1000, 100);
      proto[i] = bench::profile_proto(program, heap.buckets(), 1'700'000'000'000'000'000 + i * 60'000'000'000);
      text[i] = bench::jemalloc_text(program, heap.buckets());
    }
  }
};

const HeapPair& heap_pair() {
  static const HeapPair pair;
  return pair;
}

Snapshot read(const std::string& bytes) {
  auto snapshots = formats::read_bytes(bytes, "bench", {});
  if (!snapshots || snapshots->size() != 1) std::abort();  // the generator makes what the readers read
  return std::move(snapshots->front());
}

void rate(benchmark::State& state, std::size_t bytes) {
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes) * state.iterations());
  state.SetItemsProcessed(std::int64_t{kStacks} * state.iterations());
}

void hash_function_names(benchmark::State& state) {
  std::vector<std::string> names;
  std::size_t bytes = 0;
  for (std::uint32_t f = 0; f < kFunctions; ++f) bytes += names.emplace_back(bench::Program::function_name(f)).size();
  for (auto _ : state) {
    for (const std::string& name : names) benchmark::DoNotOptimize(hash_bytes(name));
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes) * state.iterations());
}
BENCHMARK(hash_function_names)->Unit(benchmark::kMicrosecond);

/// Frames of whole stacks are known already; the stacks are hashed and interned.
void intern_stacks(benchmark::State& state) {
  const HeapPair& pair = heap_pair();
  std::size_t frames = 0;
  for (auto _ : state) {
    SnapshotBuilder builder;
    std::vector<FrameId> id(pair.program.sites.size());
    for (std::uint32_t i = 0; i < id.size(); ++i) {
      SnapshotBuilder::FrameSpec spec;
      spec.offset = pair.program.sites[i].address;
      id[i] = builder.frame(spec);
    }
    std::vector<FrameId> stack;
    frames = 0;
    for (const bench::Bucket& bucket : pair.heap.buckets()) {
      stack.clear();
      for (const std::uint32_t site : bucket.stack) stack.push_back(id[site]);
      frames += stack.size();
      benchmark::DoNotOptimize(builder.stack(stack));
    }
  }
  rate(state, frames * sizeof(FrameId));
}
BENCHMARK(intern_stacks)->Unit(benchmark::kMillisecond);

void import_pprof(benchmark::State& state) {
  const std::string& bytes = heap_pair().proto[0];
  for (auto _ : state) benchmark::DoNotOptimize(read(bytes));
  rate(state, bytes.size());
}
BENCHMARK(import_pprof)->Unit(benchmark::kMillisecond);

void import_jemalloc(benchmark::State& state) {
  const std::string& bytes = heap_pair().text[0];
  for (auto _ : state) benchmark::DoNotOptimize(read(bytes));
  rate(state, bytes.size());
}
BENCHMARK(import_jemalloc)->Unit(benchmark::kMillisecond);

void join_two_snapshots(benchmark::State& state) {
  SnapshotRef side[2];
  for (int i = 0; i < 2; ++i) side[i].snapshot = std::make_shared<const Snapshot>(read(heap_pair().proto[i]));
  for (auto _ : state) {
    auto report = diff::diff(side[0], side[1], {});
    if (!report) std::abort();
    benchmark::DoNotOptimize(report);
  }
  rate(state, 0);
}
BENCHMARK(join_two_snapshots)->Unit(benchmark::kMillisecond);

#ifdef SNAPDIFF_BENCH_STORE
/// The first snapshot of a series, and one that differs from it in a tenth of its rows.
void store_two_snapshots(benchmark::State& state) {
  const Snapshot snapshots[] = {read(heap_pair().proto[0]), read(heap_pair().proto[1])};
  for (auto _ : state) {
    auto store = store::Store::open(":memory:", store::Access::create);
    if (!store) std::abort();
    for (const Snapshot& snapshot : snapshots) {
      if (!store->add(snapshot, "bench")) std::abort();
    }
  }
  rate(state, 0);
}
BENCHMARK(store_two_snapshots)->Unit(benchmark::kMillisecond);
#endif

}  // namespace
