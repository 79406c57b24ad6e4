#include "analyzer/base/parallel.hpp"

#include <atomic>
#include <future>
#include <system_error>
#include <vector>

namespace snapdiff {

namespace {

/// Calls work() once on each of `workers` threads, this one among them, or on fewer where no more are to be had.
void run_on_threads(std::size_t workers, const std::function<void()>& work) {
  std::vector<std::future<void>> others;
  for (std::size_t i = 1; i < workers; ++i) {
    try {
      others.push_back(std::async(std::launch::async, std::cref(work)));
    } catch (const std::system_error&) {
      break;  // no thread to be had: the ones that run do it all
    }
  }
  work();
  for (std::future<void>& other : others) other.get();
}

}  // namespace

void for_each_parallel(std::size_t count, std::size_t stacks, const std::function<void(std::size_t)>& body) {
  std::atomic<std::size_t> next{0};
  run_on_threads(stacks < kParallelStacks ? 1 : std::min(count, core_count()), [&] {
    for (std::size_t i = next++; i < count; i = next++) body(i);
  });
}

void for_each_block(std::size_t rows,
                    const std::function<void(std::size_t block, std::size_t begin, std::size_t end)>& body) {
  for_each_parallel(blocks_of(rows), rows, [&](std::size_t block) {
    body(block, block * kBlockRows, std::min(rows, (block + 1) * kBlockRows));
  });
}

}  // namespace snapdiff
