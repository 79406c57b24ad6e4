#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace snapdiff::graph {

/// Stacks as runs of node numbers, root side first: stack r is node[begin[r] .. begin[r + 1]).
struct StackRuns {
  std::vector<std::uint64_t> begin{0};
  std::vector<std::uint32_t> node;
  std::size_t size() const { return begin.size() - 1; }
  std::span<const std::uint32_t> operator[](std::size_t row) const {
    return std::span(node).subspan(begin[row], begin[row + 1] - begin[row]);
  }
};

/// Which functions call themselves, directly or through others.
struct Recursion {
  std::vector<std::uint32_t> loop;   ///< per function: the number of its node; of a loop's members the same
  std::vector<std::uint8_t> direct;  ///< per function: calls itself directly
  std::uint32_t nodes = 0;           ///< nodes are 0 .. nodes - 1
};

/// Collapses mutual recursion. Only what recurs inside one stack counts: the edges between two
/// occurrences of a function in the same stack; a graph merged from many stacks holds cycles that
/// no stack ever ran (a calls b here, b calls a there), and those stay apart. Strongly connected
/// components of these edges become one node each, which is repeated until no stack repeats.
Recursion collapse_recursion(const StackRuns& stacks, std::uint32_t functions);

}  // namespace snapdiff::graph
