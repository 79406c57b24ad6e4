#include "analyzer/cli/progress.hpp"

#include <cstdio>
#include <numeric>
#include <utility>

#include "analyzer/report/report.hpp"

namespace snapdiff::cli {

using namespace std::chrono_literals;

ProgressLine::ProgressLine(bool enabled, std::string stage)
    : enabled_(enabled), stage_(std::move(stage)), start_(Clock::now()), last_drawn_(start_) {
  if (enabled_) ticker_ = std::jthread([this](const std::stop_token& stop) { tick(stop); });
}

ProgressLine::~ProgressLine() {
  if (!enabled_) return;
  ticker_.request_stop();
  ticker_.join();
  if (shown_) std::fputs("\r\x1b[K", stderr);
}

void ProgressLine::tick(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!woken_.wait_for(lock, stop, 500ms, [] { return false; }) && !stop.stop_requested()) {
    if (Clock::now() - last_drawn_ >= 400ms) draw();
  }
}

bool ProgressLine::is_due() const {
  const auto now = Clock::now();
  return now - start_ >= 333ms && now - last_drawn_ >= 100ms;
}

void ProgressLine::draw() {
  constexpr int kCells = 24;
  // All bytes are read before all is understood: from there on only the time that passes is known.
  constexpr double kNearlyAll = 0.995;
  last_drawn_ = Clock::now();
  const double seconds = std::chrono::duration<double>(last_drawn_ - start_).count();
  char numbers[64];
  std::string line = "\r" + stage_ + "  ";
  if (share_ < 0) {
    std::snprintf(numbers, sizeof numbers, "%.0f s", seconds);
    line += numbers;
  } else {
    const int filled = static_cast<int>(share_ * kCells);
    for (int cell = 0; cell < kCells; ++cell) line += cell < filled ? "#" : ".";
    std::snprintf(numbers, sizeof numbers, " %3.0f %%  ", share_ * 100);
    line += numbers + words_;
    if (share_ >= kNearlyAll) {
      std::snprintf(numbers, sizeof numbers, "  finishing, %.0f s", seconds);
      line += numbers;
    } else if (seconds > 2 && share_ > 0) {
      std::snprintf(numbers, sizeof numbers, "  %.0f s left", seconds / share_ * (1 - share_));
      line += numbers;
    }
  }
  line += "\x1b[K";
  std::fputs(line.c_str(), stderr);
  shown_ = true;
}

Progress::Progress(bool enabled, std::vector<std::uint64_t> sizes)
    : line_(enabled, "reading"),
      sizes_(std::move(sizes)),
      done_(sizes_.size()),
      total_(std::accumulate(sizes_.begin(), sizes_.end(), std::uint64_t{0})) {}

void Progress::update(std::size_t input, std::uint64_t bytes_done) {
  done_[input].store(bytes_done, std::memory_order_relaxed);
  std::uint64_t done = 0;
  for (const auto& bytes : done_) done += bytes.load(std::memory_order_relaxed);
  line_.update(total_ == 0 ? 0 : static_cast<double>(done) / static_cast<double>(total_), [&] {
    return std::to_string(files_done_.load(std::memory_order_relaxed)) + " of " + std::to_string(sizes_.size()) +
           " files  " + report::bytes_text(static_cast<std::int64_t>(done)) + " of " +
           report::bytes_text(static_cast<std::int64_t>(total_));
  });
}

void Progress::finished(std::size_t input) {
  files_done_.fetch_add(1, std::memory_order_relaxed);
  update(input, sizes_[input]);
}

}  // namespace snapdiff::cli
