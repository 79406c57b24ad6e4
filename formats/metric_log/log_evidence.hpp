#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "formats/metric_log/recorder.hpp"

namespace snapdiff::formats::metric_log {

/// Decides whether the numbers of a text are a series. A log says the same again: a counter is met again at a later
/// step or time, or the words in front of its number repeat below equal headings, or the text holds little but such
/// lines. A document (a manifest, a report by category) uses a word again for another thing, below another heading.
class Evidence {
 public:
  /// A number of `line`, which begins at `number`.
  void reading(std::string_view name, std::string_view line, std::size_t number, const LineFacts& facts);
  /// After each line, with its readings.
  void line_ended(std::string_view line);

  bool is_log() const;

 private:
  struct Heading {
    std::size_t indent;
    std::uint64_t hash;  ///< of its words and of those of the headings above it
  };
  struct Met {
    std::int64_t step = 0, time_ns = 0;
    bool has_step = false, has_time = false;
  };
  std::uint64_t heading_above(std::size_t indent) const;

  std::vector<Heading> headings_;
  /// Words that were met in front of a number, with the first number among them.
  struct Form {
    std::int64_t number = -1;  ///< of the last line; -1: none
    std::size_t rises = 0;     ///< lines since the number last stayed or fell
  };
  std::map<std::uint64_t, Form> forms_;
  std::map<std::string, Met, std::less<>> names_;
  std::size_t lines_ = 0, metric_lines_ = 0;
  bool is_metric_line_ = false, is_sure_ = false, met_again_ = false, is_flat_ = true;
};

}  // namespace snapdiff::formats::metric_log
