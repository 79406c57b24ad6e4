#pragma once

#include <unordered_set>

#include "formats/tracker_lines/json_line.hpp"

namespace snapdiff::formats::tracker_lines {

constexpr std::size_t kMostUnknownKeys = 32;

constexpr std::size_t kShownKeyBytes = 64;

inline std::string rule_text(Rule rule) { return "rule " + std::to_string(static_cast<int>(rule)); }

inline std::string with_detail(const std::string& text, const std::string& detail) {
  return detail.empty() ? text : text + ": " + detail;
}

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
  void bad_line(const LineError& error) {
    has_bad_line_ = true;
    add(Severity::data_loss, "line dropped: " + error.text, 1, line_);
    lose(error.rule, error.text, error.detail, line_);
    if (++bad_lines_ > kMostBadLines && !tell_)
      fail(ErrorCode::malformed, "more than " + std::to_string(kMostBadLines) + " bad lines, the first: " + first_loss_,
           offset_);
  }

  /// Anything else that is lost; `line` where it is not the current one. Throws Failure when the sink says so.
  void loss(Rule rule, const std::string& text, const std::string& detail = {}, std::uint64_t line = 0) {
    const std::uint64_t where = line == 0 ? line_ : line;
    add(Severity::data_loss, text, 1, where);
    lose(rule, text, detail, where);
  }

  /// Changes nothing in what is read. Each text is reported once.
  void remark(Severity severity, Rule rule, const std::string& text, std::uint64_t count = 1) {
    add(severity, text, count, line_);
    if (tell_ && told_.insert(text).second) tell_({severity, line_, offset_, rule_text(rule), text});
  }

  /// A key that is not one of the format's, of a kind of lines; at most kMostUnknownKeys are named.
  void unknown_key(std::string_view kind, std::string_view key) {
    std::string text =
        std::string(kind).append(": unknown key ").append(key.substr(0, kShownKeyBytes)).append(" ignored");
    if (!unknown_keys_.contains(text)) {
      if (unknown_keys_.size() == kMostUnknownKeys) {
        text = "further unknown keys ignored";
      } else {
        unknown_keys_.insert(text);
      }
    }
    remark(Severity::warning, Rule::key, text);
  }

  /// Whether a line was dropped since take_notes().
  bool has_bad_line() const { return has_bad_line_; }

  /// All remarks since the last call, in order of their first appearance.
  Notes take_notes() {
    Notes notes;
    for (const Remark& remark : std::exchange(remarks_, {}))
      notes.add(remark.severity,
                remark.line == 0
                    ? remark.text
                    : remark.text + (remark.count > 1 ? ", first on line " : ", line ") + std::to_string(remark.line),
                remark.offset, remark.count);
    has_bad_line_ = false;
    return notes;
  }

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
  void add(Severity severity, std::string_view text, std::uint64_t count, std::uint64_t line) {
    for (Remark& remark : remarks_) {
      if (remark.severity == severity && remark.text == text) {
        remark.count += count;
        return;
      }
    }
    remarks_.push_back({severity, std::string(text), count, line, offset_});
  }

  void lose(Rule rule, const std::string& text, const std::string& detail, std::uint64_t line) {
    const std::string whole = with_detail(text, detail);
    if (first_loss_.empty()) first_loss_ = "line " + std::to_string(line) + ": " + whole;
    if (!tell_) return;
    if (!tell_({Severity::data_loss, line, offset_, rule_text(rule), whole}))
      fail(ErrorCode::malformed, "line " + std::to_string(line) + " (" + rule_text(rule) + "): " + whole, offset_);
  }

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
