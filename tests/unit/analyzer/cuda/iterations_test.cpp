#include <catch2/catch.hpp>

#include <random>
#include <string>
#include <vector>

#include "analyzer/cuda/cuda.hpp"
#include "analyzer/cuda/live_blocks.hpp"
#include "unit/analyzer/cuda/maker.hpp"

using namespace snapdiff;
using namespace snapdiff::cuda;
using snapdiff::test::Maker;

namespace {

using Lines = std::vector<Maker::Line>;

const Lines kForward = {{"forward", "/run/model.py", 12},
                        {"_call_impl", "/site-packages/torch/nn/modules/module.py", 1790},
                        {"train", "/run/train.py", 52}};
const Lines kStep = {{"_multi_tensor_adam", "/site-packages/torch/optim/adam.py", 500},
                     {"step", "/site-packages/torch/optim/adam.py", 200},
                     {"wrapper", "/site-packages/torch/optim/optimizer.py", 533},
                     {"train", "/run/train.py", 55}};
const Lines kZeroGrad = {{"zero_grad", "/site-packages/torch/optim/optimizer.py", 1002},
                         {"train", "/run/train.py", 56}};
const Lines kZeroGradFirst = {{"zero_grad", "/site-packages/torch/optim/optimizer.py", 1002},
                              {"train", "/run/train.py", 50}};
const Lines kMakeGrads = {{"_make_grads", "/site-packages/torch/autograd/__init__.py", 231},
                          {"backward", "/site-packages/torch/autograd/__init__.py", 374},
                          {"backward", "/site-packages/torch/_tensor.py", 631},
                          {"train", "/run/train.py", 54}};
const Lines kCustomStep = {{"step", "C:\\run\\my_optimizer.py", 77},
                           {"wrapper", "C:\\venv\\torch\\optim\\optimizer.py", 533},
                           {"<module>", "C:\\run\\train.py", 9}};

/// A loop on a made-up device: every block has an address of its own.
class Loop {
 public:
  std::uint64_t alloc(const Lines& lines, std::int64_t size = 512) {
    next_ += 4096;
    maker.event(TraceAction::alloc, next_, size, lines.empty() ? StackId{} : maker.stack(lines));
    ++events;
    return next_;
  }
  void free(std::uint64_t address, const Lines& lines, std::int64_t size = 512) {
    maker.event(TraceAction::free_completed, address, size, maker.stack(lines));
    ++events;
  }
  void pass(const Lines& lines) { free(alloc(lines), lines); }

  Maker maker;
  std::uint64_t events = 0;

 private:
  std::uint64_t next_ = 0x10000;
};

Iterations iterations_in(const Snapshot& s) {
  const Result<Iterations> found = iterations(s, {});
  if (!found) FAIL(found.error().text());
  return *found;
}

LeftOver left_in(const Snapshot& s) {
  const Result<LeftOver> left = left_over(s, {}, iterations_in(s));
  if (!left) FAIL(left.error().text());
  return *left;
}

}  // namespace

TEST_CASE("iterations: end where the optimizer's step returns") {
  Loop loop;
  std::vector<std::uint64_t> ends;
  const Lines& step = GENERATE(kStep, kCustomStep);
  for (int i = 0; i < 5; ++i) {
    for (int layer = 0; layer < 12; ++layer) loop.pass(kForward);
    loop.pass(kMakeGrads);
    loop.alloc({});  // backward's own thread, with stacks of Python alone
    for (int p = 0; p < 3; ++p) loop.pass(step);
    ends.push_back(loop.events);
  }
  loop.pass(kForward);
  const Iterations found = iterations_in(loop.maker.make());
  CHECK(found.by == Iterations::By::optimizer_step);
  CHECK(found.marks == ends);
  CHECK(found.alike == 4);
  CHECK(found.line == (step.back().line));
}

TEST_CASE(
    "iterations: gradients that the loop frees after the step are of the same one, before the next pass of the next") {
  const bool first = GENERATE(true, false);
  Loop loop;
  std::vector<std::uint64_t> ends;
  std::uint64_t gradient = 0;
  for (int i = 0; i < 4; ++i) {
    if (first && i > 0) loop.free(gradient, kZeroGradFirst);
    loop.pass(kForward);
    loop.pass(kMakeGrads);
    gradient = loop.alloc({});
    loop.pass(kStep);
    if (!first) loop.free(gradient, kZeroGrad);
    ends.push_back(loop.events);
  }
  CHECK(iterations_in(loop.maker.make()).marks == ends);
}

TEST_CASE("iterations: an optimizer that works in place is found by its gradients, else by backward") {
  const bool frees = GENERATE(true, false);
  Loop loop;
  std::uint64_t gradient = 0;
  std::vector<std::uint64_t> ends;
  for (int i = 0; i < 6; ++i) {
    if (frees && i > 0) {
      loop.free(gradient, kZeroGradFirst);
      ends.push_back(loop.events);
    }
    loop.pass(kForward);
    loop.pass(kMakeGrads);
    gradient = loop.alloc({});
    if (!frees) ends.push_back(loop.events);
    if (i == 0) loop.alloc(kStep);
  }
  const Iterations found = iterations_in(loop.maker.make());
  CHECK(found.by == (frees ? Iterations::By::zero_grad : Iterations::By::backward));
  CHECK(found.marks == ends);
}

TEST_CASE("iterations: none in inference, however often layers and passes repeat") {
  Loop loop;
  for (int pass = 0; pass < 20; ++pass) {
    for (int layer = 0; layer < 24; ++layer) loop.pass(kForward);
  }
  const Snapshot s = loop.maker.make();
  CHECK(iterations_in(s).size() == 0);
  CHECK(points(s, {}, "steps").error().code == ErrorCode::usage);
}

TEST_CASE("iterations: two networks of one loop end it together") {
  Lines other = kStep;
  other.back().line = 70;
  Loop loop;
  std::vector<std::uint64_t> ends;
  for (int i = 0; i < 3; ++i) {
    loop.pass(kForward);
    loop.pass(kStep);
    loop.pass(kForward);
    loop.pass(other);
    ends.push_back(loop.events);
  }
  CHECK(iterations_in(loop.maker.make()).marks == ends);
}

TEST_CASE("iterations: marks of the profiler come first, their ends before their beginnings") {
  Maker m;
  for (int i = 0; i < 10; ++i) m.event(TraceAction::alloc, 0x1000U * static_cast<unsigned>(i + 1), 100, 1);
  m.mark("Optimizer.step#Adam.step", AnnotationStage::end, 1001);
  m.mark("ProfilerStep#1", AnnotationStage::start, 1002);
  m.mark("ProfilerStep#1", AnnotationStage::end, 1005);
  m.mark("ProfilerStep#2", AnnotationStage::end, 1008);
  const Iterations found = iterations_in(m.make());
  CHECK(found.by == Iterations::By::profiler_step);
  CHECK(found.marks == std::vector<std::uint64_t>{6, 9});  // events are at 1000, 1001, ...
}

TEST_CASE("iterations: marks from before the trace and of a step that ran out of memory end none") {
  Maker m;
  for (int i = 0; i < 6; ++i) m.event(TraceAction::alloc, 0x1000U * static_cast<unsigned>(i + 1), 100, 1);
  m.event(TraceAction::oom, 0, 1 << 20, 1);  // at 1006
  for (const std::int64_t end : {900, 950, 1003, 1007}) {
    m.mark("Optimizer.step#Adam.step", AnnotationStage::start, end - 2);
    m.mark("Optimizer.step#Adam.step", AnnotationStage::end, end);
  }
  const Iterations found = iterations_in(m.make());
  CHECK(found.by == Iterations::By::optimizer_step);
  CHECK(found.marks == std::vector<std::uint64_t>{4});
}

TEST_CASE("points: the end and the fullest moment of one iteration") {
  Loop loop;
  std::vector<std::uint64_t> peaks, ends;
  for (int i = 0; i < 3; ++i) {
    const std::uint64_t small = loop.alloc(kForward);
    const std::uint64_t large = loop.alloc(kForward, 1000 * (i + 1));
    peaks.push_back(loop.events);
    loop.free(large, kForward, 1000 * (i + 1));
    loop.free(small, kForward);
    loop.pass(kStep);
    ends.push_back(loop.events);
  }
  const Snapshot s = loop.maker.make();
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(*points(s, {}, "step:" + std::to_string(i + 1)) == std::vector{ends[i]});
    CHECK(*points(s, {}, "peak:" + std::to_string(i + 1)) == std::vector{peaks[i]});
  }
  CHECK(points(s, {}, "step:4").error().message ==
        "no point 'step:4': expected a number of 1 to 3, the iterations that the trace holds");
  CHECK_FALSE(points(s, {}, "peak:0"));
  CHECK_FALSE(points(s, {}, "step:x"));
}

TEST_CASE("left over: what every iteration leaves, not what one leaves, holds or bounds") {
  const std::size_t iterations = GENERATE(3U, 6U, 20U);
  Loop loop;
  const Lines leak = {{"append", "/run/log.py", 7}, {"train", "/run/train.py", 53}};
  const Lines rare = {{"evaluate", "/run/log.py", 9}, {"train", "/run/train.py", 57}};
  const Lines state = {{"_init_group", "/site-packages/torch/optim/adam.py", 150}, kStep[1], kStep[2], kStep[3]};
  const Lines held = {{"batch", "/run/data.py", 3}, {"train", "/run/train.py", 51}};
  const Lines ring = {{"push", "/run/ring.py", 3}, {"train", "/run/train.py", 51}};
  std::vector<std::uint64_t> births, last_two;
  std::uint64_t batch = 0;
  for (std::size_t i = 0; i < iterations; ++i) {
    if (batch != 0) loop.free(batch, held);
    batch = loop.alloc(held);
    births.push_back(loop.events);
    loop.alloc(leak);
    if (iterations == 20 && i % 5 == 4 && i + 1 < iterations) {
      births.push_back(loop.events);
      loop.alloc(rare);
    }
    last_two.push_back(loop.alloc(ring));
    if (last_two.size() > 2) {
      loop.free(last_two.front(), ring);
      last_two.erase(last_two.begin());
    }
    loop.pass(kForward);
    if (i == 0) loop.alloc(state, 4096);
    loop.pass(kStep);
  }
  const LeftOver left = left_in(loop.maker.make());
  CHECK(left.births == births);
  CHECK(left.warm_up == 1);
  CHECK(left.warm_bytes == 4096);
}

TEST_CASE("left over: of the last iteration no more blocks than another one left") {
  Loop loop;
  const Lines leak = {{"append", "/run/log.py", 7}, {"train", "/run/train.py", 53}};
  std::vector<std::uint64_t> births;
  for (int i = 0; i < 5; ++i) {
    births.push_back(loop.events);
    loop.alloc(leak);
    const std::uint64_t second = loop.alloc(leak);  // of the same line, held until the next iteration
    if (i < 4) loop.free(second, leak);
    loop.pass(kStep);
  }
  CHECK(left_in(loop.maker.make()).births == births);
}

TEST_CASE("live sets: of many moments in one pass, as of each alone") {
  Maker m;
  std::mt19937 rng(11);
  const auto below = [&rng](std::uint32_t limit) { return static_cast<std::uint32_t>(rng() % limit); };
  constexpr std::uint64_t kEvents = 300;
  for (std::uint64_t n = 0; n < kEvents; ++n) {
    constexpr TraceAction kActions[] = {TraceAction::alloc, TraceAction::free_requested, TraceAction::free_completed,
                                        TraceAction::segment_alloc, TraceAction::segment_free};
    m.event(kActions[below(5)], 0x1000U * (1 + below(20)), 100 + below(4000), static_cast<int>(1 + below(5)));
  }
  m.block(0x1000, 4096, 100, BlockState::allocated, 1);
  const Snapshot s = m.make();
  std::vector<std::uint64_t> moments;
  for (std::uint64_t n = 0; n <= kEvents; n += 1 + below(9)) moments.push_back(n);
  LiveBlocks blocks;
  const Result<std::vector<LiveSet>> together = live_sets(s, {}, moments, nullptr, nullptr, &blocks);
  if (!together) FAIL(together.error().text());
  REQUIRE(together->size() == moments.size());
  for (std::size_t i = 0; i < moments.size(); ++i) {
    CHECK((*together)[i] == *live_set(s, {}, moments[i]));
    std::int64_t bytes = 0;
    for (const LiveBlock& block : blocks.blocks[i]) bytes += block.pending ? 0 : block.bytes;
    CHECK(bytes == (*together)[i].bytes);
  }
}
