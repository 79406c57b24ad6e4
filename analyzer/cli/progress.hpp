#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "analyzer/cli/terminal.hpp"
#include "analyzer/session/request.hpp"

namespace snapdiff::cli {

/// One rewritten line on stderr while something named goes on: a bar with what is done and the time left where that is
/// known, else the time since it began; wiped at the end. Redrawn twice a second whether anything was reported or not.
/// Shows nothing when all is done within a third of a second. Thread-safe.
class ProgressLine : public session::Stage {
 public:
  /// `stage`: "import", "comparing".
  explicit ProgressLine(std::string stage);
  ~ProgressLine() override;

  /// words() is only called when it is time for a new line.
  void update(double share, const std::function<std::string()>& words) override;

 private:
  using Clock = std::chrono::steady_clock;
  bool is_due() const;
  void draw();
  void tick(const std::stop_token& stop);

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

/// Shows stages on stderr where that is a terminal.
session::Watch watch_of(const Terminal& terminal);

}  // namespace snapdiff::cli
