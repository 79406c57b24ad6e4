#include <map>

#include "analyzer/cuda/cuda.hpp"
#include "analyzer/cuda/live_blocks.hpp"
#include "analyzer/cuda/roles.hpp"
#include "maker.hpp"

using namespace snapdiff;
using namespace snapdiff::cuda;
using test::Maker;

namespace {

constexpr std::int64_t kHopperWorkspace = 33'554'432;
const std::vector<Maker::Line> kRoleForward = {
    {"forward", "app/model.py", 5}, {"_call_impl", "torch/nn/modules/module.py", 1}, {"train", "app/run.py", 1}};
const std::vector<Maker::Line> kRoleStep = {
    {"_init_group", "torch/optim/adam.py", 1}, {"step", "torch/optim/adam.py", 2}, {"train", "app/run.py", 3}};
const std::vector<Maker::Line> kRoleMove = {{"convert", "torch/nn/modules/module.py", 1},
                                            {"_apply", "torch/nn/modules/module.py", 2},
                                            {"main", "app/run.py", 9}};
const std::vector<Maker::Line> kRoleBackward = {{"call", "cache/c5g6.py", 118},
                                                {"forward", "app/model.py", 5},
                                                {"backward", "torch/_functorch/_aot_autograd/runtime_wrappers.py", 1},
                                                {"apply", "torch/autograd/function.py", 2}};

const std::vector<Maker::Line> kRoleEngine = {{"torch::autograd::Engine::evaluate_function", "engine.cpp", 0}};

std::map<Role, std::int64_t> role_bytes(const Snapshot& snapshot) {
  const EventLog& events = snapshot.allocator->traces[0].events;
  cuda::Roles roles(snapshot, events);
  const std::uint64_t end = events.size();
  auto sets = cuda::live_sets(snapshot, {0, false}, {&end, 1}, nullptr, &roles, nullptr);
  REQUIRE(sets);
  std::map<Role, std::int64_t> out;
  for (const LiveRow& row : sets->front().rows) out[row.role] += row.bytes;
  return out;
}

}  // namespace

TEST_CASE("roles: what a backward thread takes once is a workspace, weights that move stay parameters") {
  Maker m;
  m.event(TraceAction::alloc, 0x1000, 4096, m.stack(kRoleMove));
  m.event(TraceAction::alloc, 0x10000000, kHopperWorkspace, m.stack(kRoleForward));
  for (int step = 0; step < 2; ++step) {
    m.event(TraceAction::alloc, 0x3000, 2048, m.stack(kRoleForward));
    if (step == 0) m.event(TraceAction::alloc, 0x20000000, kHopperWorkspace, m.stack(kRoleEngine));
    m.event(TraceAction::alloc, 0x5000, 4096, m.stack(kRoleEngine));
    m.event(TraceAction::free_completed, 0x3000, 2048, 0);
    if (step == 1) break;
    m.event(TraceAction::alloc, 0x7000, 4096, m.stack(kRoleStep));
    m.event(TraceAction::free_completed, 0x5000, 4096, m.stack(kRoleStep));
  }
  m.block(0x1000, 4096, 4096, BlockState::allocated, 0);
  m.block(0x5000, 4096, 4096, BlockState::allocated, 0);
  m.block(0x7000, 4096, 4096, BlockState::allocated, 0);
  m.block(0x10000000, kHopperWorkspace, kHopperWorkspace, BlockState::allocated, 0);
  m.block(0x20000000, kHopperWorkspace, kHopperWorkspace, BlockState::allocated, 0);
  auto bytes = role_bytes(m.make());
  CHECK(bytes[Role::workspace] == 2 * kHopperWorkspace);
  CHECK(bytes[Role::parameter] == 4096);
  CHECK(bytes[Role::gradient] == 4096);
  CHECK(bytes[Role::optimizer_state] == 4096);
}

TEST_CASE("roles: of blocks from before the trace as many are parameters as there are gradients") {
  Maker m;
  for (int step = 0; step < 2; ++step) {
    m.event(TraceAction::alloc, 0x3000, 2048, m.stack(kRoleForward));
    m.event(TraceAction::alloc, 0x50000, 4096, m.stack(kRoleBackward));
    m.event(TraceAction::alloc, 0x60000, 4096, m.stack(kRoleBackward));
    m.event(TraceAction::free_completed, 0x3000, 2048, 0);
    if (step == 1) break;
    m.event(TraceAction::alloc, 0x70000, 512, m.stack(kRoleStep));
    m.event(TraceAction::free_completed, 0x70000, 512, m.stack(kRoleStep));
    m.event(TraceAction::free_completed, 0x50000, 4096, m.stack(kRoleStep));
    m.event(TraceAction::free_completed, 0x60000, 4096, m.stack(kRoleStep));
  }
  for (std::uint64_t i = 0; i < 6; ++i) m.block(0x100000 + i * 4096, 4096, 4096, BlockState::allocated, 0);
  m.block(0x50000, 4096, 4096, BlockState::allocated, 0);
  m.block(0x60000, 4096, 4096, BlockState::allocated, 0);
  auto bytes = role_bytes(m.make());
  CHECK(bytes[Role::parameter] == 2 * 4096);
  CHECK(bytes[Role::optimizer_state] == 4 * 4096);
  CHECK(bytes[Role::gradient] == 2 * 4096);
}

TEST_CASE("roles: what an optimizer loads from a checkpoint is its state") {
  Maker m;
  const std::vector<Maker::Line> load = {{"_process_value_according_to_param_policy", "torch/optim/optimizer.py", 1},
                                         {"load_state_dict", "torch/optim/optimizer.py", 2},
                                         {"resume", "app/run.py", 4}};
  m.event(TraceAction::alloc, 0x3000, 2048, m.stack(kRoleForward));
  m.event(TraceAction::free_completed, 0x3000, 2048, m.stack(kRoleForward));
  m.event(TraceAction::alloc, 0x1000, 4096, m.stack(kRoleMove));  // after a forward pass
  m.event(TraceAction::alloc, 0x9000, 4096, m.stack(load));
  m.event(TraceAction::alloc, 0x4000, 2048, m.stack(kRoleForward));
  for (const std::uint64_t address : {std::uint64_t{0x1000}, std::uint64_t{0x9000}})
    m.block(address, 4096, 4096, BlockState::allocated, 0);
  m.block(0x4000, 2048, 2048, BlockState::allocated, 0);
  auto bytes = role_bytes(m.make());
  CHECK(bytes[Role::parameter] == 4096);
  CHECK(bytes[Role::optimizer_state] == 4096);
}
