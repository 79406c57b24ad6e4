#include "formats/input/type_row.hpp"
#include "formats/json/json_walk.hpp"
#include "formats/memray/readers.hpp"

/// The exports as JSON: gprof2dot's own format, version 0; speedscope's file format (jlfwong/speedscope
/// src/lib/file-format-spec.ts), sampled profiles; `memray stats --json`.
namespace snapdiff::formats::memray {
namespace {

/// Samples of one profile; sample s is index[begin[s] .. begin[s + 1]).
struct Profile {
  std::string type;
  std::string unit;
  std::vector<std::uint32_t> index;
  std::vector<std::size_t> begin;
  std::vector<std::int64_t> weight;
};

struct TableFrame {
  StringId name{};
  StringId file{};
  std::int32_t line = 0;
  std::int32_t column = 0;
};

/// Stacks of rows of a table of frames, which may come behind them: they are kept until finish().
class FrameTableWalk : public json::Walk {
 protected:
  /// `frame` and `table` name both in messages, `weight` and `weights` what a sample weighs.
  FrameTableWalk(std::string_view frame, std::string_view table, std::string_view weight, std::string_view weights)
      : frame_(frame), table_(table), weight_(weight), weights_(weights) {}

  void add_index(std::int64_t value) {
    if (value < 0 || value > 0x7fffffff) bad_index(value);
    profiles_.back().index.push_back(static_cast<std::uint32_t>(value));
  }
  void begin_sample() { profiles_.back().begin.push_back(profiles_.back().index.size()); }

  /// A profile fills `column` of `columns`; equal stacks are added by the builder.
  void add(Profile& profile, bool root_first, std::size_t column = 0, std::size_t columns = 1) {
    make_frames();
    profile.begin.push_back(profile.index.size());
    std::vector<FrameId> stack;
    for (std::size_t s = 0; s < profile.weight.size(); ++s) {
      stack.clear();
      for (std::size_t i = profile.begin[s]; i < profile.begin[s + 1]; ++i) {
        const std::uint32_t row = profile.index[root_first ? profile.begin[s + 1] - 1 - (i - profile.begin[s]) : i];
        if (row >= frame_of_.size()) bad_index(row);
        stack.push_back(frame_of_[row]);
      }
      const std::int64_t weight = profile.weight[s];
      if (weight < 0) malformed(instead(std::string(weight_) + " below 0", weight, weights_));
      std::int64_t values[2] = {};
      values[column] = weight;
      builder_.add_row(builder_.stack(stack), LabelSetId{}, std::span(values).first(columns));
    }
  }

  SnapshotBuilder builder_;
  std::vector<Profile> profiles_;
  std::vector<TableFrame> frames_;

 private:
  [[noreturn]] void bad_index(std::int64_t index) {
    malformed(instead(std::string(frame_) + " out of range", index,
                      "an index into " + std::string(table_) + " (" + std::to_string(frames_.size()) + ")"));
  }

  void make_frames() {
    for (std::size_t i = frame_of_.size(); i < frames_.size(); ++i) {
      frame_of_.push_back(
          builder_.frame({.function = builder_.function(frames_[i].name, frames_[i].name, frames_[i].file, 0),
                          .line = frames_[i].line,
                          .column = frames_[i].column}));
    }
  }

  std::string_view frame_, table_, weight_, weights_;
  std::vector<FrameId> frame_of_;
};

class Gprof2dot final : public FrameTableWalk {
 public:
  Gprof2dot() : FrameTableWalk("function", "functions", "cost", "bytes") { profiles_.emplace_back(); }

  void number(std::int64_t value) override {
    if (at({"version"})) {
      if (value != 0) fail(ErrorCode::unsupported, instead("gprof2dot JSON version", value, "0"), offset());
    } else if (at({"events", "*", "callchain", "*"})) {
      add_index(value);
    } else if (at({"events", "*", "cost", "*"}) && index(3) == bytes_at_) {
      profiles_.back().weight.back() = value;
    }
  }

  void text(std::string_view value) override {
    if (at({"costs", "*", "unit"}) && value == "bytes" && !bytes_found_) {
      bytes_at_ = index(1);
      bytes_found_ = true;
    } else if (at({"functions", "*", "name"})) {
      frames_.back().name = builder_.string(value);
    } else if (at({"functions", "*", "module"})) {
      frames_.back().file = builder_.string(value);
    }
  }

  void opened(bool /*array*/) override {
    if (at({"events", "*"})) {
      begin_sample();
      profiles_.back().weight.push_back(0);
    } else if (at({"functions", "*"})) {
      frames_.emplace_back();
    }
  }

  Result<Snapshot> finish() {
    if (!bytes_found_)
      fail(ErrorCode::unsupported, "gprof2dot JSON without a cost in bytes: expected unit bytes", offset());
    exact_facts(builder_, "memray", "gprof2dot JSON").notes.add(Severity::info, kMomentNotTold);
    builder_.add_column({"inuse_space", "bytes"});
    add(profiles_.front(), false);
    return builder_.finish();
  }

 private:
  std::size_t bytes_at_ = 0;
  bool bytes_found_ = false;
};

class Speedscope final : public FrameTableWalk {
 public:
  Speedscope() : FrameTableWalk("frame", "shared.frames", "weight", "bytes or a count") {}

  void opened(bool array) override {
    if (at({"profiles", "*"})) profiles_.emplace_back();
    if (at({"shared", "frames", "*"})) frames_.emplace_back();
    if (array && at({"profiles", "*", "samples", "*"})) begin_sample();
  }

  void number(std::int64_t value) override {
    if (at({"profiles", "*", "samples", "*", "*"})) {
      add_index(value);
    } else if (at({"profiles", "*", "weights", "*"})) {
      profiles_.back().weight.push_back(value);
    } else if (at({"shared", "frames", "*", "line"})) {
      frames_.back().line = text::number_32(value);
    } else if (at({"shared", "frames", "*", "col"})) {
      frames_.back().column = text::number_32(value);
    }
  }

  /// Writers in JavaScript print 1e6 or 12.0.
  void real(double value) override {
    if (value >= 0 && value < 0x1p53) number(static_cast<std::int64_t>(value));
  }

  void text(std::string_view value) override {
    if (at({"profiles", "*", "type"})) profiles_.back().type = value;
    if (at({"profiles", "*", "unit"})) profiles_.back().unit = value;
    if (at({"shared", "frames", "*", "name"})) frames_.back().name = builder_.string(value);
    if (at({"shared", "frames", "*", "file"})) frames_.back().file = builder_.string(value);
    if (at({"exporter"})) builder_.facts().producer = value;
  }

  Result<Snapshot> finish() {
    const auto is_sampled = [](std::string_view unit) {
      return [unit](const Profile& profile) { return profile.type == "sampled" && profile.unit == unit; };
    };
    const bool has_counts = std::any_of(profiles_.begin(), profiles_.end(), is_sampled("none"));
    if (std::none_of(profiles_.begin(), profiles_.end(), is_sampled("bytes"))) {
      const std::string found =
          profiles_.empty() ? "no profile" : profiles_.front().type + " in " + profiles_.front().unit;
      fail(ErrorCode::unsupported, instead("speedscope profile without memory", found, "a sampled one in bytes"),
           offset());
    }
    SnapshotFacts& facts = builder_.facts();
    facts.format_detail = "speedscope";
    facts.sampling = facts.producer.rfind("memray", 0) == 0 ? Sampling::exact : Sampling::unknown;
    facts.notes.add(Severity::info, kMomentNotTold);
    builder_.add_column({"inuse_space", "bytes"});
    if (has_counts) builder_.add_column({"inuse_objects", "count"});
    for (Profile& profile : profiles_) {
      const bool bytes = is_sampled("bytes")(profile);
      if (!bytes && !is_sampled("none")(profile)) {
        facts.notes.add(Severity::warning, "profiles that are not of memory, left out");
        continue;
      }
      if (profile.weight.size() != profile.begin.size())
        malformed("samples and weights differ: found " + std::to_string(profile.begin.size()) + " and " +
                  std::to_string(profile.weight.size()) + ", expected as many");
      add(profile, true, bytes ? 0 : 1, has_counts ? 2 : 1);
    }
    return builder_.finish();
  }
};

/// Totals over a run and its peak, no live rows.
class Stats final : public json::Walk {
 public:
  void number(std::int64_t value) override {
    if (at({"total_num_allocations"})) add("allocs", value, "count", true);
    if (at({"total_bytes_allocated"})) add("allocated", value, "bytes", true);
    if (at({"metadata", "peak_memory"})) add("peak_memory", value, "bytes", false);
    if (at({"metadata", "pid"})) builder_.facts().pid = value;
    if (at({"allocator_type_distribution", "*"})) {
      add("allocs{allocator=" + std::string(key(1)) + "}", value, "count", true);
    }
  }

  void text(std::string_view value) override {
    if (at({"metadata", "command_line"})) builder_.facts().command_line = value;
  }

  Result<Snapshot> finish() {
    SnapshotFacts& facts = builder_.facts();
    if (facts.counters.empty()) malformed("no figures of memray stats: expected total_num_allocations");
    facts.producer = "memray";
    facts.format_detail = "stats JSON";
    facts.sampling = Sampling::exact;
    return builder_.finish();
  }

 private:
  void add(std::string name, std::int64_t value, std::string unit, bool cumulative) {
    // A name may come twice only where somebody made it so; the last one counts, as in JSON at large.
    for (Counter& counter : builder_.facts().counters) {
      if (counter.name != name) continue;
      counter.value = value;
      return;
    }
    builder_.facts().counters.push_back({std::move(name), value, std::move(unit), cumulative, 0});
  }

  SnapshotBuilder builder_;
};

template <class Walk>
Result<Snapshot> read_walk(Input& in) {
  Walk walk;
  json::read_value(in, walk);
  return walk.finish();
}

}  // namespace

Result<Snapshot> read_gprof2dot(Input& in) { return read_walk<Gprof2dot>(in); }
Result<Snapshot> read_speedscope(Input& in) { return read_walk<Speedscope>(in); }
Result<Snapshot> read_stats(Input& in) { return read_walk<Stats>(in); }

}  // namespace snapdiff::formats::memray
