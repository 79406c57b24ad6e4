#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace snapdiff {

/// Below this many stacks a second thread costs more than it saves.
inline constexpr std::size_t kParallelStacks = 20'000;

/// At least 1. The standard library reads a file of the system for each such question: it is asked once.
inline std::size_t core_count() {
  static const std::size_t cores = std::max<std::size_t>(1, std::thread::hardware_concurrency());
  return cores;
}

/// Calls body(0) .. body(count - 1), each once, on up to one thread per core when `stacks` makes
/// it worth while, or on fewer where no more are to be had. Returns after all calls; an exception of one of them is
/// thrown here.
void for_each_parallel(std::size_t count, std::size_t stacks, const std::function<void(std::size_t)>& body);

/// Rows that one call of for_each_block() works on: enough for a thread, few enough to share among all of them.
inline constexpr std::size_t kBlockRows = 16 * 1024;

inline constexpr std::size_t blocks_of(std::size_t rows) { return (rows + kBlockRows - 1) / kBlockRows; }

/// Calls body(block, begin, end) for each block of `rows` rows, as for_each_parallel() does.
void for_each_block(std::size_t rows,
                    const std::function<void(std::size_t block, std::size_t begin, std::size_t end)>& body);

/// A list in the order of rows: list(begin, end, out) appends what it finds in a block of them to `out`.
template <class T, class List>
std::vector<T> listed_in_blocks(std::size_t rows, List list) {
  std::vector<std::vector<T>> blocks(blocks_of(rows));
  for_each_block(rows, [&](std::size_t block, std::size_t begin, std::size_t end) { list(begin, end, blocks[block]); });
  std::vector<T> all;
  for (const std::vector<T>& block : blocks) all.insert(all.end(), block.begin(), block.end());
  return all;
}

}  // namespace snapdiff
