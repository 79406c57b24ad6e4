#pragma once

#include <algorithm>
#include <atomic>
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

/// Calls work() once on each of `workers` threads, this one among them, or on fewer where no more are to be had.
/// Returns after all calls; an exception of one of them is thrown here.
void run_on_threads(std::size_t workers, const std::function<void()>& work);

/// Calls body(0) .. body(count - 1), each once, on up to one thread per core when `stacks` makes
/// it worth while. Returns after all calls; an exception of one of them is thrown here.
template <class Body>
void for_each_parallel(std::size_t count, std::size_t stacks, Body body) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) body(i);
  };
  run_on_threads(stacks < kParallelStacks ? 1 : std::min(count, core_count()), std::cref(work));
}

/// Rows that one call of for_each_block() works on: enough for a thread, few enough to share among all of them.
inline constexpr std::size_t kBlockRows = 16 * 1024;

inline constexpr std::size_t blocks_of(std::size_t rows) { return (rows + kBlockRows - 1) / kBlockRows; }

/// Calls body(block, begin, end) for each block of `rows` rows, as for_each_parallel() does.
template <class Body>
void for_each_block(std::size_t rows, Body body) {
  for_each_parallel(blocks_of(rows), rows, [&](std::size_t block) {
    body(block, block * kBlockRows, std::min(rows, (block + 1) * kBlockRows));
  });
}

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
