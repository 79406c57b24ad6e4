#include "formats/tracker_lines/journal.hpp"

namespace snapdiff::formats::tracker_lines {
namespace {

constexpr std::size_t kMostUnknownKeys = 32;
constexpr std::size_t kShownKeyBytes = 64;

std::string rule_text(Rule rule) { return "rule " + std::to_string(static_cast<int>(rule)); }

std::string with_detail(const std::string& text, const std::string& detail) {
  return detail.empty() ? text : text + ": " + detail;
}

}  // namespace

void Journal::add(Severity severity, std::string_view text, std::uint64_t count, std::uint64_t line) {
  for (Remark& remark : remarks_) {
    if (remark.severity == severity && remark.text == text) {
      remark.count += count;
      return;
    }
  }
  remarks_.push_back({severity, std::string(text), count, line, offset_});
}

void Journal::lose(Rule rule, const std::string& text, const std::string& detail, std::uint64_t line) {
  const std::string whole = with_detail(text, detail);
  if (first_loss_.empty()) first_loss_ = "line " + std::to_string(line) + ": " + whole;
  if (!tell_) return;
  if (!tell_({Severity::data_loss, line, offset_, rule_text(rule), whole}))
    fail(ErrorCode::malformed, "line " + std::to_string(line) + " (" + rule_text(rule) + "): " + whole, offset_);
}

void Journal::bad_line(const LineError& error) {
  has_bad_line_ = true;
  add(Severity::data_loss, "line dropped: " + error.text, 1, line_);
  lose(error.rule, error.text, error.detail, line_);
  if (++bad_lines_ > kMostBadLines && !tell_)
    fail(ErrorCode::malformed, "more than " + std::to_string(kMostBadLines) + " bad lines, the first: " + first_loss_,
         offset_);
}

void Journal::loss(Rule rule, const std::string& text, const std::string& detail, std::uint64_t line) {
  const std::uint64_t where = line == 0 ? line_ : line;
  add(Severity::data_loss, text, 1, where);
  lose(rule, text, detail, where);
}

void Journal::remark(Severity severity, Rule rule, const std::string& text, std::uint64_t count) {
  add(severity, text, count, line_);
  if (tell_ && told_.insert(text).second) tell_({severity, line_, offset_, rule_text(rule), text});
}

void Journal::unknown_key(std::string_view kind, std::string_view key) {
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

Notes Journal::take_notes() {
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

}  // namespace snapdiff::formats::tracker_lines
