#include <cmath>

#include "analyzer/base/contains.hpp"
#include "analyzer/base/snapshot_builder.hpp"
#include "formats/input/all_formats.hpp"
#include "formats/json/json_walk.hpp"

namespace snapdiff::formats {
namespace {

/// Scalene's MB is 1024 * 1024 bytes.
constexpr double kMegabyte = 1048576.0;

class Profile final : public json::Walk {
 public:
  void opened(bool array) override {
    if (!array && at({"files", "*"})) files_.emplace_back(key(1));
    if (!array && at({"files", "*", "lines", "*"}) && !files_.empty()) lines_.push_back({files_.size() - 1});
    if (!array && at({"files", "*", "functions", "*"}) && !files_.empty()) functions_.push_back({files_.size() - 1});
  }
  void number(std::int64_t value) override { real(static_cast<double>(value)); }
  void real(double value) override {
    if (at({"max_footprint_mb"})) footprint_ = bytes(value);
    if (depth() != 5 || key(0) != "files") return;
    Entry* const entry = key(2) == "lines" ? &lines_.back() : key(2) == "functions" ? &functions_.back() : nullptr;
    if (entry == nullptr) return;
    if (key(4) == "lineno") entry->line = place(value);
    if (key(4) == "start_function_line") entry->function_line = place(value);
    if (key(4) == "n_malloc_mb") entry->bytes = bytes(value);
  }
  void text(std::string_view value) override {
    if (at({"program"})) builder_.facts().command_line = value;
    if (at({"files", "*", "functions", "*", "line"})) functions_.back().name = value;
  }

  Snapshot finish() {
    SnapshotFacts& facts = builder_.facts();
    if (lines_.empty()) malformed("no lines: expected files with lines and n_malloc_mb");
    builder_.add_column({"alloc_space", "bytes"});
    std::map<std::pair<std::size_t, std::int32_t>, std::string> names;
    for (Entry& function : functions_) names.try_emplace({function.file, function.line}, std::move(function.name));
    for (const Entry& line : lines_) {
      const auto name = names.find({line.file, line.function_line});
      FrameSpec frame;
      frame.function = builder_.function(name == names.end() ? "<module>" : name->second, files_[line.file]);
      frame.line = line.line;
      const FrameId id = builder_.frame(frame);
      builder_.add_row(builder_.stack(std::span(&id, 1)), LabelSetId{}, std::span(&line.bytes, 1));
    }
    facts.producer = "scalene";
    facts.notes.add(Severity::info, "sampled totals of what each line allocated: what was freed is in them");
    if (footprint_ > 0) facts.counters.push_back({"max_footprint", footprint_, "bytes"});
    return value_or_throw(builder_.finish());
  }

 private:
  struct Entry {
    std::size_t file = 0;
    std::string name = {};
    std::int32_t line = 0, function_line = 0;
    std::int64_t bytes = 0;
  };

  std::int64_t bytes(double megabytes) const {
    if (!(megabytes >= 0 && megabytes < 0x1p42)) malformed("size not readable: expected megabytes below 2^42");
    return std::llround(megabytes * kMegabyte);
  }
  static std::int32_t place(double line) {
    return line > 0 && line <= std::numeric_limits<std::int32_t>::max() ? static_cast<std::int32_t>(line) : 0;
  }

  SnapshotBuilder builder_;
  std::vector<std::string> files_;
  std::vector<Entry> lines_, functions_;
  std::int64_t footprint_ = 0;
};

Match sniff_scalene(std::string_view head) {
  return certain_if(text::begins_with(head, {"{", "\""}) && contains(head, "\"alloc_samples\"") &&
                    (contains(head, "\"elapsed_time_sec\"") || contains(head, "\"combined_stacks\"") ||
                     contains(head, "\"entrypoint_dir\"")));
}

}  // namespace

constexpr Format kScalene{.info = {"scalene", "what each line of Python allocated: Scalene's JSON profile", "*.json",
                                   "times, copies, the GPU, stacks and the series of each line"},
                          .sniff = sniff_scalene,
                          .decode = json::decode_value<Profile>};

}  // namespace snapdiff::formats
