#include <catch2/catch.hpp>

#include "unit/formats/metric_log/helpers.hpp"

using namespace snapdiff;
using namespace snapdiff::test;
using Values = std::vector<std::int64_t>;

namespace {

constexpr std::int64_t kMiB = 1048576;

}  // namespace

TEST_CASE("lines: each documented line gives its series") {
  const auto [line, expected] = GENERATE(table<std::string, std::string>({
      {"GPU Memory: Allocated=123.4MB, Reserved=512.0MB", "allocated=129394278 reserved=536870912"},
      {"Iteration 10: 235.0MB", "value=246415360"},
      {"Iteration 10: 512.3MB", "value=537185485"},
      {"Iteration 10: Current: 1.1MB Peak: 1.5MB", "current=1153434 peak=1572864"},
      {"iteration 3: rss 698 MB (+30728 KB; +49102 KB/it.)", "rss=731906048"},
      {"torch.cuda.memory_allocated(0) 318986240", "allocated{device=0}=318986240"},
      {"torch.cuda.max_memory_reserved('cuda:1') = 5", "max_reserved{device=1}=5"},
      {"[step 3] live tensors: 11, bytes: 2099204", "live_tensors=11 bytes=2099204"},
      {"step 2 graph_nodes=1274", "graph_nodes=1274"},
      {"len(graph.get_operations()) = 31", "graph_nodes=31"},
      {"nodes: len(g.as_graph_def().node) = 31", "graph_nodes=31"},
      {"Memory info of GPU /physical_device:GPU:0: current: 304194304, peak: 314194304",
       "memory_info.current{device=GPU:0}=304194304 memory_info.peak{device=GPU:0}=314194304"},
      {"Memory info of GPU /physical_device:GPU:0: current: 0.5, peak: 2.5",
       "memory_info.current{device=GPU:0}=536870912 memory_info.peak{device=GPU:0}=2684354560"},
      {"{'current': 304194304, 'peak': 314194304}", "memory_info.current=304194304 memory_info.peak=314194304"},
      {"info {\"current\": 1, \"peak\": 2} end", "memory_info.current=1 memory_info.peak=2"},
      {"rss: 1,234,567 bytes", "rss=1234567"},
      {"Epoch [3/10], Step [100/500], loss: 0.25, mem: 512MB", "memory=536870912"},
      {"2026-01-02 10:00:00,123 INFO train.py:45 - RSS=1.5GiB", "rss=1610612736"},
      {"GPU 1: allocated 2 MB, GPU 2: allocated 3 MB", "allocated{device=1}=2097152 allocated{device=2}=3145728"},
      {"rss_mb=2 vms (MB): 3", "rss=2097152 vms=3145728"},
      {"VmRSS:\t   12 kB", "rss=12288"},
      {"{ rss: 4935680, heapTotal: 1826816, heapUsed: 650472, external: 49879, arrayBuffers: 9386 }",
       "rss=4935680 heap_total=1826816 heap_used=650472 external=49879 array_buffers=9386"},
      {"[Rank 3] (after 2 iterations) memory (MB) | allocated: 1.0 | reserved: 2.0",
       "allocated=1048576 reserved=2097152"},
      {"CPU memory used: 1MB, GPU 0 memory used: 2MB", "used{device=cpu}=1048576 used{device=0}=2097152"},
      {"Epoch 3:  50%|#####     | 5/10 [00:01<00:01,  3.20it/s, rss=512MB]", "rss=536870912"},
      {"step 2 memory: 6020K(6208K)->34033K(349568K)", "memory=34849792"},
      {"step 2 memory: 1.5 -> 2.5 MB", "memory=2621440"},
      {"HeapAlloc=1234567 HeapSys=7654321 goroutines=10", "heap_alloc=1234567 heap_sys=7654321 goroutines=10"},
      {"step 2 memory: 1 GB (3 blocks) → 3 GB", "memory=3221225472"},
  }));
  CAPTURE(line);
  const auto snapshots = read_log(line + "\n");
  REQUIRE(snapshots.size() == 1);
  CHECK(counters(snapshots[0]) == expected);
}

TEST_CASE("lines: what is about something else is no metric") {
  const std::string line =
      GENERATE("Allocated: 547584, active: 634880, metadata: 2949120 (n_thp 0), resident: 3268608, mapped: 7340032",
               "==5== total heap usage: 7 allocs, 6 frees, 1,024 bytes allocated",
               "mp_leak.py:9: size=982 KiB, count=201, average=5003 B", "peak heap memory consumption: 58.6K",
               "total memory leaked: 72.7K", "80 bytes in 1 allocations from stack", "Epoch 3: loss 0.25, lr 1e-05",
               "step 3: 12.5MB/s", "epoch 3: 45%", "Iteration 10: 235.0", "Iteration 10: 5 minutes", "memory: 5432",
               "rss delta: 5 MB", "average rss: 5 MB", "rss 5", "version rss2 12", "step 5", "downloaded 25 MB",
               "InUse: 917285632", "ThreadTotalLiveCount", "GPU 0 is free: no", "[=====>] 100%", "memory of 3 things",
               "# HeapAlloc = 1234", "Mem:  7.7Gi  5.1Gi  300Mi  100Mi",
               "InUse at 7f3a of size 2359296 by op train/step_1 action_count 5 step 0 next 3");
  CAPTURE(line);
  CHECK(log_error(line + "\n").code == ErrorCode::malformed);
}

TEST_CASE("lines: each process of a training has counters of its own") {
  const auto snapshots = read_log("[rank0]: step 1 rss=3 MB\n[rank1]: step 1 rss=5 MB\n[rank0]: step 2 rss=4 MB\n");
  CHECK(series(snapshots, "rss{rank=0}") == Values{3 * kMiB, 4 * kMiB});
  CHECK(series(snapshots, "rss{rank=1}") == Values{5 * kMiB});
  const auto workers = read_log(
      "[2024-05-01 10:00:00 +0000] [4711] [INFO] rss=3 MB\n[2024-05-01 10:00:01 +0000] [4712] [INFO] rss=9 MB\n"
      "10:00:02 pid=4711 rss=4 MB\n");
  CHECK(series(workers, "rss{pid=4711}") == Values{3 * kMiB, 4 * kMiB});
  CHECK(series(workers, "rss{pid=4712}") == Values{9 * kMiB});
  CHECK(series(read_log("pid=4711 rss=3 MB\npid=4711 rss=4 MB\n"), "rss") == Values{3 * kMiB, 4 * kMiB});
  CHECK(series(read_log("[rank1]: GPU 0 rss=3 MB\n"), "rss{device=0}") == Values{3 * kMiB});
  CHECK(series(read_log("[rank1]: rss=3 MB\nvms=4 MB\n"), "rss{rank=1}") == Values{3 * kMiB});
}

TEST_CASE("lines: without a unit a word of memory counts in a log with times or steps") {
  const auto log = [](const std::string& time) {
    std::string out;
    for (const char* const second : {"00", "25", "50"})
      out += (time.empty() ? "" : time + second + " ") + "lr: 0.1, memory: 43" + second + ", loss: 0.5\n";
    return out;
  };
  CHECK(formats::kMetricLog.sniff(log("2024-05-01 10:00:")) == Match::possible);
  CHECK(series(read_log(log("2024-05-01 10:00:")), "memory") == Values{4300, 4325, 4350});
  CHECK(formats::kMetricLog.sniff(log("")) == Match::no);
}

TEST_CASE("lines: a column below a word of memory is read, and the heading may come again") {
  const std::string heading = "      Epoch    GPU_mem   box_loss  Instances       Size\n";
  const std::string log =
      heading + "      1/100      2.5G      1.234         50        640: 100%|####| 9/9 [00:10<00:00]\n" + heading +
      "      2/100      2.75G     1.134         50        640: 100%|####| 9/9 [00:10<00:00]\n";
  const auto snapshots = read_log(log);
  CHECK(series(snapshots, "gpu_memory") == Values{2560 * kMiB, 2816 * kMiB});
  CHECK(snapshots.at(1).facts.comments == std::vector<std::string>{"step 2"});
  CHECK(formats::kMetricLog.sniff(log) == Match::certain);
  // No unit, too few numbers, and a sentence in front of numbers.
  for (const std::string none : {"Epoch mem loss\n1 2.5 3\n", "a memory b\n1 2.5G x\n", "all of it\n1 2.5G 3 4\n"})
    CHECK(log_error(none).code == ErrorCode::malformed);
}

TEST_CASE("lines: a number with a unit or a word of memory counts where it is met again") {
  const auto twice = [](const std::string& line) {
    std::string out;
    for (const char* digit : {"1", "2"}) {
      std::string one = line;
      one.replace(one.find('#'), 1, digit);
      out += one + "\n";
    }
    const auto snapshots = read_log(out);
    return counters(snapshots.front()) + " | " + counters(snapshots.back());
  };
  CHECK(twice("downloaded # MB") == "downloaded=1048576 | downloaded=2097152");
  CHECK(twice("heap_size=#") == "heap_size=1 | heap_size=2");
  CHECK(twice("# KB allocated, 3 KB freed") == "allocated=1024 freed=3072 | allocated=2048 freed=3072");
  CHECK(twice("job 5 # MB of Memory") == "memory=1048576 | memory=2097152");
  CHECK(twice("rss # KB rss 3 KB") == "rss=1024 rss{n=2}=3072 | rss=2048 rss{n=2}=3072");
  CHECK(twice("memory (MB) | allocated: # | reserved: 3") ==
        "allocated=1048576 reserved=3145728 | allocated=2097152 reserved=3145728");
  CHECK(twice("rss (pages): #") == "rss=1 | rss=2");
  CHECK(log_error("at alloc_traits.h:464\nat alloc_traits.h:465\n").code == ErrorCode::malformed);
}

TEST_CASE("lines: JSON gives every number with what names it") {
  const auto snapshots = read_log(
      "{\"ts\": 1777429252.5, \"p\": [{\"pid\": 1, \"rss_kb\": 2}, {\"pid\": 2, \"rss_kb\": 3}], \"id\": "
      "12345678901234567890}\n");
  CHECK(counters(snapshots[0]) == "rss{id=12345678901234567890,pid=1}=2048 rss{id=12345678901234567890,pid=2}=3072");
  CHECK(snapshots[0].facts.taken_at_ns == 1777429252500000000);
  CHECK(counters(read_log("{\"heapUsed\": \"5 MB\", \"external\": 7}\n")[0]) == "heap_used=5242880");
  CHECK(counters(read_log("{\"heapUsed\": 5, \"external\": 7, \"bytes\": 8, \"epoch\": 9}\n")[0]) ==
        "heap_used=5 external=7 bytes=8");
  CHECK(counters(read_log("before\n{\"rss\":5,\"external\":7}\nafter {\"rss\":6,\"external\":8}\n")[0]) ==
        "rss=5 external=7");
}

TEST_CASE("lines: what Go ever allocated only counts up, printed or as JSON") {
  const std::vector<Snapshot> printed = read_log(
      "Alloc = 2 MiB TotalAlloc = 5 MiB Sys = 8 MiB NumGC = 1\nAlloc = 2 MiB TotalAlloc = 6 MiB Sys = 8 MiB\n");
  REQUIRE(counters(printed.at(0)) == "alloc=2097152 total_alloc=5242880 sys=8388608");
  CHECK(counter(printed[0], "total_alloc")->cumulative);
  CHECK_FALSE(counter(printed[0], "alloc")->cumulative);
  const std::vector<Snapshot> expvar =
      read_log("{\"memstats\":{\"Alloc\":9,\"TotalAlloc\":50,\"HeapInuse\":20,\"HeapObjects\":3,\"GCSys\":4}}\n");
  REQUIRE(counters(expvar.at(0)) == "alloc=9 total_alloc=50 heap_inuse=20 heap_objects=3");
  CHECK(counter(expvar[0], "total_alloc")->cumulative);
  CHECK(counter(expvar[0], "heap_inuse")->unit == "bytes");
}

TEST_CASE("lines: names of runtime/metrics stay whole, limits and times are left out") {
  const std::vector<Snapshot> read = read_log(
      "{\"/cpu/classes/user:cpu-seconds\":1.5,\"/gc/gomemlimit:bytes\":9223372036854775807,"
      "\"/gc/heap/allocs:bytes\":70,\"/gc/heap/allocs:objects\":7,\"/gc/heap/goal:bytes\":90,"
      "\"/gc/heap/live:bytes\":40,\"/sched/goroutines:goroutines\":6}\n");
  REQUIRE(counters(read.at(0)) ==
          "/gc/heap/allocs:bytes=70 /gc/heap/allocs:objects=7 /gc/heap/live:bytes=40 /sched/goroutines:goroutines=6");
  CHECK(counter(read[0], "/gc/heap/allocs:objects")->cumulative);
  CHECK_FALSE(counter(read[0], "/gc/heap/live:bytes")->cumulative);
}

TEST_CASE("lines: a printed value carries half of its last digit") {
  const auto snapshots = read_log("Iteration 1: Current: 1.1MB Peak: 12 KB\nrss: 77\nrss=1.25\n");
  CHECK(counter(snapshots[0], "current")->half_unit == 52429);  // 0.05 MiB
  CHECK(counter(snapshots[0], "peak")->half_unit == 512);
  CHECK(counter(snapshots[0], "rss")->half_unit == 0);
  CHECK(counter(snapshots[1], "rss")->unit.empty());
  CHECK(counter(snapshots[1], "rss")->value == 1);
  CHECK(counter(snapshots[1], "rss")->half_unit == 1);
  CHECK(noted(snapshots, "no unit are rounded") == 1);
}

TEST_CASE("lines: MB is 2^20 bytes, or 10^6 where the user says so") {
  formats::ReadRequest options;
  options.decimal_units = true;
  CHECK(counters(read_log("rss: 5 MB, vms: 5 MiB\n")[0]) == "rss=5242880 vms=5242880");
  CHECK(counters(read_log("rss: 5 MB, vms: 5 MiB\n", options)[0]) == "rss=5000000 vms=5242880");
}

TEST_CASE("lines: counters of one iteration stand side by side in one snapshot") {
  const auto snapshots = read_log(sample("cpu-iterations.log"));
  REQUIRE(snapshots.size() == 4);
  for (const Snapshot& snapshot : snapshots) CHECK(snapshot.facts.counters.size() == 5);
  CHECK(steps(snapshots, "bytes") == Values{262144, 262144, 262144});
  CHECK(steps(snapshots, "live_tensors") == Values{2, 2, 2});
  CHECK(series(snapshots, "value") == Values{246415360, 247883366, 248722227, 249141658});
  CHECK(snapshots[2].facts.comments == std::vector<std::string>{"step 2"});
  CHECK(snapshots[2].facts.format_detail == "metric lines");
  CHECK_FALSE(snapshots[3].facts.partial);
}

TEST_CASE("lines: current and peak of tracemalloc grow by 1.0 MB a step") {
  const auto snapshots = read_log(sample("py3.11-iterations.log"));
  REQUIRE(snapshots.size() == 4);
  const Counter* const first = counter(snapshots[0], "current");
  const Counter* const last = counter(snapshots[3], "current");
  CHECK(std::abs(last->value - first->value - 3 * kMiB) <= first->half_unit + last->half_unit);
}

TEST_CASE("lines: TensorFlow's memory and graph nodes, +4194304 B and +37 a step") {
  const auto snapshots = read_log(sample("constructed-meminfo-graphnodes.log"));
  REQUIRE(snapshots.size() == 5);
  CHECK(steps(snapshots, "graph_nodes") == Values{37, 37, 37, 37});
  CHECK(steps(snapshots, "memory_info.current") == Values{4194304, 4194304, 4194304, 4194304});
  CHECK(steps(snapshots, "memory_info.current{device=GPU:0}") == Values{4194304, 4194304, 4194304, 4194304});
  CHECK(series(snapshots, "memory_info.peak").front() == 310000000);
  CHECK(snapshots[0].facts.format_detail == "get_memory_info + metric lines");
}

TEST_CASE("lines: a new step or a name met again begins a snapshot") {
  CHECK(read_log("step 1 rss: 1 MB\nstep 2 vms: 2 MB\n").size() == 2);
  CHECK(read_log("step 1 rss: 1 MB\nstep 1 vms: 2 MB\n").size() == 1);
  CHECK(read_log("rss: 1 MB\nrss: 2 MB\nvms: 2 MB\n").size() == 2);
  CHECK(read_log("epoch 0 step 1 rss: 1 MB\nepoch 0 step 2 vms: 2 MB\n").size() == 2);
}

TEST_CASE("lines: times of the prefix are UTC unless they tell a zone") {
  auto snapshots = read_log("2026-01-02 03:04:05,250 rss: 1 MB\n2026-01-02T03:04:06.5+02:00 rss: 2 MB\nrss: 3 MB\n");
  REQUIRE(snapshots.size() == 3);
  CHECK(snapshots[0].facts.taken_at_ns == 1767323045250000000);
  CHECK(snapshots[1].facts.taken_at_ns == 1767315846500000000);
  CHECK_FALSE(snapshots[2].facts.taken_at_ns);
  CHECK(noted(snapshots, "taken as UTC") == 1);
  snapshots = read_log("[1767323045.25] rss: 1 MB\n[2026-01-02 03:04:05.250] begin\nrss: 2 MB\nrss: 3 MB\n");
  CHECK(snapshots[0].facts.taken_at_ns == 1767323045250000000);
  CHECK(snapshots[1].facts.taken_at_ns == 1767323045250000000);
  CHECK_FALSE(snapshots[2].facts.taken_at_ns);
}

TEST_CASE("lines: colours, prefixes, line ends and byte order marks do not matter") {
  const std::string plain = sample("cpu-iterations.log");
  std::string coloured = "\xef\xbb\xbf", crlf, progress;
  for (const char c : plain) {
    if (c == ':') coloured += "\x1b[1;31m";
    coloured += c;
    if (c == ':') coloured += "\x1b[0m";
    if (c == '\n') crlf += '\r';
    crlf += c;
    progress += c == '\n' ? '\r' : c;
  }
  const auto expected = read_log(plain);
  for (const std::string& log : {coloured, crlf, progress}) {
    for (const std::size_t window : {0U, 1U, 7U}) {
      const auto snapshots = read_log(log, {}, window);
      REQUIRE(snapshots.size() == expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i)
        CHECK(snapshots[i].facts.counters == expected[i].facts.counters);
    }
  }
}
