#include "formats/metric_log/log_session.hpp"

/// DisposeScopeManager.Statistics of TorchSharp (src/TorchSharp/ThreadDisposeScopeStatistics.cs).
namespace snapdiff::formats::metric_log {
namespace {

struct Field {
  std::string_view name;
  std::string_view counter;
  bool cumulative;
};
constexpr std::array<Field, 7> kFields = {{{"ThreadTotalLiveCount", "live", false},
                                           {"CreatedOutsideScopeCount", "created_outside", true},
                                           {"DisposedOutsideScopeCount", "disposed_outside", true},
                                           {"CreatedInScopeCount", "created_in", true},
                                           {"DisposedInScopeCount", "disposed_in", true},
                                           {"AttachedToScopeCount", "attached", true},
                                           {"DetachedFromScopeCount", "detached", true}}};
constexpr std::size_t kLive = 0;

using Values = std::array<std::optional<std::int64_t>, kFields.size()>;

enum class Level : std::uint8_t { total, tensor, packed };
constexpr std::array<std::string_view, 3> kLevelNames = {"total", "tensor", "packed"};

enum class Outcome : std::uint8_t { none, read, not_integer, twice };

struct Parsed {
  Outcome outcome = Outcome::none;
  Values values;
  std::size_t begin = 0;  // of the first name
};

Parsed parse(std::string_view text) {
  Parsed out;
  out.begin = text.size();
  int found = 0;
  for (std::size_t f = 0; f < kFields.size(); ++f) {
    const std::string_view name = kFields[f].name;
    for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
      Cursor rest(text.substr(at + name.size()));
      if (!rest.takes("~:") && !rest.takes("~=")) continue;
      out.begin = std::min(out.begin, at);
      Integer value;
      const bool is_integer = rest.takes("~%", value);
      const std::string_view behind = rest.rest();
      const bool goes_on =
          !behind.empty() && (is_word(behind[0]) || (behind.size() > 1 && behind[0] == '.' && is_digit(behind[1])));
      if (goes_on || !is_integer) {
        out.outcome = Outcome::not_integer;
        return out;
      }
      if (out.values[f]) {
        out.outcome = Outcome::twice;
        return out;
      }
      out.values[f] = value.value;
      ++found;
    }
  }
  if (out.values[kLive] || found >= 2) out.outcome = Outcome::read;
  return out;
}

std::optional<Level> level_in(std::string_view text) {
  if (contains(text, "PackedSequenceStatistics")) return Level::packed;
  if (contains(text, "TensorStatistics")) return Level::tensor;
  return std::nullopt;
}

class TorchSharp final : public Matcher {
 public:
  bool take(const LogLine& line, Session& session) override {
    if (!contains(line.text, "ScopeCount") && !contains(line.text, "ThreadTotalLiveCount")) return false;
    const Parsed parsed = parse(line.text);
    if (parsed.outcome == Outcome::none) return false;
    if (parsed.outcome == Outcome::not_integer) {
      session.notes().add(Severity::data_loss, "TorchSharp lines with a value that is no integer were skipped",
                          line.offset);
      return true;
    }
    if (parsed.outcome == Outcome::twice) {
      session.notes().add(Severity::data_loss, "TorchSharp lines with a field twice were skipped", line.offset);
      return true;
    }
    const std::string_view prefix = line.text.substr(0, parsed.begin);
    std::optional<Level> level = level_in(prefix);
    if (!level) level = level_in(session.previous());
    record(line, level.value_or(Level::total), session.has_tags() ? std::string_view() : find_thread(prefix),
           parsed.values, session);
    return true;
  }

  void finish(Session& session) override { add_hints(session); }

 private:
  struct Thread {
    std::uint64_t lines = 0;
    std::array<Values, 3> values;         // by level, of the lines since the last triple
    std::array<std::uint64_t, 3> line{};  // number of the line each came from, 0 = none
  };

  static constexpr std::size_t kMaxThreads = 4096;

  void record(const LogLine& line, Level level, std::string_view thread, const Values& values, Session& session) {
    std::vector<Reading> readings;
    for (std::size_t f = 0; f < kFields.size(); ++f) {
      if (!values[f]) continue;
      Reading reading{with_tag(kFields[f].counter, "level", kLevelNames[static_cast<std::size_t>(level)]),
                      "count",
                      {*values[f], 0},
                      kFields[f].cumulative};
      if (!thread.empty()) reading.name = with_tag(reading.name, "thread", thread);
      readings.push_back(std::move(reading));
    }
    Thread& state = threads_.size() < kMaxThreads ? threads_[std::string(thread)] : overflow_;
    const std::uint64_t number = ++state.lines;
    const auto index = static_cast<std::size_t>(level);
    Joins joins = Joins::same_step;
    // A part right after a total belongs to the next triple, unless the parts turn out to be this total's.
    if (level != Level::total && state.line[0] != 0 && state.line[0] + 1 == number) joins = Joins::never;
    const bool parts_are_near =
        state.line[1] != 0 && state.line[2] != 0 && number <= state.line[1] + 2 && number <= state.line[2] + 2;
    if (level == Level::total && parts_are_near && !adds_up(state.values[1], state.values[2], values)) {
      session.notes().add(Severity::info, "levels of TorchSharp that do not add up to the total are kept apart",
                          line.offset);
      joins = Joins::never;
    }
    session.recorder().record(kTorchSharp, session.facts_of(line), readings, joins);
    state.values[index] = values;
    state.line[index] = number;
    const bool total_then_parts = level != Level::total && state.line[0] != 0 && state.line[0] + 2 == number &&
                                  state.line[3 - index] + 1 == number;
    if (total_then_parts && adds_up(state.values[1], state.values[2], state.values[0])) {
      session.recorder().join_with_previous();
      state.line = {};
    } else if (level == Level::total) {
      state.line[1] = state.line[2] = 0;
    }
  }

  static bool adds_up(const Values& tensor, const Values& packed, const Values& total) {
    for (std::size_t f = 0; f < kFields.size(); ++f) {
      if (!tensor[f] || !packed[f] || !total[f]) continue;
      std::int64_t sum = 0;
      if (__builtin_add_overflow(*tensor[f], *packed[f], &sum) || sum != *total[f]) return false;
    }
    return true;
  }

  /// What the documented patterns of leaks look like in the totals.
  static void add_hints(Session& session) {
    const Recorder& recorder = session.recorder();
    bool detached = false, outside = false, increments = false, packed = false;
    recorder.each_series([&](std::string_view name, const Recorder::Growth& live) {
      const std::size_t tags = name.find("{level=");
      if (tags == std::string_view::npos) return;
      const std::string rest(name.substr(tags));
      if (name.starts_with("created_in{level=packed") && live.last > 0) packed = true;
      if (!name.starts_with("live{") || live.readings < 3 || live.last <= live.first) return;
      const auto of = [&](std::string_view counter) { return recorder.growth(std::string(counter) + rest); };
      const double grown = static_cast<double>(live.last) - static_cast<double>(live.first);
      const auto is_near = [&](double growth) { return growth > 0.9 * grown && growth < 1.1 * grown; };
      const auto growth_of = [](const Recorder::Growth* g) {
        return g == nullptr ? 0.0 : static_cast<double>(g->last) - static_cast<double>(g->first);
      };
      const auto was_reset = [](const Recorder::Growth* g) { return g != nullptr && g->was_reset; };
      const auto *in_detached = of("detached"), *in_created = of("created_outside"),
                 *in_disposed = of("disposed_outside");
      if (!was_reset(in_detached) && is_near(growth_of(in_detached))) detached = true;
      if (!was_reset(in_created) && !was_reset(in_disposed) && is_near(growth_of(in_created) - growth_of(in_disposed)))
        outside = true;
      const Recorder::Growth* created = of("created_in");
      if (created != nullptr && created->is_constant && created->last > 0) increments = true;
    });
    Notes& notes = session.notes();
    if (detached)
      notes.add(Severity::info,
                "live grew by about as much as DetachedFromScopeCount: tensors are detached from their scope and never "
                "disposed");
    if (outside)
      notes.add(Severity::info,
                "live grew by about as much as CreatedOutsideScopeCount less DisposedOutsideScopeCount: tensors are "
                "created outside of any scope and never disposed");
    if (increments)
      notes.add(Severity::info,
                "live grew while CreatedInScopeCount was the same on each line: the counts start again with each line");
    if (packed)
      notes.add(Severity::info, "each PackedSequence adds tensors that are detached at once; they are no leak");
  }

  std::unordered_map<std::string, Thread, KeyedHash> threads_;
  Thread overflow_;
};

}  // namespace

std::unique_ptr<Matcher> make_torchsharp_matcher() { return std::make_unique<TorchSharp>(); }

}  // namespace snapdiff::formats::metric_log
