#include "formats/prometheus/prometheus_importer.hpp"

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/base/contains.hpp"
#include "formats/json/json_walk.hpp"
#include "formats/prometheus/metric_sample.hpp"
#include "formats/text/counter_log.hpp"
#include "formats/text/scan.hpp"
#include "formats/text/time_stamp.hpp"

namespace snapdiff::formats {
namespace {

using namespace prometheus;

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
 public:
  ExposedText(Input& in, SnapshotSink& out)
      : CounterLog(in, out, "no metric about memory: the input ends, expected names that end in _bytes, or gauges") {}

 private:
  void handle(std::string_view line) override {
    if (!lines_.terminated()) {
      if (is_open()) moment().lose("the last line has no end and was left out", lines_.line_offset());
      return;
    }
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
      SnapshotFacts& facts = builder.facts();
      facts.sampling = Sampling::exact;
      facts.format_detail = "query";
      facts.producer = "prometheus";
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
    .decode =
        [](Input& in, SnapshotSink& out, const ReadRequest& request) {
          if (!is_answer(value_or_throw(in.peek(kSniffBytes)))) return text::read_log<ExposedText>(in, out, request);
          Answer walk;
          json::read_value(in, walk);
          walk.finish(out);
        },
    .many = "metrics"};

}  // namespace snapdiff::formats
