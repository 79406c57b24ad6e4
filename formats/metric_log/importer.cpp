#include <utility>

#include "formats/metric_log/engine.hpp"
#include "formats/metric_log/metric_log_importer.hpp"
#include "formats/metric_log/sniff.hpp"
#include "formats/metric_log/user_pattern.hpp"

namespace snapdiff::formats {
namespace {

using namespace metric_log;

class MetricLogImporter final : public Importer {
 public:
  MetricLogImporter() = default;
  MetricLogImporter(std::vector<std::shared_ptr<const UserPattern>> patterns, std::shared_ptr<const LineTags> tags,
                    bool decimal_units)
      : patterns_(std::move(patterns)), tags_(std::move(tags)), decimal_units_(decimal_units) {}

  const FormatInfo& info() const override {
    static constexpr FormatInfo kInfo{
        kMetricLogName, "numbers in logs: TorchSharp, torch.cuda, TensorFlow, memory_profiler, psutil loops, --pattern",
        "*.log, *.dat, *.txt",
        "every other line; the source text of line tables; of more than 10 000 points all but the last of each "
        "stretch"};
    return kInfo;
  }

  Match sniff(std::string_view head) const override { return sniff_log(head); }

  Status read(Input& in, SnapshotSink& out) const override {
    Session session(decimal_units_, tags_.get());
    std::vector<std::unique_ptr<Matcher>> matchers;
    if (patterns_.empty()) {
      matchers = known_matchers();
    } else {
      matchers.push_back(make_pattern_matcher(patterns_));
    }
    if (Status read = read_lines(in, matchers, session); !read) return read;
    if (session.recorder().reading_count() == 0) return nothing_found(session);
    return session.recorder().give(out);
  }

 private:
  Error nothing_found(Session& session) const {
    std::string message = patterns_.empty() ? "no metric line in the log" : "no line matches --pattern";
    for (const Note& note : session.notes().all()) {
      if (note.severity == Severity::data_loss)
        return {ErrorCode::malformed, message + ": " + note.text, note.first_offset};
    }
    message += patterns_.empty() ? ": read to its end, expected at least one (--pattern REGEX tells what is one)"
                                 : ": read to the end of the log, expected at least one";
    return {ErrorCode::malformed, std::move(message)};
  }

  std::vector<std::shared_ptr<const UserPattern>> patterns_;
  std::shared_ptr<const LineTags> tags_;
  bool decimal_units_ = false;
};

}  // namespace

std::unique_ptr<Importer> make_metric_log_importer() { return std::make_unique<MetricLogImporter>(); }

Result<std::unique_ptr<Importer>> make_metric_log_importer(const MetricLogOptions& options) {
  std::vector<std::shared_ptr<const UserPattern>> patterns;
  for (const std::string& expression : options.patterns) {
    Result<std::shared_ptr<const UserPattern>> pattern = compile_pattern(expression, patterns.size());
    if (!pattern) return std::move(pattern).error();
    patterns.push_back(*std::move(pattern));
  }
  std::shared_ptr<const LineTags> tags;
  if (!options.group_by.empty()) {
    Result<std::shared_ptr<const LineTags>> compiled = compile_tags(options.group_by);
    if (!compiled) return std::move(compiled).error();
    tags = *std::move(compiled);
  }
  return std::unique_ptr<Importer>(
      std::make_unique<MetricLogImporter>(std::move(patterns), std::move(tags), options.decimal_units));
}

}  // namespace snapdiff::formats
