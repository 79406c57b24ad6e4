#include "formats/input/read_failure.hpp"
#include "formats/metric_log/log_session.hpp"

namespace snapdiff::formats::metric_log {
namespace {

constexpr int kMostGroups = 32;

/// Throws Failure: usage.
std::unique_ptr<const RE2> compile(std::string_view option, const std::string& expression) {
  auto compiled = std::make_unique<const RE2>(expression, byte_options());
  const std::string said = std::string(option) + " '" + expression + "': ";
  if (!compiled->ok()) fail(ErrorCode::usage, said + compiled->error());
  if (compiled->NumberOfCapturingGroups() > kMostGroups)
    fail(ErrorCode::usage, said + "expected at most " + std::to_string(kMostGroups) + " groups");
  return compiled;
}

/// A user's own expression, compiled once.
struct UserPattern {
  /// `number` distinguishes patterns without a name: their counters are value, value2, ...
  UserPattern(const std::string& text, std::size_t number)
      : expression(compile("--pattern", text)),
        default_name(number == 0 ? "value" : "value" + std::to_string(number + 1)) {
    for (const auto& [group_name, group] : expression->NamedCapturingGroups()) {
      int* const known = group_name == "value"                               ? &value
                         : group_name == "name"                              ? &name
                         : group_name == "unit"                              ? &unit
                         : group_name == "time"                              ? &time
                         : group_name == "step" || group_name == "iteration" ? &step
                                                                             : nullptr;
      if (known != nullptr) {
        *known = group;
      } else {
        tags.emplace_back(group_name, group);
      }
    }
    if (value == 0 && expression->NumberOfCapturingGroups() == 1 && expression->NamedCapturingGroups().empty())
      value = 1;
    if (value == 0)
      fail(ErrorCode::usage, "--pattern '" + text +
                                 "': no group called value, expected e.g. '(?P<name>rss)=(?P<value>[0-9.]+) *"
                                 "(?P<unit>[KMG]i?B)'");
  }

  std::unique_ptr<const RE2> expression;
  std::string default_name;
  int value = 0, name = 0, unit = 0, time = 0, step = 0;  // groups; 0 = none
  std::vector<std::pair<std::string, int>> tags;
};

class PatternMatcher final : public Matcher {
 public:
  explicit PatternMatcher(const std::vector<std::string>& expressions) {
    for (const std::string& expression : expressions) patterns_.emplace_back(expression, patterns_.size());
  }

  bool take(const LogLine& line, Session& session) override {
    bool taken = false;
    for (const UserPattern& pattern : patterns_) taken = match(pattern, line, session) || taken;
    return taken;
  }

 private:
  static bool match(const UserPattern& pattern, const LogLine& line, Session& session) {
    const int groups = 1 + pattern.expression->NumberOfCapturingGroups();
    re2::StringPiece found[kMostGroups + 1];
    std::vector<Reading> readings;
    LineFacts facts;
    std::size_t at = 0;
    // All matches of a line are one batch: their step and time are those of the first one that has them.
    while (readings.size() < kMaxSeries && at <= line.text.size() &&
           pattern.expression->Match(piece(line.text), at, line.text.size(), RE2::UNANCHORED, found, groups)) {
      const std::string_view whole = view(found[0]);
      const auto begin = static_cast<std::size_t>(whole.data() - line.text.data());
      at = std::max(begin + whole.size(), at + 1);
      if (readings.empty()) facts = facts_of(pattern, found, line, session);
      if (std::optional<Reading> reading = read(pattern, found, session, line)) readings.push_back(std::move(*reading));
    }
    if (readings.empty()) return false;
    session.recorder().record(kPattern, facts, readings);
    return true;
  }

  static LineFacts facts_of(const UserPattern& pattern, const re2::StringPiece* found, const LogLine& line,
                            Session& session) {
    LineFacts facts = session.facts_of(line);
    if (pattern.step != 0) {
      std::int64_t step = 0;
      facts.step.reset();
      if (parse_whole(trim(view(found[pattern.step])), step)) facts.step = step;
    }
    if (pattern.time != 0) {
      facts.time_ns.reset();
      if (const std::optional<TimeStamp> time = parse_time(view(found[pattern.time]))) facts.time_ns = time->ns;
    }
    return facts;
  }

  static std::optional<Reading> read(const UserPattern& pattern, const re2::StringPiece* found, Session& session,
                                     const LogLine& line) {
    const std::string_view text = trim(view(found[pattern.value]));
    Decimal number;
    const std::size_t end = parse_decimal(text, 0, number);
    std::string_view unit = pattern.unit != 0 ? trim(view(found[pattern.unit])) : std::string_view();
    if (unit.empty() && end != 0) unit = trim(text.substr(end));
    const std::uint64_t bytes = size_unit(unit, session.decimal_units());
    const std::optional<Quantity> quantity = scale(number, bytes == 0 ? 1 : bytes);
    if (end == 0 || !quantity) {
      session.notes().add(Severity::data_loss, "values of the pattern that are no numbers were left out", line.offset);
      return std::nullopt;
    }
    Reading reading;
    reading.name = pattern.name != 0 ? std::string(trim(view(found[pattern.name]))) : pattern.default_name;
    if (reading.name.empty()) reading.name = pattern.default_name;
    for (const auto& [key, group] : pattern.tags) {
      if (!found[group].empty()) reading.name = with_tag(reading.name, key, view(found[group]));
    }
    reading.unit = bytes != 0 ? "bytes" : unit.empty() ? "count" : std::string(unit);
    reading.quantity = *quantity;
    return reading;
  }

  std::vector<UserPattern> patterns_;
};

}  // namespace

std::unique_ptr<Matcher> make_pattern_matcher(const std::vector<std::string>& expressions) {
  return std::make_unique<PatternMatcher>(expressions);
}

LineTags::LineTags(const std::string& expression) : expression_(compile("--group-by", expression)) {
  const auto& names = expression_->CapturingGroupNames();
  for (int group = 1; group <= expression_->NumberOfCapturingGroups(); ++group) {
    const auto found = names.find(group);
    if (found != names.end()) {
      keys_.emplace_back(found->second, group);
    } else if (keys_.empty()) {
      keys_.emplace_back("thread", group);
    }
  }
  if (keys_.empty()) keys_.emplace_back("thread", 0);
}

void LineTags::tags_of(std::string_view line, std::vector<std::pair<std::string, std::string>>& tags) const {
  re2::StringPiece found[kMostGroups + 1];
  if (!expression_->Match(piece(line), 0, line.size(), RE2::UNANCHORED, found,
                          1 + expression_->NumberOfCapturingGroups()))
    return;
  for (const auto& [key, group] : keys_) {
    if (!found[group].empty()) tags.emplace_back(key, std::string(view(found[group])));
  }
}

}  // namespace snapdiff::formats::metric_log
