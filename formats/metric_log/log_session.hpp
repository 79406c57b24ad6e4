#pragma once

#include "formats/metric_log/metric_text.hpp"
#include "formats/metric_log/recorder.hpp"
#include "formats/text/pattern.hpp"
#include "formats/text/time_stamp.hpp"

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

struct LogLine {
  std::string_view text;     ///< without its end and without colours; valid until the next call
  std::uint64_t offset = 0;  ///< of its first byte in the input
  bool terminated = true;    ///< only the last line of an input can be without an end
};

/// Step of a line: the number after step, iter, iteration or it; else after batch or idx; else after
/// epoch.
struct Step {
  std::int64_t number = 0;
  std::size_t end = 0;  ///< after the number
};
std::optional<Step> find_step(std::string_view line);

/// Number of a thread in a log prefix ("Thread-3", "[tid 17]"), or "".
std::string_view find_thread(std::string_view prefix);

/// Adds what a user's own expression finds in a line to the tags of its counters.
class LineTags {
 public:
  /// Throws Failure: usage.
  explicit LineTags(const std::string& expression);
  void tags_of(std::string_view line, std::vector<std::pair<std::string, std::string>>& tags) const;

 private:
  std::unique_ptr<const RE2> expression_;
  std::vector<std::pair<std::string, int>> keys_;
};

/// What the matchers share while a log is read.
class Session {
 public:
  Session(bool decimal_units, const LineTags* tags) : decimal_units_(decimal_units), tags_(tags) {}

  Recorder& recorder() { return recorder_; }
  const Recorder& recorder() const { return recorder_; }
  Notes& notes() { return recorder_.notes(); }
  /// Of readings that words of the vocabulary name; of all of them.
  Evidence& evidence() { return evidence_; }
  Evidence& weak_evidence() { return weak_evidence_; }
  bool decimal_units() const { return decimal_units_; }
  bool has_tags() const { return tags_ != nullptr; }

  /// Facts of a metric line: its step and time, or those of the line just before and of the last line
  /// with a time, each used once.
  LineFacts facts_of(const LogLine& line);

  /// The line before the current one, cut to kPreviousBytes.
  std::string_view previous() const { return previous_; }
  /// To be called after each line.
  void passed(const LogLine& line, bool was_taken);

 private:
  static constexpr std::size_t kPreviousBytes = 512;

  bool decimal_units_;
  const LineTags* tags_;
  Recorder recorder_;
  Evidence evidence_, weak_evidence_;
  std::string previous_;
  bool previous_was_taken_ = false;
  std::optional<std::int64_t> carried_time_ns_;
  bool told_zone_ = false;
};

/// One kind of metric line or block.
class Matcher {
 public:
  virtual ~Matcher() = default;
  /// True when the line belonged to it. Offered every line until one matcher takes it.
  virtual bool take(const LogLine& line, Session& session) = 0;
  /// The input has ended.
  virtual void finish(Session& /*session*/) {}
};

std::unique_ptr<Matcher> make_torchsharp_matcher();
std::unique_ptr<Matcher> make_memory_summary_matcher();
std::unique_ptr<Matcher> make_memory_dict_matcher();
std::unique_ptr<Matcher> make_memory_info_matcher();
std::unique_ptr<Matcher> make_gc_log_matcher();
std::unique_ptr<Matcher> make_mprof_matcher();
std::unique_ptr<Matcher> make_oom_message_matcher();
std::unique_ptr<Matcher> make_profiler_table_matcher();
std::unique_ptr<Matcher> make_csv_table_matcher();
std::unique_ptr<Matcher> make_word_table_matcher();
std::unique_ptr<Matcher> make_json_line_matcher();
std::unique_ptr<Matcher> make_plain_line_matcher();
std::unique_ptr<Matcher> make_printed_object_matcher();

/// Matches a user's own expressions; those without a name are the counters value, value2, ... Throws Failure:
/// usage.
std::unique_ptr<Matcher> make_pattern_matcher(const std::vector<std::string>& expressions);

}  // namespace snapdiff::formats::metric_log
