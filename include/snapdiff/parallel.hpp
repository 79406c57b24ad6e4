#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <future>
#include <system_error>
#include <thread>
#include <vector>

namespace snapdiff {

/// Below this many stacks a second thread costs more than it saves.
inline constexpr std::size_t kParallelStacks = 20'000;

/// Calls body(0) .. body(count - 1), each once, on up to one thread per core when `stacks` makes
/// it worth while. Returns after all calls; an exception of one of them is thrown here.
template <class Body>
void for_each_parallel(std::size_t count, std::size_t stacks, Body body) {
  const std::size_t cores = std::max<std::size_t>(1, std::thread::hardware_concurrency());
  const std::size_t workers = stacks < kParallelStacks ? 1 : std::min(count, cores);
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) body(i);
  };
  std::vector<std::future<void>> others;
  for (std::size_t i = 1; i < workers; ++i) {
    try {
      others.push_back(std::async(std::launch::async, work));
    } catch (const std::system_error&) {
      break;  // no thread to be had: the ones that run do it all
    }
  }
  work();
  for (std::future<void>& other : others) other.get();
}

}  // namespace snapdiff
