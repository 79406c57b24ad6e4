#include "analyzer/cli/progress.hpp"

#include <cstdio>
#include <memory>
#include <utility>

namespace snapdiff::cli {

using namespace std::chrono_literals;

ProgressLine::ProgressLine(std::string stage) : stage_(std::move(stage)), start_(Clock::now()), last_drawn_(start_) {
  ticker_ = std::jthread([this](const std::stop_token& stop) { tick(stop); });
}

ProgressLine::~ProgressLine() {
  ticker_.request_stop();
  ticker_.join();
  if (shown_) std::fputs("\r\x1b[K", stderr);
}

void ProgressLine::update(double share, const std::function<std::string()>& words) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || !is_due()) return;
  share_ = share;
  words_ = words();
  draw();
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

session::Watch watch_of(const Terminal& terminal) {
  if (!terminal.stderr_is_terminal) return {};
  return [](const char* name) { return std::make_unique<ProgressLine>(name); };
}

}  // namespace snapdiff::cli
