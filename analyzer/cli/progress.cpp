#include "analyzer/cli/progress.hpp"

#include <cstdio>
#include <numeric>
#include <utility>

#include "analyzer/report/report.hpp"

namespace snapdiff::cli {

using namespace std::chrono_literals;

Progress::Progress(bool enabled, std::vector<std::uint64_t> sizes)
    : enabled_(enabled),
      sizes_(std::move(sizes)),
      done_(sizes_.size()),
      total_(std::accumulate(sizes_.begin(), sizes_.end(), std::uint64_t{0})),
      start_(std::chrono::steady_clock::now()),
      last_drawn_(start_) {}

Progress::~Progress() {
  if (shown_) std::fputs("\r\x1b[K", stderr);
}

void Progress::update(std::size_t input, std::uint64_t bytes_done) {
  if (!enabled_) return;
  done_[input].store(bytes_done, std::memory_order_relaxed);
  draw();
}

void Progress::finished(std::size_t input) {
  files_done_.fetch_add(1, std::memory_order_relaxed);
  update(input, sizes_[input]);
}

void Progress::draw() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  const auto now = std::chrono::steady_clock::now();
  const auto elapsed = now - start_;
  if (elapsed < 333ms || now - last_drawn_ < 100ms) return;
  last_drawn_ = now;
  std::uint64_t done = 0;
  for (const auto& bytes : done_) done += bytes.load(std::memory_order_relaxed);
  const double share = total_ == 0 ? 0 : static_cast<double>(done) / static_cast<double>(total_);
  constexpr int kCells = 24;
  const int filled = static_cast<int>(share * kCells);
  std::string line = "\rimport  ";
  for (int cell = 0; cell < kCells; ++cell) line += cell < filled ? "#" : ".";
  char numbers[96];
  std::snprintf(numbers, sizeof numbers, " %3.0f %%  %zu of %zu files  ", share * 100,
                files_done_.load(std::memory_order_relaxed), sizes_.size());
  line += numbers;
  line += report::bytes_text(static_cast<std::int64_t>(done)) + " of " +
          report::bytes_text(static_cast<std::int64_t>(total_));
  if (elapsed > 2s && share > 0) {
    const double seconds = std::chrono::duration<double>(elapsed).count();
    std::snprintf(numbers, sizeof numbers, "  %.0f s left", seconds / share * (1 - share));
    line += numbers;
  }
  line += "\x1b[K";
  std::fputs(line.c_str(), stderr);
  shown_ = true;
}

}  // namespace snapdiff::cli
