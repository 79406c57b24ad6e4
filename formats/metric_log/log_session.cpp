#include "formats/metric_log/log_session.hpp"

#include <array>
#include <optional>

#include "formats/metric_log/metric_text.hpp"
#include "formats/text/time_stamp.hpp"

namespace snapdiff::formats::metric_log {
namespace {

struct StepWord {
  std::string_view word;
  int rank;  // the finest wins: a step of an epoch, not the epoch
};
constexpr std::array<StepWord, 7> kStepWords = {
    {{"step", 3}, {"iter", 3}, {"iteration", 3}, {"it", 3}, {"batch", 2}, {"idx", 2}, {"epoch", 1}}};

int step_rank(std::string_view word) {
  for (const StepWord& each : kStepWords) {
    if (word.size() == each.word.size() && find_ignoring_case(word, each.word) == 0) return each.rank;
  }
  return 0;
}

/// The number after a step word that ends at `at`: "step 3", "Step [3/10]", "iter=3", "epoch: 3".
std::optional<Step> number_behind(std::string_view line, std::size_t at) {
  std::size_t i = at;
  while (i < line.size() && i < at + 6 && (is_blank(line[i]) || contains(":=#[(_\"'", line.substr(i, 1)))) ++i;
  std::size_t end = i;
  while (end < line.size() && is_digit(line[end])) ++end;
  Step step;
  if (!parse_integer(line.substr(i, end - i), step.number)) return std::nullopt;
  if (end < line.size()) {
    const bool has_fraction = line[end] == '.' && end + 1 < line.size() && is_digit(line[end + 1]);
    if (has_fraction || is_word(line[end]) || line[end] == '%') return std::nullopt;
  }
  step.end = end;
  return step;
}

}  // namespace

std::optional<Step> find_step(std::string_view line) {
  std::optional<Step> best;
  int best_rank = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (!is_letter(line[i]) || (i > 0 && is_letter(line[i - 1]))) continue;
    std::size_t end = i;
    while (end < line.size() && is_letter(line[end])) ++end;
    const bool is_inside_name =
        i > 0 && (is_digit(line[i - 1]) || (line[i - 1] == '_' && !(i > 6 && line.substr(i - 7, 6) == "global")));
    const int rank = is_inside_name ? 0 : step_rank(line.substr(i, end - i));
    if (rank > best_rank) {
      if (const std::optional<Step> step = number_behind(line, end)) {
        best = step;
        best_rank = rank;
      }
    }
    i = end - 1;
  }
  return best;
}

std::string_view find_thread(std::string_view prefix) {
  for (const std::string_view word : {std::string_view("thread"), std::string_view("tid")}) {
    for (std::size_t at = find_ignoring_case(prefix, word); at != std::string_view::npos;
         at = find_ignoring_case(prefix, word, at + 1)) {
      if (at > 0 && is_letter(prefix[at - 1])) continue;
      std::size_t i = at + word.size();
      if (prefix.substr(i).starts_with("Id") || prefix.substr(i).starts_with("ID")) i += 2;
      const std::size_t separator = i;
      while (i < prefix.size() && i < separator + 3 && (is_blank(prefix[i]) || contains("-:=#_", prefix.substr(i, 1))))
        ++i;
      std::size_t end = i;
      while (end < prefix.size() && is_digit(prefix[end])) ++end;
      if (end > i && (end == prefix.size() || !is_word(prefix[end]))) return prefix.substr(i, end - i);
    }
  }
  return {};
}

LineFacts Session::facts_of(const LogLine& line) {
  LineFacts facts;
  facts.offset = line.offset;
  std::optional<Step> step = find_step(line.text);
  if (!step && !previous_was_taken_) step = find_step(previous_);
  if (step) facts.step = step->number;
  if (const std::optional<TimeStamp> time = find_time(line.text)) {
    facts.time_ns = time->ns;
    if (!time->has_zone && !told_zone_) {
      notes().add(Severity::info, "times of the log have no zone and are taken as UTC", line.offset);
      told_zone_ = true;
    }
  } else {
    facts.time_ns = carried_time_ns_;
  }
  carried_time_ns_.reset();
  if (tags_ != nullptr) tags_->tags_of(line.text, facts.tags);
  return facts;
}

void Session::passed(const LogLine& line, bool was_taken) {
  // A rule says nothing, and is between a table and the line that introduces it.
  const bool is_rule =
      !line.text.empty() && line.text.find_first_not_of("|=-+ ") == std::string_view::npos && !was_taken;
  if (is_rule) return;
  previous_ = was_taken ? std::string_view() : line.text.substr(0, kPreviousBytes);
  previous_was_taken_ = was_taken;
  if (was_taken || line.text.empty()) return;
  const char first = line.text.front();
  if (!is_digit(first) && first != '[') return;
  if (const std::optional<TimeStamp> time = find_time(line.text)) carried_time_ns_ = time->ns;
}

}  // namespace snapdiff::formats::metric_log
