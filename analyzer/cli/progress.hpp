#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace snapdiff::cli {

/// One rewritten line on stderr while files are read: bar by bytes, files, time left. Shows nothing
/// when stderr is no terminal, or when all is done within a third of a second. Thread-safe.
class Progress {
 public:
  /// `sizes`: bytes of each input, 0 where unknown.
  Progress(bool enabled, std::vector<std::uint64_t> sizes);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(std::size_t input, std::uint64_t bytes_done);
  void finished(std::size_t input);

 private:
  void draw();

  bool enabled_;
  std::vector<std::uint64_t> sizes_;
  std::vector<std::atomic<std::uint64_t>> done_;
  std::atomic<std::size_t> files_done_{0};
  std::uint64_t total_ = 0;
  bool shown_ = false;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_drawn_;
  std::mutex mutex_;
};

}  // namespace snapdiff::cli
