#include "formats/input/file_name_facts.hpp"

#include <catch2/catch.hpp>

#include "formats/registry.hpp"

using snapdiff::formats::file_name_facts;
using snapdiff::formats::FileNameFacts;
using snapdiff::formats::series_stem;

namespace {
using Number = std::optional<std::int64_t>;
constexpr std::nullopt_t kNone = std::nullopt;
}  // namespace

TEST_CASE("file names: number, process and stem") {
  const auto [name, sequence, pid, stem] = GENERATE(table<std::string, Number, Number, std::string>({
      // gperftools, and its child processes
      {"svc.0001.heap", 1, kNone, "svc"},
      {"/var/dumps/svc.10000.heap", 10000, kNone, "svc"},
      {"svc_4711.0002.heap", 2, 4711, "svc_4711"},
      {"svc.0001.heap.gz", 1, kNone, "svc"},
      // jemalloc: interval, manual, high water, final
      {"jeprof.12345.7.i7.heap", 7, 12345, "jeprof.12345"},
      {"jeprof.12345.8.m0.heap", 8, 12345, "jeprof.12345"},
      {"jeprof.12345.9.u1.heap", 9, 12345, "jeprof.12345"},
      {"jeprof.12345.10.f.heap", 10, 12345, "jeprof.12345"},
      {"jeprof.4026531836.12345.10.f.heap", 10, 12345, "jeprof.4026531836.12345"},
      {"run1.0.i0.heap", 0, kNone, "run1"},
      // anything numbered
      {"heap.001.pb.gz", 1, kNone, "heap"},
      {"heap-12.pprof", 12, kNone, "heap"},
      {"heap_3.prof.zst", 3, kNone, "heap"},
      {"heap7.pb.gz", 7, kNone, "heap"},
      {"0042.pb.gz", 42, kNone, "snapshot"},
      {"heap.1700000000.pb.gz", 1700000000, kNone, "heap"},
      {"heap-20240131-235959.pb.gz", 20240131235959, kNone, "heap"},
      {"heap.20240131T2359.pb", 20240131235900, kNone, "heap"},
      {"series.001.heapprofile", 1, kNone, "series"},
      {"heap.2.hpy", 2, kNone, "heap"},
      {"leak-7.jfr.xz", 7, kNone, "leak"},
      // a word behind the number, which tells two series apart
      {"py3.11-nf25-step0.lineno.txt", 0, kNone, "py3.11-nf25-step.lineno"},
      {"step12.traceback.txt", 12, kNone, "step.traceback"},
      // nothing to be read off
      {"heap.pb.gz", kNone, kNone, "heap"},
      {"heap", kNone, kNone, "heap"},
      {"heap.before.pb.gz", kNone, kNone, "heap.before"},
      {"-", kNone, kNone, "-"},
      {".heap", kNone, kNone, ".heap"},
      {"", kNone, kNone, ""},
      // a number too large to be one
      {"heap.99999999999999999999.pb", kNone, kNone, "heap.99999999999999999999"},
  }));
  INFO(name);
  CHECK(file_name_facts(name) == FileNameFacts{sequence, pid, stem});
  CHECK(series_stem(name) == stem);
}

TEST_CASE("file names: endings of tracker dumps are no part of a series") {
  const auto [name, sequence, stem] = GENERATE(table<std::string, Number, std::string>({
      {"job-step3.tracemalloc", 3, "job-step"},
      {"web.0007.heapsnapshot.gz", 7, "web"},
      {"types.12.sdt.jsonl", 12, "types"},
      {"massif.out.4711", 4711, "massif.out"},
      {"leaks-2.xml", 2, "leaks"},
  }));
  INFO(name);
  const FileNameFacts facts = file_name_facts(name);
  CHECK(facts.sequence == sequence);
  CHECK(facts.stem == stem);
}

TEST_CASE("file names: ranks are no numbers of a series, and each has its own") {
  const auto [name, rank, sequence, stem] = GENERATE(table<std::string, Number, Number, std::string>({
      {"rank0.pickle", 0, kNone, "rank0"},
      {"snap_rank3.pickle", 3, kNone, "snap_rank3"},
      {"snap-rank_12.step100.pickle.gz", 12, 100, "snap-rank_12.step"},
      {"Rank-7_20240131-235959.pickle", 7, 20240131235959, "Rank-7"},
      {"frank7.pickle", kNone, 7, "frank"},
      {"rank.pickle", kNone, kNone, "rank"},
      {"rank.3.pickle", kNone, 3, "rank"},
      {"rank99999999999999999999.pickle", kNone, kNone, "rank99999999999999999999"},
  }));
  INFO(name);
  CHECK(file_name_facts(name) == FileNameFacts{sequence, kNone, stem, rank});
}
