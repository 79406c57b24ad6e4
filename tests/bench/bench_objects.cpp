// Time and memory of dominators and retained sizes on a generated object graph.
//
//   bench_objects NODES REFERENCES_A_NODE heap|random|chain
//
// heap: each object is held by one of the 1000 before it, other references go anywhere, half of them near by;
// random: all go anywhere; chain: each object holds the next. Prints one line of JSON. The same arguments give
// the same graph.
#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "analyzer/objects/root_set.hpp"

namespace {

using namespace snapdiff;

std::uint64_t next_random(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15ULL;
  return mix64(state);
}

std::uint32_t below(std::uint64_t& state, std::uint32_t bound) {
  return static_cast<std::uint32_t>(((next_random(state) >> 32) * bound) >> 32);
}

ObjectGraph make_graph(std::uint32_t nodes, std::uint32_t references, const std::string& shape) {
  ObjectGraph graph;
  graph.types.kind.assign(1, StringId{});
  graph.types.name.assign(1, StringId{});
  graph.type.assign(nodes, 0);
  graph.flags.assign(nodes, 0);
  graph.id.resize(nodes);
  graph.self_bytes.resize(nodes);
  for (std::uint32_t n = 0; n < nodes; ++n) {
    graph.id[n] = 2 * std::uint64_t{n} + 1;
    graph.self_bytes[n] = 16 + n % 97;
  }
  // The holder of each node first, so that most are alive; then as many more as asked for.
  std::uint64_t state = 1;
  const auto holder = [&](std::uint32_t node) {
    return shape == "chain" ? node - 1 : node - 1 - below(state, node < 1000 ? node : 1000);
  };
  const std::uint64_t more = shape == "chain" ? 0 : std::uint64_t{nodes} * (references - 1);
  std::vector<std::uint64_t>& begin = graph.edge_begin;
  begin.assign(std::size_t{nodes} + 1, 0);
  const auto each = [&](auto visit) {
    state = 1;
    if (shape != "random") {
      for (std::uint32_t n = 1; n < nodes; ++n) visit(holder(n), n);
    }
    for (std::uint64_t e = shape == "random" ? 0 : nodes - 1; e < more + nodes; ++e) {
      const std::uint32_t from = below(state, nodes);
      const bool near_by = shape == "heap" && (next_random(state) & 1) != 0;
      visit(from, near_by ? (from + below(state, 1000)) % nodes : below(state, nodes));
    }
  };
  each([&](std::uint32_t from, std::uint32_t) { ++begin[from]; });
  std::uint64_t end = 0;
  for (std::uint64_t& b : begin) b = end += b;
  graph.to.resize(end);
  graph.label.assign(end, 0);
  each([&](std::uint32_t from, std::uint32_t to) { graph.to[--begin[from]] = to; });
  graph.roots.push_back({0, StringId{}});
  return graph;
}

long peak_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: bench_objects NODES REFERENCES_A_NODE heap|random|chain\n");
    return 2;
  }
  const auto nodes = static_cast<std::uint32_t>(std::strtoul(argv[1], nullptr, 10));
  const auto references = static_cast<std::uint32_t>(std::strtoul(argv[2], nullptr, 10));
  const ObjectGraph graph = make_graph(nodes, references, argv[3]);
  const long before = peak_kib();
  const auto start = std::chrono::steady_clock::now();
  const std::clock_t cpu = std::clock();
  const Result<objects::DominatorTree> tree = objects::dominator_tree(graph, objects::find_roots(graph).nodes);
  if (!tree) return 1;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const double cpu_seconds = static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
  const long after = peak_kib();
  const double budget = (40.0 * nodes + 12.0 * static_cast<double>(graph.to.size())) / 1024;
  std::printf(
      "{\"nodes\":%u,\"references\":%zu,\"reached\":%zu,\"seconds\":%.2f,\"cpu_seconds\":%.2f,\"graph_kib\":%ld,"
      "\"peak_kib\":%ld,\"budget_kib\":%.0f}\n",
      nodes, graph.to.size(), tree->size(), seconds.count(), cpu_seconds, before, after, budget);
  return 0;
}
