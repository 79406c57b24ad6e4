#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "analyzer/cuda/cuda.hpp"
#include "analyzer/cuda/live_blocks.hpp"
#include "analyzer/cuda/roles.hpp"
#include "analyzer/cuda/trace_of.hpp"

namespace snapdiff::cuda {
namespace {

constexpr std::int64_t kOfACall = 1000;  // one part in so many of the bytes of calls may not fit their number
constexpr std::size_t kFewest = 2;       // a trace of one event is what a recorder leaves that keeps the state only
constexpr std::int64_t kUndone = 4;      // of so many calls or more one may be undone in part

/// A frame by what a layer's call is recognised from.
enum class Layer : std::uint8_t { native, python, call, recomputed };

Layer layer_of(const Dictionary& dictionary, FrameId frame) {
  const std::size_t function = index_of(dictionary.frames.function[index_of(frame)]);
  std::string file(dictionary.strings[dictionary.functions.file[function]]);
  std::replace(file.begin(), file.end(), '\\', '/');
  if (file.ends_with("torch/utils/checkpoint.py")) return Layer::recomputed;
  if (file.ends_with("torch/nn/modules/module.py")) return Layer::call;
  return file.ends_with(".py") ? Layer::python : Layer::native;
}

/// Finds the line whose calls of modules keep the same activations each.
class RepeatedCalls {
 public:
  explicit RepeatedCalls(const Dictionary& dictionary) : dictionary_(dictionary) {}

  void add(const LiveBlock& block) {
    if (block.role != Role::activation || block.born < 0) return;
    Stack& stack = stacks_[block.stack];
    stack.bytes += block.bytes;
    stack.blocks.push_back({block.born, block.bytes});
  }

  /// The one that keeps most; of equals the outermost.
  std::optional<RepeatedCall> find() {
    std::map<FrameId, Call> calls;
    for (auto& [id, stack] : stacks_) {
      std::sort(stack.blocks.begin(), stack.blocks.end());
      const std::vector<FrameId> callers = callers_of(id);
      for (std::size_t i = 0; i < callers.size(); ++i) {
        Call& call = calls[callers[i]];
        call.bytes += stack.bytes;
        call.depth = std::max(call.depth, callers.size() - i);
        call.stacks.push_back(&stack);
      }
    }
    const Call* best = nullptr;
    FrameId frame{};
    for (auto& [id, call] : calls) {
      count(call);
      const bool more = best == nullptr || std::pair(call.bytes, best->depth) > std::pair(best->bytes, call.depth);
      if (call.times < 2 || !more) continue;
      best = &call;
      frame = id;
    }
    if (best == nullptr) return std::nullopt;
    RepeatedCall out;
    const std::size_t function = index_of(dictionary_.frames.function[index_of(frame)]);
    out.file = dictionary_.strings[dictionary_.functions.file[function]];
    out.line = dictionary_.frames.line[index_of(frame)];
    out.calls = best->times;
    out.bytes = best->bytes;
    out.output = output_of(*best);
    return out;
  }

 private:
  struct Stack {
    std::int64_t bytes = 0;
    std::vector<std::pair<std::int64_t, std::int64_t>> blocks;  ///< birth and bytes, by birth
    std::int64_t count() const { return static_cast<std::int64_t>(blocks.size()); }
  };
  struct Call {
    std::int64_t bytes = 0;
    std::int64_t times = 0;
    std::size_t depth = 0;  ///< of calls of modules, from the root
    std::vector<const Stack*> stacks;
  };

  /// Frames that call a module, leaf first, each once; none of what is recomputed in backward already.
  std::vector<FrameId> callers_of(StackId stack) const {
    std::vector<FrameId> out;
    Layer inner = Layer::native;
    for (const FrameId frame : dictionary_.stacks.frames(stack)) {
      const Layer layer = layer_of(dictionary_, frame);
      if (layer == Layer::recomputed) return {};
      if (layer == Layer::python && inner == Layer::call && std::find(out.begin(), out.end(), frame) == out.end())
        out.push_back(frame);
      if (layer != Layer::native) inner = layer;
    }
    return out;
  }

  /// Whether so many calls leave the blocks of a stack: as many each, but for one call that backward has begun to undo.
  static bool fits(std::int64_t blocks, std::int64_t times) {
    const std::int64_t each = (blocks + times - 1) / times;
    return blocks == each * times || (times >= kUndone && blocks >= each * (times - 1));
  }

  /// How often, by the blocks of its stacks: the most that fits nearly all bytes, and one stack exactly.
  static void count(Call& call) {
    std::set<std::int64_t> counts;
    for (const Stack* stack : call.stacks) counts.insert(stack->count());
    for (auto times = counts.rbegin(); times != counts.rend() && *times >= 2 && call.times == 0; ++times) {
      std::int64_t other = 0;
      for (const Stack* stack : call.stacks) other += fits(stack->count(), *times) ? 0 : stack->bytes;
      if (other <= call.bytes / kOfACall) call.times = *times;
    }
  }

  /// Bytes of what the first call allocated last.
  static std::int64_t output_of(const Call& call) {
    std::pair<std::int64_t, std::int64_t> last{-1, 0};
    for (const Stack* stack : call.stacks) {
      const std::int64_t each = (stack->count() + call.times - 1) / call.times;
      last = std::max(last, stack->blocks[static_cast<std::size_t>(each - 1)]);
    }
    return last.second;
  }

  const Dictionary& dictionary_;
  std::map<StackId, Stack> stacks_;
};

void add_row(std::map<std::tuple<StackId, bool, Role>, PeakRow>& rows, const LiveBlock& block) {
  PeakRow& row = rows[{block.stack, block.unattributed, block.role}];
  row.stack = block.stack;
  row.unattributed = block.unattributed;
  row.role = to_text(block.role);
  ++row.blocks;
  row.bytes += block.bytes;
  if (block.born >= 0 && block.freed) row.passing += block.bytes;
}

template <class Row>
void put_most_first(std::vector<Row>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.bytes > b.bytes; });
}

}  // namespace

Result<std::optional<MemoryPeak>> memory_peak(const Snapshot& snapshot, TraceRef ref) {
  const DeviceTrace* const trace = find_trace(snapshot, ref);
  if (trace == nullptr || trace->events.size() < kFewest) return std::optional<MemoryPeak>();
  const Result<std::vector<std::uint64_t>> fullest = points(snapshot, ref, "peak");
  if (!fullest) return fullest.error();
  Roles roles(snapshot, trace->events);
  MemoryPeak out;
  out.event = fullest->front();
  out.events = trace->events.size();
  out.part = roles.part_at(out.event);
  const std::array<std::uint64_t, 3> moments = {0, out.event, out.events};
  LiveBlocks blocks;
  const Result<std::vector<LiveSet>> live = live_sets(snapshot, ref, moments, nullptr, &roles, &blocks);
  if (!live) return live.error();
  out.at_start = live->at(0).bytes;
  out.bytes = live->at(1).bytes;
  out.blocks = live->at(1).blocks;
  out.reserved = live->at(1).reserved;
  out.at_end = live->at(2).bytes;
  const std::vector<std::uint8_t>& flags = snapshot.allocator->segments.flags;
  out.expandable =
      std::any_of(flags.begin(), flags.end(), [](std::uint8_t f) { return (f & kSegmentExpandable) != 0; });

  // Sums of parts of the set, whose own sum is known to fit.
  std::map<std::tuple<StackId, bool, Role>, PeakRow> rows;
  std::map<Role, PeakRole> by_role;
  RepeatedCalls calls(*snapshot.dictionary);
  for (const LiveBlock& block : blocks.blocks[1]) {
    if (block.pending) continue;
    add_row(rows, block);
    PeakRole& role = by_role[block.role];
    role.role = to_text(block.role);
    ++role.blocks;
    role.bytes += block.bytes;
    calls.add(block);
  }
  for (const auto& [key, row] : rows) out.rows.push_back(row);
  for (const auto& [key, role] : by_role) out.roles.push_back(role);
  put_most_first(out.rows);
  put_most_first(out.roles);
  out.layers = calls.find();
  return std::optional(std::move(out));
}

}  // namespace snapdiff::cuda
