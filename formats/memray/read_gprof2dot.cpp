#include <string>
#include <utility>
#include <vector>

#include "analyzer/base/snapshot_builder.hpp"
#include "formats/input/read_failure.hpp"
#include "formats/input/type_row.hpp"
#include "formats/json/json_walk.hpp"
#include "formats/memray/readers.hpp"

/// gprof2dot's own JSON format, version 0.
namespace snapdiff::formats::memray {
namespace {

class Gprof2dot final : public json::Walk {
 public:
  void number(std::int64_t value) override {
    if (at({"version"})) {
      if (value != 0) {
        fail(ErrorCode::unsupported, "gprof2dot JSON version: found " + std::to_string(value) + ", expected 0",
             offset());
      }
    } else if (at({"events", "*", "callchain", "*"})) {
      if (value < 0 || value > 0x7fffffff) bad_function(value);
      chain_.push_back(static_cast<std::uint32_t>(value));
    } else if (at({"events", "*", "cost", "*"}) && index(3) == bytes_at_) {
      cost_.back() = value;
    }
  }

  void text(std::string_view value) override {
    if (at({"costs", "*", "unit"}) && value == "bytes" && !bytes_found_) {
      bytes_at_ = index(1);
      bytes_found_ = true;
    } else if (at({"functions", "*", "name"})) {
      functions_.back().first = builder_.string(value);
    } else if (at({"functions", "*", "module"})) {
      functions_.back().second = builder_.string(value);
    }
  }

  void opened(bool /*array*/) override {
    if (at({"events", "*"})) {
      begin_.push_back(chain_.size());
      cost_.push_back(0);
    } else if (at({"functions", "*"})) {
      functions_.emplace_back();
    }
  }

  Result<Snapshot> finish() {
    if (!bytes_found_) {
      fail(ErrorCode::unsupported, "gprof2dot JSON without a cost in bytes: expected unit bytes", offset());
    }
    SnapshotFacts& facts = exact_facts(builder_, "memray", "gprof2dot JSON");
    facts.notes.add(Severity::info, kMomentNotTold);
    builder_.add_column({"inuse_space", "bytes"});
    std::vector<FrameId> frame_of;
    for (const auto& [name, file] : functions_) {
      FrameSpec spec;
      spec.function = builder_.function(name, name, file, 0);
      frame_of.push_back(builder_.frame(spec));
    }
    begin_.push_back(chain_.size());
    std::vector<FrameId> frames;
    for (std::size_t event = 0; event < cost_.size(); ++event) {
      frames.clear();
      for (std::size_t i = begin_[event]; i < begin_[event + 1]; ++i) {
        if (chain_[i] >= frame_of.size()) bad_function(chain_[i]);
        frames.push_back(frame_of[chain_[i]]);
      }
      if (cost_[event] < 0) {
        fail(ErrorCode::malformed, "cost below 0: found " + std::to_string(cost_[event]) + ", expected bytes",
             offset());
      }
      builder_.add_row(builder_.stack(frames), LabelSetId{}, std::span(&cost_[event], 1));
    }
    return builder_.finish();
  }

 private:
  [[noreturn]] void bad_function(std::int64_t index) {
    fail(ErrorCode::malformed,
         "function out of range: found " + std::to_string(index) + ", expected an index into functions (" +
             std::to_string(functions_.size()) + ")",
         offset());
  }

  SnapshotBuilder builder_;
  std::size_t bytes_at_ = 0;
  bool bytes_found_ = false;
  // Events come before the functions that they mean: flat, event e is chain_[begin_[e] .. begin_[e + 1]).
  std::vector<std::uint32_t> chain_;
  std::vector<std::size_t> begin_;
  std::vector<std::int64_t> cost_;
  std::vector<std::pair<StringId, StringId>> functions_;
};

}  // namespace

Result<Snapshot> read_gprof2dot(Input& in) {
  Gprof2dot walk;
  json::read_value(in, walk);
  return walk.finish();
}

}  // namespace snapdiff::formats::memray
