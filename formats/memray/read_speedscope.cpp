#include <limits>
#include <span>
#include <string>
#include <vector>

#include "analyzer/base/snapshot_builder.hpp"
#include "formats/input/read_failure.hpp"
#include "formats/json/json_walk.hpp"
#include "formats/memray/readers.hpp"

/// speedscope's file format (jlfwong/speedscope src/lib/file-format-spec.ts), sampled profiles.
namespace snapdiff::formats::memray {
namespace {

/// Samples of one profile; sample s is index[begin[s] .. begin[s + 1]), root first.
struct Profile {
  std::string type;
  std::string unit;
  std::vector<std::uint32_t> index;
  std::vector<std::size_t> begin;
  std::vector<std::int64_t> weight;
};

struct SpeedscopeFrame {
  StringId name{};
  StringId file{};
  std::int32_t line = 0;
  std::int32_t column = 0;
};

class Speedscope final : public json::Walk {
 public:
  void opened(bool array) override {
    if (at({"profiles", "*"})) profiles_.emplace_back();
    if (at({"shared", "frames", "*"})) frames_.emplace_back();
    if (array && at({"profiles", "*", "samples", "*"})) {
      profiles_.back().begin.push_back(profiles_.back().index.size());
    }
  }

  void number(std::int64_t value) override {
    if (at({"profiles", "*", "samples", "*", "*"})) {
      if (value < 0 || value > 0x7fffffff) bad_frame(value);
      profiles_.back().index.push_back(static_cast<std::uint32_t>(value));
    } else if (at({"profiles", "*", "weights", "*"})) {
      profiles_.back().weight.push_back(value);
    } else if (at({"shared", "frames", "*", "line"})) {
      frames_.back().line = number_32(value);
    } else if (at({"shared", "frames", "*", "col"})) {
      frames_.back().column = number_32(value);
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
    bool has_bytes = false;
    bool has_counts = false;
    for (const Profile& profile : profiles_) {
      has_bytes = has_bytes || (profile.type == "sampled" && profile.unit == "bytes");
      has_counts = has_counts || (profile.type == "sampled" && profile.unit == "none");
    }
    if (!has_bytes) {
      const std::string found =
          profiles_.empty() ? "no profile" : profiles_.front().type + " in " + profiles_.front().unit;
      fail(ErrorCode::unsupported,
           "speedscope profile without memory: found " + found + ", expected a sampled one in bytes", offset());
    }
    SnapshotFacts& facts = builder_.facts();
    facts.format_detail = "speedscope";
    facts.sampling = facts.producer.rfind("memray", 0) == 0 ? Sampling::exact : Sampling::unknown;
    facts.notes.add(Severity::info, kMomentNotTold);
    builder_.add_column({"inuse_space", "bytes"});
    if (has_counts) builder_.add_column({"inuse_objects", "count"});
    make_frames();
    for (Profile& profile : profiles_) {
      if (profile.type == "sampled" && (profile.unit == "bytes" || profile.unit == "none")) {
        add(profile, has_counts);
      } else {
        facts.notes.add(Severity::warning, "profiles that are not of memory, left out");
      }
    }
    return builder_.finish();
  }

 private:
  static std::int32_t number_32(std::int64_t value) {
    return value > 0 && value <= std::numeric_limits<std::int32_t>::max() ? static_cast<std::int32_t>(value) : 0;
  }

  [[noreturn]] void bad_frame(std::int64_t index) {
    fail(ErrorCode::malformed,
         "frame out of range: found " + std::to_string(index) + ", expected an index into shared.frames (" +
             std::to_string(frames_.size()) + ")",
         offset());
  }

  void make_frames() {
    for (const SpeedscopeFrame& frame : frames_) {
      FrameSpec spec;
      spec.function = builder_.function(frame.name, frame.name, frame.file, 0);
      spec.line = frame.line;
      spec.column = frame.column;
      frame_of_.push_back(builder_.frame(spec));
    }
  }

  /// Each profile fills one column; equal stacks of several are added by the builder.
  void add(Profile& profile, bool has_counts) {
    if (profile.weight.size() != profile.begin.size()) {
      fail(ErrorCode::malformed,
           "samples and weights differ: found " + std::to_string(profile.begin.size()) + " and " +
               std::to_string(profile.weight.size()) + ", expected as many",
           offset());
    }
    const bool bytes = profile.unit == "bytes";
    profile.begin.push_back(profile.index.size());
    std::vector<FrameId> stack;
    for (std::size_t s = 0; s < profile.weight.size(); ++s) {
      stack.clear();
      for (std::size_t i = profile.begin[s + 1]; i > profile.begin[s]; --i) {
        if (profile.index[i - 1] >= frame_of_.size()) bad_frame(profile.index[i - 1]);
        stack.push_back(frame_of_[profile.index[i - 1]]);
      }
      const std::int64_t weight = profile.weight[s];
      if (weight < 0) {
        fail(ErrorCode::malformed, "weight below 0: found " + std::to_string(weight) + ", expected bytes or a count",
             offset());
      }
      const std::int64_t values[] = {bytes ? weight : 0, bytes ? 0 : weight};
      builder_.add_row(builder_.stack(stack), LabelSetId{}, std::span(values).first(has_counts ? 2 : 1));
    }
  }

  SnapshotBuilder builder_;
  std::vector<Profile> profiles_;
  std::vector<SpeedscopeFrame> frames_;
  std::vector<FrameId> frame_of_;
};

}  // namespace

Result<Snapshot> read_speedscope(Input& in) {
  Speedscope walk;
  json::read_value(in, walk);
  return walk.finish();
}

}  // namespace snapdiff::formats::memray
