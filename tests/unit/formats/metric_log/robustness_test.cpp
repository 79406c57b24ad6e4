#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>

#include "support/memory_input.hpp"
#include "unit/formats/metric_log/helpers.hpp"

using namespace snapdiff;
using namespace snapdiff::test;
using Values = std::vector<std::int64_t>;

namespace {

/// `head`, then `middle_bytes` times 'x' without an end of line, then `tail`; nothing of it is kept.
class LongLine final : public Input {
 public:
  LongLine(std::string head, std::uint64_t middle_bytes, std::string tail)
      : head_(std::move(head)), middle_(middle_bytes), tail_(std::move(tail)) {}

  Result<std::string_view> peek(std::size_t wanted) override {
    const std::uint64_t left = head_.size() + middle_ + tail_.size() - at_;
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left, std::max<std::size_t>(wanted, 1 << 16)));
    largest_ = std::max(largest_, size);
    window_.assign(size, 'x');
    copy(head_, 0);
    copy(tail_, head_.size() + middle_);
    return std::string_view(window_);
  }
  void consume(std::size_t n) override { at_ += n; }
  std::uint64_t offset() const override { return at_; }
  const std::string& name() const override { return head_; }
  std::string_view compression() const override { return {}; }
  std::size_t largest() const { return largest_; }

 private:
  void copy(const std::string& part, std::uint64_t begin) {
    for (std::uint64_t i = std::max(at_, begin); i < begin + part.size() && i < at_ + window_.size(); ++i)
      window_[static_cast<std::size_t>(i - at_)] = part[static_cast<std::size_t>(i - begin)];
  }

  std::string head_;
  std::uint64_t middle_;
  std::string tail_;
  std::uint64_t at_ = 0;
  std::size_t largest_ = 0;
  std::string window_;
};

std::vector<std::string> all_samples() {
  namespace fs = std::filesystem;
  std::vector<std::string> out;
  for (const fs::directory_entry& entry : fs::directory_iterator(SNAPDIFF_TEST_DATA "/metric_log")) {
    if (entry.path().extension() != ".md") out.push_back(entry.path().filename().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

TEST_CASE("robustness: a line of 2 GiB is skipped in bounded memory, and told") {
  LongLine in("rss: 5 MB\n", std::uint64_t{2} << 30, "\nrss: 6 MB\n");
  SnapshotList list;
  REQUIRE(formats::kMetricLog.read(in, list));
  CHECK(series(list.snapshots, "rss") == Values{5242880, 6291456});
  CHECK(noted(list.snapshots, "longer than 16 MiB") == 1);
  CHECK(list.snapshots.back().facts.notes.all()[0].first_offset == 10);
  CHECK(in.largest() <= std::size_t{40} << 20);
}

TEST_CASE("robustness: a line without end in memory is skipped as well") {
  const std::string log = "rss: 5 MB\n" + std::string(std::size_t{17} << 20, 'y') + "\nrss: 6 MB\n";
  CHECK(series(read_log(log), "rss") == Values{5242880, 6291456});
  CHECK(series(read_log("rss: 5 MB\n" + std::string(std::size_t{17} << 20, 'y')), "rss") == Values{5242880});
}

TEST_CASE("robustness: a file cut at any line gives what the whole gives up to there") {
  for (const std::string& name : all_samples()) {
    INFO(name);
    const std::string bytes = sample(name);
    const auto whole = read_log(bytes);
    for (std::size_t cut = bytes.find('\n'); cut != std::string::npos; cut = bytes.find('\n', cut + 1)) {
      MemoryInput in(std::string_view(bytes).substr(0, cut + 1));
      SnapshotList part;
      const Status status = formats::kMetricLog.read(in, part);
      INFO(cut);
      if (!status) {
        CHECK(status.error().code == ErrorCode::malformed);
        continue;
      }
      REQUIRE(part.snapshots.size() <= whole.size());
      if (name.find(".dat") != std::string::npos) continue;  // in order of time, not of the file
      for (std::size_t i = 0; i < part.snapshots.size(); ++i) {
        for (const Counter& each : part.snapshots[i].facts.counters) {
          const Counter* same = counter(whole[i], each.name);
          REQUIRE(same != nullptr);
          CHECK(*same == each);
        }
      }
    }
  }
}

TEST_CASE("robustness: a file cut at any byte never gives a number that is not there") {
  for (const std::string& name :
       {std::string("constructed-loop.log"), std::string("cpu-iterations.log"),
        std::string("constructed-meminfo-graphnodes.log"), std::string("py3.11-iterations.log")}) {
    INFO(name);
    const std::string bytes = sample(name);
    const auto whole = read_log(bytes);
    for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
      MemoryInput in(std::string_view(bytes).substr(0, cut), cut % 3);
      SnapshotList part;
      if (!formats::kMetricLog.read(in, part)) continue;
      REQUIRE(part.snapshots.size() <= whole.size());
      for (std::size_t i = 0; i < part.snapshots.size(); ++i) {
        for (const Counter& each : part.snapshots[i].facts.counters) {
          const Counter* same = counter(whole[i], each.name);
          INFO(cut << " " << each.name);
          REQUIRE(same != nullptr);
          CHECK(same->value == each.value);
        }
      }
    }
  }
}

TEST_CASE("robustness: a last line that may be cut is left out, and told") {
  const auto snapshots = read_log("rss: 5 MB\nrss: 6 M");
  CHECK(series(snapshots, "rss") == Values{5242880});
  CHECK(snapshots.back().facts.partial);
  CHECK(noted(snapshots, "may be cut") == 1);
  CHECK(series(read_log("rss: 5 MB\nrss: 6 MB"), "rss").size() == 2);
}

TEST_CASE("robustness: trackers mixed in one log keep their own counters") {
  std::string log;
  for (int step = 0; step < 3; ++step) {
    const std::string s = std::to_string(step);
    log += "2026-01-02 03:04:0" + s + " INFO step " + s + " rss: " + std::to_string(100 + step) + " MB\n";
    log += "Current: 1.5MB Peak: 2.5MB\n{'current': 100" + s + ", 'peak': 2000}\n";
    log += "ThreadTotalLiveCount: " + s + "; CreatedInScopeCount: 9\n";
    log += sample("constructed-memory_summary-abbrev-step0.txt") + "\n";
    log += sample("constructed-memory_stats-step" + s + ".json") + "\n";
  }
  const auto snapshots = read_log(log);
  REQUIRE(snapshots.size() == 3);
  for (const Snapshot& snapshot : snapshots) {
    CHECK(snapshot.facts.producer.empty());
    CHECK(snapshot.facts.taken_at_ns);
  }
  CHECK(series(snapshots, "current") == Values(3, 1572864));
  CHECK(series(snapshots, "memory_info.current") == Values{1000, 1001, 1002});
  CHECK(series(snapshots, "live{level=total}") == Values{0, 1, 2});
  CHECK(steps(snapshots, "allocated_bytes.all.current") == Values{33554432, 33554432});
  CHECK(steps(snapshots, "allocated_bytes.all.current{device=0}") == Values{0, 0});
}

TEST_CASE("robustness: a log of a million iterations is kept as some thousand points, the last one too") {
  std::string log;
  for (int i = 0; i < 1'000'000; ++i) log += "Iteration " + std::to_string(i) + ": " + std::to_string(i) + "KB\n";
  const auto snapshots = read_log(log);
  CHECK(snapshots.size() <= 10'000);
  CHECK(snapshots.size() >= 5'000);
  CHECK(counter(snapshots.back(), "value")->value == 999'999LL * 1024);
  CHECK(snapshots.back().facts.comments == std::vector<std::string>{"step 999999"});
  CHECK(noted(snapshots, "a long log") == 1'000'000);
  const Values values = series(snapshots, "value");
  CHECK(std::is_sorted(values.begin(), values.end()));
}

TEST_CASE("robustness: thinning keeps the first and the last value, and what is smallest and largest") {
  for (const int lines : {10'001, 10'007, 30'000, 87'654}) {
    INFO(lines);
    std::string log;
    for (int i = 0; i < lines; ++i) {
      const int value = i == 0 ? 5'000 : i == 4'321 ? 90'000 : i == lines - 2'345 ? 1 : 6'000 + i % 7;
      log += "step " + std::to_string(i) + " rss: " + std::to_string(value) + " B vms: 7 B\n";
    }
    const auto snapshots = read_log(log);
    CHECK(snapshots.size() <= 10'000);
    const Values values = series(snapshots, "rss");
    CHECK(values.size() > 4'000);
    CHECK(series(snapshots, "vms").size() > 4'000);
    CHECK(values.front() == 5'000);
    CHECK(values.back() == 6'000 + (lines - 1) % 7);
    CHECK(*std::max_element(values.begin(), values.end()) == 90'000);
    CHECK(*std::min_element(values.begin(), values.end()) == 1);
    // Beside another counter, a value stands at most a stretch behind its own step.
    for (const Snapshot& snapshot : snapshots) {
      if (counter(snapshot, "rss")->value != 90'000) continue;
      REQUIRE(snapshot.facts.comments.size() == 1);
      const int step = std::stoi(snapshot.facts.comments[0].substr(5));
      CHECK(step >= 4'321);
      CHECK(step < 4'321 + 64);
    }
  }
}

TEST_CASE("robustness: a thinned value stands at its own step") {
  constexpr int kPrime = 50'021;
  std::vector<int> step_of(kPrime);
  std::string log;
  for (int i = 0; i < 50'000; ++i) {
    const int value = static_cast<int>(std::int64_t{i} * 7'919 % kPrime);
    step_of[static_cast<std::size_t>(value)] = i;
    log += "step " + std::to_string(i) + " rss: " + std::to_string(value) + " B\n";
  }
  for (const Snapshot& snapshot : read_log(log)) {
    const auto value = static_cast<std::size_t>(counter(snapshot, "rss")->value);
    CHECK(snapshot.facts.comments == std::vector<std::string>{"step " + std::to_string(step_of[value])});
  }
}

TEST_CASE("robustness: thinning loses no series") {
  std::string log;
  for (int i = 0; i < 30'000; ++i)
    log += "step " + std::to_string(i) + (i % 2 == 0 ? " rss: " : " vms: ") + std::to_string(i) + " B\n";
  const auto snapshots = read_log(log);
  CHECK(series(snapshots, "rss").size() > 5'000);
  CHECK(series(snapshots, "vms").size() > 5'000);
  CHECK(series(snapshots, "vms").back() == 29'999);
}

TEST_CASE("robustness: names without end are bounded") {
  std::string log;
  for (int i = 0; i < 30'000; ++i) log += "n" + std::to_string(i) + "=1\n";
  formats::ReadRequest options;
  options.patterns = {R"((?P<name>\w+)=(?P<value>\d+))"};
  const auto snapshots = read_log(log, options);
  CHECK(noted(snapshots, "beyond the first 20000 names") == 10'000);
}

TEST_CASE("robustness: long lines full of metrics, quotes or brackets take time in proportion") {
  const std::size_t size = std::size_t{4} << 20;
  for (const std::string part :
       {"rss=1 ", "GPU 0 mem=1MB ", "'active' ", "{'active'", "step 3 ", "x.1,234 ", "((((", "| 1 "}) {
    std::string line;
    while (line.size() < size) line += part;
    line += std::string(size, ' ');
    INFO(part);
    CHECK(series(read_log(line + "\nuss: 5 MB\n"), "uss") == Values{5242880});
  }
  formats::ReadRequest options;
  options.patterns = {R"((?P<name>\S*)=(?P<value>\d))"};
  std::string line;
  while (line.size() < size) line += "a=1";
  CHECK(noted(read_log("b=2\n" + std::string(size, 'n') + "=3\n" + line + "\n", options), "more than 4096") >= 1);
}

TEST_CASE("robustness: nothing but other lines is an error that says so") {
  CHECK(log_error("hello\nworld\n").text() ==
        "malformed: no metric line in the log: read to its end, expected at least one (--pattern REGEX tells "
        "what is one)");
  CHECK(log_error("").code == ErrorCode::malformed);
}
