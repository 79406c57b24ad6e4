#pragma once

#include <unordered_set>

#include "formats/tracker_lines/json_line.hpp"

namespace snapdiff::formats::tracker_lines {

/// Bad lines that one input may have; the next one ends the import (not a check).
inline constexpr std::uint64_t kMostBadLines = 100;

/// What is wrong with an input: remarks collect here until a snapshot takes them, and each is reported to whoever
/// checks the file. Texts that count as one must be equal.
class Journal {
 public:
  explicit Journal(const ViolationSink& tell) : tell_(tell) {}

  /// Where the following remarks are met.
  void at(std::uint64_t line, std::uint64_t offset) {
    line_ = line;
    offset_ = offset;
  }
  std::uint64_t line() const { return line_; }
  std::uint64_t offset() const { return offset_; }

  /// A line that is dropped. Throws Failure after too many, or when the sink says so.
  void bad_line(const LineError& error);

  /// Anything else that is lost; `line` where it is not the current one. Throws Failure when the sink says so.
  void loss(Rule rule, const std::string& text, const std::string& detail = {}, std::uint64_t line = 0);

  /// Changes nothing in what is read. Each text is reported once.
  void remark(Severity severity, Rule rule, const std::string& text, std::uint64_t count = 1);

  /// A key that is not one of the format's, of a kind of lines; at most kMostUnknownKeys are named.
  void unknown_key(std::string_view kind, std::string_view key);

  /// Whether a line was dropped since take_notes().
  bool has_bad_line() const { return has_bad_line_; }

  /// All remarks since the last call, in order of their first appearance.
  Notes take_notes();

  /// The first loss of all, as one line; "" when nothing was lost.
  const std::string& first_loss() const { return first_loss_; }

 private:
  struct Remark {
    Severity severity;
    std::string text;
    std::uint64_t count;
    std::uint64_t line;
    std::uint64_t offset;
  };
  void add(Severity severity, std::string_view text, std::uint64_t count, std::uint64_t line);
  void lose(Rule rule, const std::string& text, const std::string& detail, std::uint64_t line);

  const ViolationSink& tell_;
  std::vector<Remark> remarks_;
  std::unordered_set<std::string, KeyedHash> told_;
  std::unordered_set<std::string, KeyedHash> unknown_keys_;
  std::string first_loss_;
  std::uint64_t line_ = 0;
  std::uint64_t offset_ = 0;
  std::uint64_t bad_lines_ = 0;
  bool has_bad_line_ = false;
};

}  // namespace snapdiff::formats::tracker_lines
