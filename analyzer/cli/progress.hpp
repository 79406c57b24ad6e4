#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace snapdiff::cli {

/// One rewritten line on stderr: bar, what is done, time left; wiped at the end. Shows nothing when
/// stderr is no terminal, or when all is done within a third of a second. Thread-safe.
class ProgressLine {
 public:
  /// `verb`: "import". `enabled`: stderr is a terminal.
  ProgressLine(bool enabled, std::string verb);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// `share` done, 0..1; words() is only called when it is time for a new line.
  template <class Words>
  void update(double share, Words words) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (lock.owns_lock() && is_due()) draw(share, words());
  }

 private:
  bool is_due();
  void draw(double share, const std::string& words);

  bool enabled_;
  std::string verb_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_drawn_;
  std::mutex mutex_;
};

/// Progress of reading files, by their bytes.
class Progress {
 public:
  /// `sizes`: bytes of each input, 0 where unknown.
  Progress(bool enabled, std::vector<std::uint64_t> sizes);

  void update(std::size_t input, std::uint64_t bytes_done);
  void finished(std::size_t input);

 private:
  ProgressLine line_;
  std::vector<std::uint64_t> sizes_;
  std::vector<std::atomic<std::uint64_t>> done_;
  std::atomic<std::size_t> files_done_{0};
  std::uint64_t total_ = 0;
};

}  // namespace snapdiff::cli
