#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace snapdiff::cli {

/// One rewritten line on stderr while something named goes on: a bar with what is done and the time left where that is
/// known, else the time since it began; wiped at the end. Redrawn twice a second whether anything was reported or not.
/// Shows nothing when stderr is no terminal, or when all is done within a third of a second. Thread-safe.
class ProgressLine {
 public:
  /// `stage`: "import", "comparing". `enabled`: stderr is a terminal.
  ProgressLine(bool enabled, std::string stage);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// `share` done, 0..1; words() is only called when it is time for a new line.
  template <class Words>
  void update(double share, Words words) {
    if (!enabled_) return;
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock() || !is_due()) return;
    share_ = share;
    words_ = words();
    draw();
  }

 private:
  using Clock = std::chrono::steady_clock;
  bool is_due() const;
  void draw();
  void tick(const std::stop_token& stop);

  bool enabled_;
  std::string stage_;
  double share_ = -1;  // unknown
  std::string words_;
  bool shown_ = false;
  Clock::time_point start_;
  Clock::time_point last_drawn_;
  std::mutex mutex_;
  std::condition_variable_any woken_;
  std::jthread ticker_;  // last: it uses the others
};

/// What `work` returns; the stage is named on a terminal while it goes on.
template <class Work>
auto in_stage(bool enabled, const char* stage, Work work) {
  const ProgressLine line(enabled, stage);
  return work();
}

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
