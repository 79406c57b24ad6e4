#include <utility>

#include "formats/metric_log/engine.hpp"
#include "formats/metric_log/metric_log_importer.hpp"
#include "formats/metric_log/sniff_log.hpp"
#include "formats/metric_log/user_pattern.hpp"

namespace snapdiff::formats {
namespace {

using namespace metric_log;

Error nothing_found(Session& session, bool has_patterns) {
  std::string message = has_patterns ? "no line matches --pattern" : "no metric line in the log";
  for (const Note& note : session.notes().all()) {
    if (note.severity == Severity::data_loss)
      return {ErrorCode::malformed, message + ": " + note.text, note.first_offset};
  }
  message += has_patterns ? ": read to the end of the log, expected at least one"
                          : ": read to its end, expected at least one (--pattern REGEX tells what is one)";
  return {ErrorCode::malformed, std::move(message)};
}

void decode_log(Input& in, SnapshotSink& out, const ReadRequest& request) {
  std::vector<std::shared_ptr<const UserPattern>> patterns;
  for (const std::string& expression : request.patterns) {
    patterns.push_back(value_or_throw(compile_pattern(expression, patterns.size())));
  }
  std::shared_ptr<const LineTags> tags;
  if (!request.group_by.empty()) tags = value_or_throw(compile_tags(request.group_by));
  Session session(request.decimal_units, tags.get());
  std::vector<std::unique_ptr<Matcher>> matchers;
  if (patterns.empty()) {
    matchers = known_matchers();
  } else {
    matchers.push_back(make_pattern_matcher(patterns));
  }
  read_lines(in, matchers, session);
  if (session.recorder().reading_count() == 0) throw ReadFailure{nothing_found(session, !patterns.empty())};
  value_or_throw(session.recorder().give(out));
}

}  // namespace

constexpr Format kMetricLog{
    .info = {"metric-log",
             "numbers in logs: TorchSharp, torch.cuda, TensorFlow, memory_profiler, psutil loops, --pattern",
             "*.log, *.dat, *.txt",
             "every other line; the source text of line tables; of more than 10 000 points all but the last of each "
             "stretch"},
    .sniff = sniff_log,
    .decode = decode_log,
    .takes_patterns = true,
    .rank = -1};

}  // namespace snapdiff::formats
