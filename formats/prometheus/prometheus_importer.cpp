#include <cmath>
#include <set>

#include "analyzer/base/contains.hpp"
#include "formats/json/json_walk.hpp"
#include "formats/text/counter_log.hpp"

namespace snapdiff::formats {
namespace {

/// A line of the text form: `go_memstats_alloc_bytes{instance="a"} 2.2e+07 1700000000000`. Views into it.
struct SampleLine {
  std::string_view name;
  std::string_view labels;  ///< between the braces
  std::string_view value;
  std::optional<std::int64_t> time_ms;
};

/// What # TYPE says of a metric; `unknown` without it.
enum class MetricType : std::uint8_t { unknown, gauge, counter, spread };

bool is_name_begin(char c) { return text::is_letter(c) || c == '_' || c == ':'; }
bool is_name_char(char c) { return is_name_begin(c) || text::is_digit(c); }

/// Where the braces that begin at `open` end: a text in quotes may hold one.
std::size_t closing_brace(std::string_view line, std::size_t open) {
  bool is_quoted = false;
  for (std::size_t i = open + 1; i < line.size(); ++i) {
    if (is_quoted && line[i] == '\\') {
      ++i;
    } else if (line[i] == '"') {
      is_quoted = !is_quoted;
    } else if (line[i] == '}' && !is_quoted) {
      return i;
    }
  }
  return std::string_view::npos;
}

bool ends_with_any(std::string_view name, std::initializer_list<std::string_view> ends) {
  return std::any_of(ends.begin(), ends.end(), [&](std::string_view end) { return name.ends_with(end); });
}

/// How many bytes one of the metric stands for, by its name's last word; 0 where it counts something else.
std::uint64_t bytes_per(std::string_view name) {
  if (name.ends_with("_total")) name.remove_suffix(6);
  if (name.ends_with("_bytes")) return 1;
  if (name.ends_with("_kilobytes") || name.ends_with("_kb")) return std::uint64_t{1} << 10;
  if (name.ends_with("_megabytes") || name.ends_with("_mb")) return std::uint64_t{1} << 20;
  return 0;
}

std::optional<SampleLine> sample_of(std::string_view line) {
  SampleLine out;
  std::size_t at = 0;
  if (line.empty() || !is_name_begin(line[0])) return std::nullopt;
  while (at < line.size() && is_name_char(line[at])) ++at;
  out.name = line.substr(0, at);
  if (at < line.size() && line[at] == '{') {
    const std::size_t close = closing_brace(line, at);
    if (close == std::string_view::npos) return std::nullopt;
    out.labels = line.substr(at + 1, close - at - 1);
    at = close + 1;
  }
  text::Cursor rest(line.substr(at));
  if (!rest.skip_blanks()) return std::nullopt;
  out.value = rest.token();
  text::Decimal number;
  const bool is_number = text::parse_decimal(out.value, 0, number) == out.value.size() && !out.value.empty();
  if (!is_number && out.value != "NaN" && out.value != "+Inf" && out.value != "-Inf") return std::nullopt;
  rest.skip_blanks();
  std::int64_t time = 0;
  if (rest.count(time)) out.time_ms = time;
  rest.skip_blanks();
  return rest.at_end() || rest.peek() == '#' ? std::optional(out) : std::nullopt;  // behind it an exemplar
}

/// `a="x",b="y"` as a counter's name has them: `{a=x,b=y}`; "" for none.
std::string labels_text(std::string_view labels) {
  std::string out;
  bool is_quoted = false;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const char c = labels[i];
    if (is_quoted && c == '\\' && i + 1 < labels.size()) {
      out += labels[++i];
    } else if (c == '"') {
      is_quoted = !is_quoted;
    } else if (is_quoted || !text::is_blank(c)) {
      out += c;
    }
  }
  while (out.ends_with(',')) out.pop_back();
  return out.empty() ? out : '{' + out + '}';
}

/// The counter of a metric, `name` being its own and `labels` as labels_text() has them. Nothing where it says nothing
/// about what is held: times, shares, distributions, events that are not bytes.
std::optional<Counter> counter_of(std::string_view name, std::string_view labels, std::string_view value,
                                  MetricType type) {
  if (type == MetricType::spread || ends_with_any(name, {"_bucket", "_sum", "_count", "_created"})) return std::nullopt;
  const std::uint64_t bytes = bytes_per(name);
  // An expression (sum by (pod) (...)) has no name.
  const bool is_held = bytes > 0 || type == MetricType::gauge || name.empty();
  if (!is_held || ends_with_any(name, {"_seconds", "_info", "_ratio", "_percent", "_timestamp", "_celsius"}))
    return std::nullopt;
  text::Decimal number;
  if (text::parse_decimal(value, 0, number) != value.size() || value.empty()) return std::nullopt;
  const std::optional<text::Quantity> scaled = text::scale(number, bytes == 0 ? 1 : bytes);
  if (!scaled) return std::nullopt;
  double exact = 0;
  std::from_chars(value.data(), value.data() + value.size(), exact);
  const bool is_whole = exact == std::floor(exact);
  if (bytes == 0 && !name.empty() && !is_whole) return std::nullopt;
  return Counter{.name = std::string(name.empty() ? "value" : name).append(labels),
                 .value = scaled->value,
                 .unit = bytes > 0 ? "bytes" : std::string(name.empty() ? "" : "count"),
                 .cumulative = type == MetricType::counter || name.ends_with("_total"),
                 .half_unit = is_whole && bytes <= 1 ? 0 : scaled->half_unit};
}

/// Series of one input: each is a name of a counter.
constexpr std::size_t kMostSeries = 20'000;
/// Moments of an answer, and values of all of them together: 96 MB, as of logs.
constexpr std::size_t kMostMoments = 10'000;
constexpr std::size_t kMostValues = std::size_t{1} << 22;

/// "# TYPE go_goroutines gauge"
std::optional<std::pair<std::string_view, MetricType>> type_of(std::string_view line) {
  text::Cursor at(line);
  if (!at.take("# TYPE ")) return std::nullopt;
  const std::string_view name = at.token();
  at.skip_blanks();
  const std::string_view word = at.token();
  if (name.empty()) return std::nullopt;
  if (word == "gauge") return std::pair(name, MetricType::gauge);
  if (word == "counter") return std::pair(name, MetricType::counter);
  if (word == "histogram" || word == "summary" || word == "gaugehistogram" || word == "info" || word == "stateset")
    return std::pair(name, MetricType::spread);
  if (word == "untyped" || word == "unknown") return std::pair(name, MetricType::unknown);
  return std::nullopt;
}

class ExposedText final : public text::CounterLog {
  using CounterLog::CounterLog;

  void handle(std::string_view line) override {
    if (leaves_out_line()) return;
    if (const auto type = type_of(line)) {
      type_ = type->second;
      typed_ = type->first;
      return;
    }
    const auto sample = sample_of(line);
    if (!sample) return note_time(line);
    const bool is_typed = !typed_.empty() && sample->name.starts_with(typed_);
    const std::string labels = labels_text(sample->labels);
    auto counter = counter_of(sample->name, labels, sample->value, is_typed ? type_ : MetricType::unknown);
    if (!counter) return;
    if (names_.size() < kMostSeries) names_.insert(counter->name);
    if (!names_.contains(counter->name)) {
      ++left_out_;
      return;
    }
    put(*std::move(counter));
    if (sample->time_ms && *sample->time_ms > 0 &&
        *sample->time_ms < std::numeric_limits<std::int64_t>::max() / 1'000'000)
      moment().taken_at_ns = *sample->time_ms * 1'000'000;
  }

  void remark(Notes& notes) override {
    if (left_out_ > 0) notes.add(Severity::data_loss, "metrics beyond 20000, left out", std::nullopt, left_out_);
  }

  MetricType type_ = MetricType::unknown;
  std::string typed_;
  std::set<std::string, std::less<>> names_;
  std::uint64_t left_out_ = 0;
};

/// {"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"…","pod":"…"},
///  "values":[[1700000000,"123"],…]}]}}; of an instant query "value":[1700000000,"123"].
class Answer final : public json::Walk {
 public:
  void opened(bool array) override {
    if (!array && at({"data", "result", "*"})) {
      name_.clear();
      labels_.clear();
    }
    if (array && (at({"data", "result", "*", "values", "*"}) || at({"data", "result", "*", "value"}))) time_ = 0;
  }
  void number(std::int64_t value) override {
    if (is_time()) time_ = text::nanoseconds_of(value).value_or(0);
  }
  void real(double value) override {
    if (is_time()) time_ = text::nanoseconds_of(value).value_or(0);
  }
  void text(std::string_view value) override {
    if (at({"data", "result", "*", "metric", "__name__"})) {
      name_ = value;
    } else if (at({"data", "result", "*", "metric", "*"})) {
      labels_.append(labels_.empty() ? "" : ",").append(key(4)).append("=").append(value);
    } else if (depth() > 4 && key(1) == "result" && (key(3) == "values" || key(3) == "value") &&
               index(depth() - 1) == 1) {
      sample(value);
    }
  }

  void finish(SnapshotSink& out) {
    if (moments_.empty())
      fail(ErrorCode::malformed, "no metric about memory: expected data.result with names that end in _bytes",
           offset());
    bool is_first = true;
    for (auto& [time, counters] : moments_) {
      SnapshotBuilder builder;
      SnapshotFacts& facts = exact_facts(builder, "prometheus", "query");
      if (time != 0) facts.taken_at_ns = time;
      facts.counters = std::move(counters);
      if (is_first && left_out_ > 0)
        facts.notes.add(Severity::data_loss, "values beyond 10000 moments or 4194304 values, left out", std::nullopt,
                        left_out_);
      is_first = false;
      give(out, value_or_throw(builder.finish()));
    }
  }

 private:
  /// "values":[[TIME, "123"]] or "value":[TIME, "123"].
  bool is_time() const {
    return at({"data", "result", "*", "value", "*"}) ? index(4) == 0
                                                     : at({"data", "result", "*", "values", "*", "*"}) && index(5) == 0;
  }

  void sample(std::string_view value) {
    const std::string labels = labels_.empty() ? std::string() : '{' + labels_ + '}';
    auto counter = counter_of(name_, labels, value, MetricType::gauge);
    if (!counter) return;
    if (values_ == kMostValues || (moments_.size() == kMostMoments && !moments_.contains(time_))) {
      ++left_out_;
      return;
    }
    ++values_;
    moments_[time_].push_back(*std::move(counter));
  }

  std::string name_, labels_;
  std::int64_t time_ = 0;
  std::map<std::int64_t, std::vector<Counter>> moments_;
  std::size_t values_ = 0;
  std::uint64_t left_out_ = 0;
};

bool is_answer(std::string_view head) {
  return text::begins_with(head, {"{", "\""}) && contains(head, "\"resultType\"") && contains(head, "\"result\"") &&
         contains(head, "\"metric\"");
}

/// A type with a sample of it, or a metric that every client library has.
Match sniff_prometheus(std::string_view head) {
  if (is_answer(head)) return Match::certain;
  std::string typed;
  return certain_if(text::any_line_of(head, [&](std::string_view line) {
    if (const auto type = type_of(line)) typed = type->first;
    const auto sample = sample_of(line);
    if (!sample) return false;
    return (!typed.empty() && sample->name.starts_with(typed)) || sample->name == "process_resident_memory_bytes" ||
           sample->name.starts_with("go_memstats_") || sample->name.starts_with("jvm_memory_");
  }));
}

}  // namespace

constexpr Format kPrometheus{
    .info = {"prometheus", "metrics of Prometheus about memory: the text of /metrics, answers of query and query_range",
             "*.prom, *.txt, *.json", "times, shares, distributions, counts of events"},
    .sniff = sniff_prometheus,
    .decode = [](Input& in, SnapshotSink& out, const ReadRequest& request) {
      if (!is_answer(value_or_throw(in.peek(kSniffBytes))))
        return text::read_log<ExposedText,
                              "no metric about memory: the input ends, expected names that end in _bytes, or gauges">(
            in, out, request);
      Answer walk;
      json::read_value(in, walk);
      walk.finish(out);
    }};

}  // namespace snapdiff::formats
