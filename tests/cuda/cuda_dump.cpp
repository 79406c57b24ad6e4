// Reads lines "PATH [DEVICE:EVENTS ...]" and prints what snapdiff makes of each file as one line of
// tab-separated fields, for check_generated.py:
//   row <stack> <device> <stream> <pool> <state> <values ...>
//   live <device> <events> <stack> <pending> <blocks> <requested>
//   segment <device> <events> <address> <size>      as they were then, by address, each followed by its
//   block <device> <events> <address> <size> <state>
//   counter <name> <value>
//   end
#include <cstdint>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>

#include "analyzer/cuda/cuda.hpp"
#include "formats/registry.hpp"

using namespace snapdiff;

namespace {

std::string stack_text(const Dictionary& d, StackId id) {
  std::string out;
  for (const FrameId f : d.stacks.frames(id)) {
    const std::size_t function = index_of(d.frames.function[index_of(f)]);
    if (!out.empty()) out += '|';
    out += std::string(d.strings[d.functions.file[function]]) + ":" + std::to_string(d.frames.line[index_of(f)]) + ":" +
           std::string(d.strings[d.functions.name[function]]);
  }
  return out.empty() ? ":0:[no stack recorded]" : out;
}

void print_rows(const Snapshot& s) {
  const Dictionary& d = *s.dictionary;
  for (std::size_t r = 0; r < s.samples.size(); ++r) {
    std::map<std::string, std::string> labels;
    for (const Label& label : d.labels.labels(s.samples.labels[r]))
      labels[std::string(d.strings[label.key])] = std::string(d.strings[label.text]);
    std::cout << "row\t" << stack_text(d, s.samples.stack[r]) << '\t' << labels["device"] << '\t' << labels["stream"]
              << '\t' << labels["pool"] << '\t' << labels["state"];
    for (const Column& column : s.samples.columns) std::cout << '\t' << column.value[r];
    std::cout << '\n';
  }
  for (const Counter& counter : s.facts.counters)
    std::cout << "counter\t" << counter.name << '\t' << counter.value << '\n';
}

int print_layout(const Snapshot& s, std::uint32_t device, std::uint64_t events) {
  const Result<Snapshot> then = cuda::snapshot_at(s, {device, false}, events);
  if (!then) {
    std::cerr << then.error().text() << '\n';
    return 1;
  }
  const AllocatorState& state = *then->allocator;
  std::map<std::uint64_t, std::size_t> by_address;
  for (std::size_t i = 0; i < state.segments.size_rows(); ++i) by_address[state.segments.address[i]] = i;
  for (const auto& [address, i] : by_address) {
    std::cout << "segment\t" << device << '\t' << events << '\t' << address << '\t' << state.segments.size[i] << '\n';
    for (std::size_t b = state.segments.block_begin[i]; b < state.segments.block_begin[i + 1]; ++b) {
      constexpr const char* kStates[] = {"active_allocated", "active_pending_free", "inactive"};
      std::cout << "block\t" << device << '\t' << events << '\t' << state.blocks.address[b] << '\t'
                << state.blocks.size[b] << '\t' << kStates[static_cast<std::size_t>(state.blocks.state[b])] << '\n';
    }
  }
  return 0;
}

int print_live(const Snapshot& s, std::uint32_t device, std::uint64_t events) {
  const Result<cuda::LiveSet> live = cuda::live_set(s, {device, false}, events);
  if (!live) {
    std::cerr << live.error().text() << '\n';
    return 1;
  }
  std::map<std::pair<std::string, bool>, std::pair<std::int64_t, std::int64_t>> merged;
  for (const cuda::LiveRow& row : live->rows) {
    const std::string stack = row.unattributed ? "[before trace]" : stack_text(*s.dictionary, row.stack);
    auto& cell = merged[{stack, row.pending}];
    cell.first += row.blocks;
    cell.second += row.requested;
  }
  for (const auto& [key, cell] : merged)
    std::cout << "live\t" << device << '\t' << events << '\t' << key.first << '\t' << key.second << '\t' << cell.first
              << '\t' << cell.second << '\n';
  std::cout << "reserved\t" << device << '\t' << events << '\t' << live->reserved.value_or(-1) << '\n';
  std::cout << "odd\t" << device << '\t' << events << '\t'
            << live->double_allocations + live->double_frees + live->lost_at_end + live->other_size_at_end << '\n';
  return print_layout(s, device, events);
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    std::string path;
    words >> path;
    Result<std::vector<Snapshot>> all = formats::read_file(path, {});
    if (!all) {
      std::cerr << all.error().text() << '\n';
      return 1;
    }
    print_rows((*all)[0]);
    std::uint32_t device = 0;
    std::uint64_t events = 0;
    char colon = 0;
    while (words >> device >> colon >> events) {
      if (print_live((*all)[0], device, events) != 0) return 1;
    }
    std::cout << "end" << std::endl;
  }
}
