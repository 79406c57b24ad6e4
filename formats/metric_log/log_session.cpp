#include "formats/metric_log/log_session.hpp"

#include "formats/metric_log/metric_text.hpp"
#include "formats/text/time_stamp.hpp"

namespace snapdiff::formats::metric_log {
namespace {

constexpr std::size_t kMostHeadings = 64;  // levels of indentation; deeper ones count as this one
constexpr std::size_t kMostForms = 4096;   // of one text; a log repeats one of its first ones
constexpr std::size_t kHashedBytes = 512;  // of a line
constexpr std::size_t kRises = 3;          // lines after the first; two rows of a table may be in order by chance
constexpr std::size_t kBlankLines = 2;     // lines without a number beside each line with one in a text of numbers
constexpr std::uint64_t kFnvOffset = 0xcbf29ce484222325ULL, kFnvPrime = 0x100000001b3ULL;  // FNV-1a, 64 bits

std::size_t indent_of(std::string_view line) {
  std::size_t indent = 0;
  while (indent < line.size() && is_blank(line[indent])) ++indent;
  return indent;
}

/// Words without numbers and without the blanks that align them.
std::uint64_t hash_of_words(std::uint64_t hash, std::string_view text) {
  char before = ' ';
  for (const char c : text.substr(0, kHashedBytes)) {
    if (is_digit(c) || (is_blank(c) && is_blank(before))) continue;
    hash = (hash ^ static_cast<unsigned char>(c)) * kFnvPrime;
    before = c;
  }
  return hash;
}

/// The first number of at most 18 digits; -1 where there is none.
std::int64_t first_number(std::string_view text) {
  const auto begin = std::find_if(text.begin(), text.end(), is_digit);
  const auto end = std::find_if_not(begin, text.end(), is_digit);
  std::int64_t out = -1;
  if (end - begin > 0 && end - begin <= 18) out = 0;
  for (auto digit = begin; out >= 0 && digit != end; ++digit) out = out * 10 + (*digit - '0');
  return out;
}

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
  if (!parse_whole(line.substr(i, end - i), step.number)) return std::nullopt;
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
  std::string_view digits;
  const auto has_number = [&digits](std::string_view rest) {
    if (rest.starts_with("Id") || rest.starts_with("ID")) rest.remove_prefix(2);
    digits = digits_behind_signs(rest, "-:=#_");
    return !digits.empty() && (digits.end() == rest.end() || !is_word(*digits.end()));
  };
  return behind_word(prefix, "thread", has_number) || behind_word(prefix, "tid", has_number) ? digits
                                                                                             : std::string_view();
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

std::uint64_t Evidence::heading_above(std::size_t indent) const {
  for (std::size_t i = headings_.size(); i-- > 0;) {
    if (headings_[i].indent < indent) return headings_[i].hash;
  }
  return kFnvOffset;
}

void Evidence::reading(std::string_view name, std::string_view line, std::size_t number, const LineFacts& facts) {
  is_metric_line_ = true;
  if (is_sure_) return;
  const std::size_t indent = indent_of(line);
  is_flat_ = is_flat_ && indent == 0;
  if (names_.size() < kMostForms || names_.contains(name)) {
    const auto [at, is_new] = names_.try_emplace(std::string(name));
    Met& met = at->second;
    met_again_ = met_again_ || !is_new;
    // A step or time that advances orders the readings; equal ones are several values of one moment.
    is_sure_ = is_sure_ || (facts.step && met.has_step && *facts.step > met.step) ||
               (facts.time_ns && met.has_time && *facts.time_ns > met.time_ns);
    if (facts.step) met.step = *facts.step, met.has_step = true;
    if (facts.time_ns) met.time_ns = *facts.time_ns, met.has_time = true;
  }
  std::uint64_t form = hash_of_words(heading_above(indent), line.substr(0, number));
  form = hash_of_words(form, name);
  if (forms_.size() >= kMostForms && !forms_.contains(form)) return;
  const std::int64_t before = first_number(line.substr(0, number));
  const auto [at, is_new] = forms_.try_emplace(form);
  Form& met = at->second;
  // A number that rises counts lines as a step does; others may name the rows of a table ("8m:", "4m:").
  met.rises = !is_new && before > met.number ? met.rises + 1 : 0;
  is_sure_ = is_sure_ || (!is_new && before == met.number) || met.rises >= kRises;
  met.number = before;
}

void Evidence::line_ended(std::string_view line) {
  const std::size_t indent = indent_of(line);
  if (indent == line.size()) return;
  ++lines_;
  metric_lines_ += is_metric_line_ ? 1 : 0;
  is_metric_line_ = false;
  if (is_sure_) return;
  while (!headings_.empty() && headings_.back().indent >= indent) headings_.pop_back();
  const std::uint64_t above = headings_.empty() ? kFnvOffset : headings_.back().hash;
  if (headings_.size() < kMostHeadings) headings_.push_back({indent, hash_of_words(above, line.substr(indent))});
}

bool Evidence::is_log() const { return is_sure_ || (met_again_ && is_flat_ && metric_lines_ * kBlankLines >= lines_); }

}  // namespace snapdiff::formats::metric_log
