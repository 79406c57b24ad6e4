#include "analyzer/base/parallel.hpp"

#include <future>
#include <system_error>
#include <vector>

namespace snapdiff {

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

}  // namespace snapdiff
