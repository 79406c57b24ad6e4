#include "analyzer/cli/progress.hpp"

#include <cstdio>
#include <numeric>
#include <utility>

#include "analyzer/report/report.hpp"

namespace snapdiff::cli {

using namespace std::chrono_literals;

ProgressLine::ProgressLine(bool enabled, std::string verb)
    : enabled_(enabled), verb_(std::move(verb)), start_(std::chrono::steady_clock::now()), last_drawn_(start_) {}

ProgressLine::~ProgressLine() {
  if (shown_) std::fputs("\r\x1b[K", stderr);
}

bool ProgressLine::is_due() {
  if (!enabled_) return false;
  const auto now = std::chrono::steady_clock::now();
  if (now - start_ < 333ms || now - last_drawn_ < 100ms) return false;
  last_drawn_ = now;
  return true;
}

void ProgressLine::draw(double share, const std::string& words) {
  constexpr int kCells = 24;
  const int filled = static_cast<int>(share * kCells);
  std::string line = "\r" + verb_ + "  ";
  for (int cell = 0; cell < kCells; ++cell) line += cell < filled ? "#" : ".";
  char numbers[64];
  std::snprintf(numbers, sizeof numbers, " %3.0f %%  ", share * 100);
  line += numbers + words;
  if (const auto elapsed = last_drawn_ - start_; elapsed > 2s && share > 0) {
    const double seconds = std::chrono::duration<double>(elapsed).count();
    std::snprintf(numbers, sizeof numbers, "  %.0f s left", seconds / share * (1 - share));
    line += numbers;
  }
  line += "\x1b[K";
  std::fputs(line.c_str(), stderr);
  shown_ = true;
}

Progress::Progress(bool enabled, std::vector<std::uint64_t> sizes)
    : line_(enabled, "import"),
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
