#include "formats/input/all_formats.hpp"
#include "formats/input/window_input.hpp"
#include "formats/metric_log/log_session.hpp"
#include "formats/metric_log/printed_object.hpp"
#include "formats/text/log_lines.hpp"

namespace snapdiff::formats {
namespace {

using namespace metric_log;

/// Whether the line may go on after the end of the input, within a number or with more of them. A
/// bracket, a quote and a whole unit are ends.
bool may_be_cut(const LogLine& line) {
  if (line.terminated || line.text.empty()) return false;
  const bool has_end = contains("})]\"'|Bb", line.text.substr(line.text.size() - 1)) ||
                       (line.text.size() > 5 && line.text.substr(line.text.size() - 5) == "bytes");
  return !has_end;
}

/// The matchers of all known trackers, in the order in which they are offered a line.
std::vector<std::unique_ptr<Matcher>> known_matchers() {
  std::vector<std::unique_ptr<Matcher>> all;
  all.push_back(make_memory_summary_matcher());
  all.push_back(make_profiler_table_matcher());
  all.push_back(make_memory_dict_matcher());
  all.push_back(make_memory_info_matcher());
  all.push_back(make_oom_message_matcher());
  all.push_back(make_gc_log_matcher());
  all.push_back(make_torchsharp_matcher());
  all.push_back(make_mprof_matcher());
  all.push_back(make_csv_table_matcher());
  all.push_back(make_word_table_matcher());
  all.push_back(make_json_line_matcher());
  all.push_back(make_printed_object_matcher());
  all.push_back(make_plain_line_matcher());
  return all;
}

/// Reads all lines of `in` into `session`, each by the first matcher that takes it. Whether the objects among them
/// could be put together, but for one that the end of `in` cuts. Errors: what Input returns.
bool read_lines(Input& in, const std::vector<std::unique_ptr<Matcher>>& matchers, bool joins_objects,
                Session& session) {
  LogLines lines(in, Returns::end_lines);
  ObjectLines objects(lines, joins_objects);
  LogLine line;
  std::uint64_t unused = 0;
  std::optional<std::uint64_t> first_unused;
  while (objects.next(line)) {
    const std::size_t before = session.recorder().reading_count();
    bool was_taken = false;
    for (const auto& matcher : matchers) {
      was_taken = matcher->take(line, session);
      if (was_taken) break;
    }
    if (may_be_cut(line) && session.recorder().reading_count() > before) {
      session.recorder().undo();
      session.recorder().set_partial();
      session.notes().add(Severity::data_loss, "the last line has no end and may be cut: it was left out", line.offset);
    }
    session.passed(line, was_taken);
    session.evidence().line_ended(line.text);
    session.weak_evidence().line_ended(line.text);
    if (!was_taken && !trim(line.text).empty()) {
      ++unused;
      if (!first_unused) first_unused = line.offset;
    }
  }
  // Blocks of lines say themselves what they leave out.
  if (unused > 0) session.notes().add(Severity::info, "lines without a number that is read", first_unused, unused);
  for (const auto& matcher : matchers) matcher->finish(session);
  if (lines.skipped() > 0)
    session.notes().add(Severity::data_loss,
                        "lines longer than " + std::to_string(kMaxLogLineBytes >> 20) + " MiB were skipped",
                        lines.first_skipped(), lines.skipped());
  return objects.objects() > 0 && objects.broken() <= 1;
}

/// Blocks that the end of the head has cut count by their heading.
bool has_heading(std::string_view head) {
  if (contains(head, "PyTorch CUDA memory summary, device ID") && contains(head, "| Cur Usage  |")) return true;
  const std::size_t table = head.find("Line #    Mem usage    Increment");
  if (table != std::string_view::npos && contains(head.substr(table, 128), "Line Contents")) return true;
  const std::size_t brace = head.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  return brace != std::string_view::npos && head[brace] == '{' && contains(head.substr(0, 4096), ".current\"") &&
         contains(head.substr(0, 4096), "allocat");
}

/// JSON over several lines: its keys repeat for each thing that it lists.
bool is_json_document(std::string_view head) {
  const std::size_t begin = head.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (begin == std::string_view::npos || !contains("{[", head.substr(begin, 1))) return false;
  const std::size_t next = head.find_first_not_of(" \t", begin + 1);
  return next != std::string_view::npos && contains("\r\n", head.substr(next, 1));
}

/// Whether these first bytes of a log hold metric lines. Certain when a tracker's own line, table or
/// dictionary is there, or lines that people write and that repeat (Evidence); possible where the text is one such line
/// and little else.
Match sniff_log(std::string_view head) {
  if (!is_text(head.substr(0, 4096), "\n\r\t\f\v\b\x1b")) return Match::no;
  Session session(false, nullptr);
  MemoryInput in(head, {});
  const bool has_objects = read_lines(in, known_matchers(), true, session);
  const std::uint16_t kinds = session.recorder().kinds();
  if (session.recorder().reading_count() == 0 && !has_heading(head)) return Match::no;
  const bool is_sure = kinds != kPlain || session.evidence().is_log();
  if (kinds == kPlain && !has_objects && is_json_document(head)) return Match::no;
  // A counter that is met again, but not as in a log, is of several things.
  bool is_met_again = false;
  session.recorder().each_series(
      [&](std::string_view, const Recorder::Growth& growth) { is_met_again = is_met_again || growth.readings > 1; });
  if (!is_sure && session.weak_evidence().is_log()) return Match::possible;
  if (!is_sure && is_met_again) return Match::no;
  const auto lines = static_cast<std::size_t>(std::count(head.begin(), head.end(), '\n'));
  if (!is_sure && session.recorder().reading_count() * 4 < lines) return Match::no;
  return is_sure ? Match::certain : Match::possible;
}

[[noreturn]] void nothing_found(Session& session, bool has_patterns) {
  std::string message = has_patterns ? "no line matches --pattern" : "no metric line in the log";
  for (const Note& note : session.notes().all()) {
    if (note.severity == Severity::data_loss) fail(ErrorCode::malformed, message + ": " + note.text, note.first_offset);
  }
  message += has_patterns ? ": read to the end of the log, expected at least one"
                          : ": read to its end, expected at least one (--pattern REGEX tells what is one)";
  fail(ErrorCode::malformed, std::move(message));
}

void decode_log(Input& in, SnapshotSink& out, const ReadRequest& request) {
  std::vector<std::unique_ptr<Matcher>> matchers;
  if (request.patterns.empty()) {
    matchers = known_matchers();
  } else {
    matchers.push_back(make_pattern_matcher(request.patterns));
  }
  std::optional<LineTags> tags;
  if (!request.group_by.empty()) tags.emplace(request.group_by);
  Session session(request.decimal_units, tags ? &*tags : nullptr);
  read_lines(in, matchers, request.patterns.empty(), session);
  if (session.recorder().reading_count() == 0) nothing_found(session, !request.patterns.empty());
  session.recorder().give(out);
}

}  // namespace

constexpr Format kMetricLog{
    .info = {"metric-log",
             "numbers in logs: TorchSharp, torch.cuda, TensorFlow, memory_profiler, psutil loops, printed objects, "
             "--pattern",
             "*.log, *.dat, *.txt",
             "every other line; the source text of line tables; of more than 10 000 points all but the last of each "
             "stretch"},
    .sniff = sniff_log,
    .decode = decode_log,
    .rank = -1};

}  // namespace snapdiff::formats
