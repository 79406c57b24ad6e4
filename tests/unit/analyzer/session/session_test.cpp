#include <catch2/catch.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/session/compared.hpp"
#include "analyzer/session/gate_rules.hpp"
#include "analyzer/session/judged_series.hpp"
#include "analyzer/session/recording.hpp"
#include "analyzer/session/view_json.hpp"

/// What commands and other programs share, from operands to a store and back.
namespace snapdiff::session {
namespace {

const std::string kSeries = std::string(SNAPDIFF_TEST_DATA) + "/../../examples/go-queue/";
const std::vector<std::string> kPair = {kSeries + "heap.001.pb.gz", kSeries + "heap.012.pb.gz"};

/// A folder that is empty at first and gone afterwards.
struct Scratch {
  Scratch() {
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
  }
  ~Scratch() { std::filesystem::remove_all(path); }
  std::string store() const { return (path / "some.db").string(); }
  std::filesystem::path path = std::filesystem::temp_directory_path() / "snapdiff_session_test";
};

TEST_CASE("what was compared is stored, and found again without operands, with its view") {
  const Scratch scratch;
  Request request;
  request.store = scratch.store();
  DiffOptions view;
  view.by = GroupBy::function;
  const Result<Compared> files = load_compared(kPair, view, request, Fallback::snapshots);
  REQUIRE(files);
  { Recording refused(choose_store(request.store), files->loaded, view); }
  CHECK_FALSE(std::filesystem::exists(scratch.store()));  // nobody said that there was an answer
  Recording recording(choose_store(request.store), files->loaded, view);
  recording.answered();
  const Recorded done = recording.finish({});
  REQUIRE(done.status);
  CHECK(done.created);
  CHECK(done.ids.size() == 2);
  const Result<Compared> again = load_compared({}, {}, request, Fallback::with_view);
  REQUIRE(again);
  CHECK(again->options.by == GroupBy::function);
  CHECK(again->loaded.chosen == scratch.store() + ": last compared: heap, 2 snapshots");
  const Result<GrowthReport> from_files =
      compare_two(files->loaded.snapshots[0].ref, files->loaded.snapshots[1].ref, view);
  const Result<GrowthReport> from_store =
      compare_two(again->loaded.snapshots[0].ref, again->loaded.snapshots[1].ref, view);
  REQUIRE(from_files);
  REQUIRE(from_store);
  CHECK(from_files->total.growth() == from_store->total.growth());
  CHECK(from_files->rows.size() == from_store->rows.size());
}

TEST_CASE("stages are begun and ended for whoever looks on") {
  struct Seen : Stage {
    explicit Seen(int& open) : open_(open) { ++open_; }
    ~Seen() override { --open_; }
    void update(double share, const std::function<std::string()>& words) override {
      CHECK((share >= 0 && share <= 1));
      CHECK_FALSE(words().empty());
    }
    int& open_;
  };
  int open = 0;
  std::vector<std::string> names;
  Request request;
  request.watch = [&](const char* name) {
    names.emplace_back(name);
    return std::make_unique<Seen>(open);
  };
  REQUIRE(load_compared(kPair, {}, request, Fallback::snapshots));
  CHECK(names == std::vector<std::string>{"reading"});
  CHECK(open == 0);
}

TEST_CASE("a view survives its way through a store, and what is wrong there is as by default") {
  DiffOptions view;
  view.metric = "alloc_space";
  view.by = GroupBy::label;
  view.label_key = "thread";
  view.focus = "caf\xc3\xa9\\.";
  view.match_strictly = true;
  CHECK(options_from_json(options_to_json(view)) == view);
  CHECK(newest_from_json(options_to_json(view, SnapshotId{7})) == SnapshotId{7});
  CHECK_FALSE(newest_from_json(options_to_json(view)));
  CHECK(options_from_json("{") == DiffOptions{});
  CHECK(options_from_json(R"({"by": 99, "focus": 1})").by == GroupBy::label);
  CHECK(
      options_from_json(R"({"by": -1, "sort": 1.5, "frames": true, "more": [{"metric": 2}], "metric": "x"})").metric ==
      "x");
  CHECK(options_from_json(R"({"by": -1, "sort": 1.5, "frames": true, "fold_recursion": 0})") == DiffOptions{});
  CHECK(options_from_json(R"({"metric": "x"} more)") == DiffOptions{});
  CHECK(options_from_json(R"(["metric", "x"])") == DiffOptions{});
  CHECK_FALSE(newest_from_json(R"({"newest": "7"})"));
}

TEST_CASE("a gate accepts what it was told to accept") {
  const Scratch scratch;
  Request request;
  const Result<Compared> files = load_compared({kSeries}, {}, request, Fallback::snapshots);
  REQUIRE(files);
  const Result<TrendReport> judged = judge_series(files->loaded.refs(), {});
  REQUIRE(judged);
  GateRequest wanted;
  wanted.budgets = {"1KiB/step"};
  wanted.allowance_file = (scratch.path / "accept.toml").string();
  wanted.accept = {"newBody"};
  wanted.until = "9999-12-31";
  Result<GateRules> rules = gate_rules(wanted);
  REQUIRE(rules);
  const Result<GateAnswer> answer = judge_gate({*judged, false}, wanted, *rules);
  REQUIRE(answer);
  std::size_t accepted = 0;
  for (const GateFinding& finding : answer->report.findings) accepted += finding.outcome == Outcome::accepted ? 1U : 0U;
  CHECK(accepted > 0);
  CHECK(answer->accepted.value_or(0) == accepted);
  CHECK(answer->allowance_file == wanted.allowance_file);
  CHECK(answer->report.budgets_with(Outcome::accepted) == 1);
  wanted.accept = {"nobody"};
  CHECK_FALSE(judge_gate({*judged, false}, wanted, *rules));
  wanted.budgets = {"a lot"};
  CHECK(gate_rules(wanted).error().code == ErrorCode::usage);
}

}  // namespace
}  // namespace snapdiff::session
