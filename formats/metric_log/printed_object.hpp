#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/metric_log/log_session.hpp"
#include "formats/text/log_lines.hpp"

/// Objects as languages print them: `{ rss: 4935680, heap: '12 MB' }` of JavaScript, `{:heap_live_slots=>9500}` of
/// Ruby,
/// `{Alloc:12 Sys:34}` of Go, `Stats { physical_mem: 5 }` of Rust, `[total: 35]` of Elixir, and JSON.
namespace snapdiff::formats::metric_log {

/// The lines of a log: an object that is printed over several of them is one line, and so is each object of a list.
class ObjectLines {
 public:
  /// `joins` false: each line by itself, as expressions of the user want them.
  ObjectLines(text::LogLines& lines, bool joins) : lines_(lines), joins_(joins) {}

  /// The next line, valid until the next call; false at the end.
  bool next(LogLine& line);
  /// Objects that were put together, and beginnings of one that were none.
  std::size_t objects() const { return objects_; }
  std::size_t broken() const { return broken_; }

 private:
  struct Line {
    std::string text;
    std::uint64_t offset = 0;
    bool terminated = true;
  };
  /// Takes the line into the object that is open, or opens one. False where the line belongs to none.
  bool take(const LogLine& line);
  bool read_brackets(std::string_view text);
  bool split(const LogLine& line);
  void give_up();

  text::LogLines& lines_;
  bool joins_;
  std::vector<Line> open_;      // of an object that has not ended
  std::vector<char> brackets_;  // that are open
  std::size_t bytes_ = 0, objects_ = 0, broken_ = 0;
  std::deque<Line> ready_;
  Line current_;
};

/// The object that the text ends with, as JSON; nothing where it ends with none, and where more is said in front of it.
/// A value that is neither a number nor a text becomes null.
std::optional<std::string> json_of_printed(std::string_view text);

}  // namespace snapdiff::formats::metric_log
