#include "formats/metric_log/log_session.hpp"

/// Lines of memory_profiler's mprof .dat files (mprof.py): CMDLINE, MEM, CHLD, FUNC.
namespace snapdiff::formats::metric_log {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
using Words = std::vector<std::string_view>;

bool parse_all(std::string_view text, Decimal& out) {
  const std::size_t end = parse_decimal(text, 0, out);
  return end != 0 && end == text.size();
}

std::optional<Quantity> mebibytes(std::string_view text) {
  Decimal number;
  return parse_all(text, number) && number.has_point ? scale(number, kMiB) : std::nullopt;
}

std::optional<std::int64_t> unix_ns(std::string_view text) {
  Decimal number;
  if (!parse_all(text, number) || !number.has_point) return std::nullopt;
  const std::optional<Quantity> ns = scale(number, 1'000'000'000);
  return ns && ns->value > 0 ? std::optional(ns->value) : std::nullopt;
}

class Mprof final : public Matcher {
 public:
  bool take(const LogLine& line, Session& session) override {
    const std::string_view text = line.text;
    if (text.empty()) {
      if (was_sample_) session.notes().add(Severity::info, "empty lines in an mprof file were skipped", line.offset);
      return false;
    }
    if (text.starts_with("CMDLINE ")) return take_command(line);
    const bool is_mine = text.starts_with("MEM ") || text.starts_with("CHLD ") || text.starts_with("FUNC ");
    if (!is_mine) {
      was_sample_ = false;
      return false;
    }
    if (!line.terminated) {
      if (seen_) {
        session.notes().add(Severity::data_loss, "the last line has no end and may be cut: it was left out",
                            line.offset);
        session.recorder().set_partial();
      }
      return seen_;
    }
    const Words words = words_of_line(text.substr(0, 4096));
    const bool was_read = text[0] == 'M'   ? take_sample(line, words, session)
                          : text[0] == 'C' ? take_child(line, words, session)
                                           : take_function(line, words, session);
    was_sample_ = was_read;
    if (!was_read && (seen_ || has_command_))
      session.notes().add(Severity::data_loss, "lines of mprof with values missing or no numbers were skipped",
                          line.offset);
    seen_ = seen_ || was_read;
    return was_read || seen_ || has_command_;
  }

  void finish(Session& session) override { give_held(session); }

 private:
  struct Sample {
    LineFacts facts;
    Quantity memory;
  };

  bool take_command(const LogLine& line) {
    command_line_ = std::string(trim(line.text.substr(8)).substr(0, 4096));
    begins_run_ = true;
    was_sample_ = true;
    has_command_ = true;
    return true;
  }

  static LineFacts facts_at(const LogLine& line, std::int64_t time_ns) {
    return {.offset = line.offset, .time_ns = time_ns};
  }

  static void record(Session& session, const Sample& sample, Joins joins) {
    const Reading reading{"memory", "bytes", sample.memory, false};
    session.recorder().record(kMprof, sample.facts, {&reading, 1}, joins);
  }

  void give_held(Session& session) {
    if (held_) record(session, *held_, Joins::never);
    held_.reset();
  }

  /// MEM mib time
  bool take_sample(const LogLine& line, const Words& words, Session& session) {
    if (words.size() != 3) return false;
    const std::optional<Quantity> memory = mebibytes(words[1]);
    const std::optional<std::int64_t> time = unix_ns(words[2]);
    if (!memory || !time) return false;
    if (memory->value == 0) {
      session.notes().add(Severity::info, "samples of the process when it had ended were left out", line.offset);
      return true;
    }
    const Sample sample{facts_at(line, *time), *memory};
    if (begins_run_) {
      session.recorder().begin_run(command_line_, *time);
      begins_run_ = false;
      give_held(session);
      held_ = sample;
      return true;
    }
    if (held_ && held_->memory.value < memory->value / 2) {
      session.notes().add(Severity::info, "the first sample of a run was left out: it is the bare launcher",
                          held_->facts.offset);
      held_.reset();
    }
    give_held(session);
    record(session, sample, Joins::never);
    return true;
  }

  /// CHLD id mib time, right after the MEM of the same moment
  bool take_child(const LogLine& line, const Words& words, Session& session) {
    if (words.size() != 4) return false;
    const std::optional<Quantity> memory = mebibytes(words[2]);
    const std::optional<std::int64_t> time = unix_ns(words[3]);
    if (!memory || !time) return false;
    give_held(session);
    if (memory->value == 0) {
      session.notes().add(Severity::info, "samples of child processes that had ended were left out", line.offset);
      return true;
    }
    const Reading reading{with_tag("memory", "child", words[1]), "bytes", *memory, false};
    session.recorder().record(kMprof, facts_at(line, *time), {&reading, 1});
    return true;
  }

  /// FUNC name mib_start t_start mib_end t_end [level]
  bool take_function(const LogLine& line, const Words& words, Session& session) {
    if (words.size() < 6) return false;
    const std::optional<Quantity> begin = mebibytes(words[2]), end = mebibytes(words[4]);
    const std::optional<std::int64_t> from = unix_ns(words[3]), to = unix_ns(words[5]);
    std::int64_t growth = 0;
    if (!begin || !end || !from || !to || __builtin_sub_overflow(end->value, begin->value, &growth)) return false;
    const std::string name(words[1]);
    std::int64_t* calls = &other_calls_;
    if (calls_.size() < kMaxSeries || calls_.count(name) != 0) calls = &calls_[name];
    ++*calls;
    const Reading readings[] = {
        {with_tag("memory_at_end", "function", name), "bytes", *end, false},
        {with_tag("increment", "function", name), "bytes", {growth, begin->half_unit + end->half_unit}, false},
        {with_tag("calls", "function", name), "count", {*calls, 0}, true}};
    session.recorder().record(kMprof, facts_at(line, *to), readings, Joins::never);
    return true;
  }

  std::string command_line_;
  bool begins_run_ = true;
  bool was_sample_ = false;
  bool seen_ = false;
  bool has_command_ = false;
  std::optional<Sample> held_;
  std::map<std::string, std::int64_t> calls_;
  std::int64_t other_calls_ = 0;
};

}  // namespace

std::unique_ptr<Matcher> make_mprof_matcher() { return std::make_unique<Mprof>(); }

}  // namespace snapdiff::formats::metric_log
