#include "formats/metric_log/log_evidence.hpp"

#include <algorithm>

#include "formats/metric_log/metric_text.hpp"

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

}  // namespace

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
