#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyzer/base/number_text.hpp"
#include "analyzer/base/words.hpp"
#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/compare.hpp"
#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/report/json_writer.hpp"
#include "analyzer/session/device_moments.hpp"
#include "analyzer/session/facts_text.hpp"
#include "analyzer/session/info_text.hpp"
#include "formats/registry.hpp"

namespace snapdiff::cli {
namespace {

void write_totals(report::JsonWriter& json, const Snapshot& snapshot) {
  json.object("totals", [&] {
    for (const Column& column : snapshot.samples.columns) {
      if (is_metric(column)) json.any_field(column.type.name, session::total_of(column));
    }
  });
}

std::string_view sampling_word(Sampling sampling) {
  switch (sampling) {
    case Sampling::exact: return "exact";
    case Sampling::poisson: return "poisson";
    case Sampling::unknown: return "unknown";
  }
  return {};
}

/// A file whose snapshots have been read, and the post-mortems of its failed allocations.
struct FileInfo {
  std::vector<const LoadedSnapshot*> parts;
  std::vector<session::TracedFailure> failures;
};

// One object per file.
void write_info(report::JsonWriter& json, const FileInfo& file, const report::Style& style) {
  const Snapshot& last = *file.parts.back()->ref.snapshot;
  const SnapshotFacts& facts = last.facts;
  session::ShapeMeter meter;
  const session::Shape shape = meter.measure(last);
  json.begin_object();
  json.field("schema", "snapdiff.info/1");
  json.field("file", facts.source.name);
  json.field("format", facts.format);
  json.field("format_detail", facts.format_detail);
  json.field("sha256", facts.source.sha256);
  json.field("size", facts.source.size_bytes);
  json.field_or_null("producer", facts.producer);
  json.field_or_null("pid", facts.pid);
  json.field("sampling", sampling_word(facts.sampling));
  json.field_or_null("period", facts.sampling == Sampling::poisson ? std::optional(facts.period) : std::nullopt);
  json.field_or_null("default_metric", facts.default_metric);
  json.field("partial", facts.partial);
  json.objects("snapshots", file.parts, [&](const LoadedSnapshot* part) {
    const Snapshot& snapshot = *part->ref.snapshot;
    write_totals(json, snapshot);
    json.field_or_null("taken_at", snapshot.facts.taken_at_ns ? session::time_text(*snapshot.facts.taken_at_ns) : "");
    json.field("stacks", meter.measure(snapshot).stacks);
  });
  write_totals(json, last);
  json.object("units", [&] {
    for (const Column& column : last.samples.columns) json.any_field(column.type.name, column.type.unit);
  });
  json.field("stacks", shape.stacks);
  json.field("frames", shape.frames);
  json.objects("notes", facts.notes.all(), [&](const Note& note) {
    json.field("severity", to_text(note.severity));
    json.field("text", note.text);
    json.field("count", note.count);
    json.field_or_null("offset", note.first_offset);
  });
  if (!file.failures.empty()) {
    json.array("out_of_memory", file.failures,
               [&](const session::TracedFailure& f) { report::json_failure(json, f.failure, f.live, style); });
  }
  json.end_object();
}

// Stacks of a failed allocation that are shown; `top FILE@oom` has them all.
constexpr std::size_t kFailureStacks = 5;

constexpr std::size_t kPrintBytes = std::size_t{64} << 10;

/// Prints findings as they come, some at a time: a file may have millions.
class Findings {
 public:
  explicit Findings(std::string file) : file_(std::move(file)) {}

  void add(const Violation& violation) {
    std::string line = file_;
    if (violation.line != 0) line += ":" + std::to_string(violation.line);
    line += ": ";
    if (violation.severity != Severity::data_loss) line += std::string(to_text(violation.severity)) + ": ";
    if (!violation.rule.empty()) line += violation.rule + ": ";
    line += violation.text;
    if (violation.line == 0 && violation.offset) line += ", first at byte " + std::to_string(*violation.offset);
    (violation.severity == Severity::data_loss ? violations_ : remarks_) += 1;
    text_ += escape_for_terminal(line) + "\n";
    if (text_.size() >= kPrintBytes) print();
  }

  /// What a format without rules by line reports by itself: its notes.
  void add_notes(const Notes& notes) {
    for (const Note& note : notes.all()) {
      if (note.severity == Severity::info) continue;
      Violation violation;
      violation.severity = note.severity;
      violation.offset = note.first_offset;
      violation.text = note.text + (note.count > 1 ? " (" + std::to_string(note.count) + " times)" : "");
      add(violation);
    }
  }

  void add_verdict(std::size_t snapshots) {
    text_ += escape_for_terminal(file_) + ": " +
             (violations_ == 0 ? "valid" : "not valid, " + counted(violations_, "violation")) + ", " +
             counted(snapshots, "snapshot") + (remarks_ == 0 ? "" : ", " + counted(remarks_, "remark")) + "\n";
  }

  void print() {
    if (Status done = print_data(text_); !done && printed_) printed_ = std::move(done);
    text_.clear();
  }

  std::uint64_t violations() const { return violations_; }
  bool any() const { return violations_ + remarks_ != 0; }
  const Status& printed() const { return printed_; }

 private:
  std::string file_;
  std::string text_;
  std::uint64_t violations_ = 0;
  std::uint64_t remarks_ = 0;
  Status printed_ = ok();
};

int validate_file(const std::string& path, formats::ReadOptions options) {
  Findings findings(path);
  options.violations = [&findings](const Violation& violation) {
    findings.add(violation);
    return true;
  };
  const Result<std::vector<Snapshot>> read = formats::read_file(path, options);
  if (read) {
    if (!findings.any()) {
      Notes notes;
      for (const Snapshot& snapshot : *read) notes.add_all(snapshot.facts.notes);
      findings.add_notes(notes);
    }
    findings.add_verdict(read->size());
  }
  findings.print();
  if (!findings.printed()) return tell_failure(findings.printed().error());
  if (!read) return tell_failure(read.error());
  return findings.violations() == 0 ? kExitDone : kExitBadInput;
}

/// Reads each operand, which must be a file, and prints what breaks the rules of its format: "FILE:LINE: RULE: TEXT".
/// Returns the exit code: 2 when a file is not valid or could not be read.
int validate_files(const Options& options) {
  if (options.as != "text") fail({ErrorCode::usage, "info --validate --as " + options.as + ": expected text"});
  formats::ReadOptions read_options;
  read_options.format = options.input_format;
  if (options.max_input) read_options.max_input_bytes = static_cast<std::uint64_t>(*options.max_input);
  const std::vector<session::Operand> operands = value_or_throw(session::parse_operands(options.operands));
  int code = kExitDone;
  for (const session::Operand& operand : operands) {
    const auto* path = std::get_if<session::PathOperand>(&operand.what);
    if (path == nullptr || path->is_directory || !path->point.empty())
      fail({ErrorCode::usage, "info --validate " + operand.text + ": expected a file"});
    code = std::max(code, validate_file(path->path, read_options));
  }
  return code;
}

}  // namespace

int run_info(const Arguments& arguments) {
  Options options;
  CommandLine line(
      "What a file is, what is in it, and what was dropped and why.",
      "info [options] FILE...\n\n  of a CUDA snapshot also why an allocation failed",
      {"snapdiff info svc.0012.heap", "snapdiff info *.heap --as json", "snapdiff info --validate run.sdt.jsonl"});
  add_options(line, options, kTakesOperands | kTakesForm | kReadsFiles);
  bool validate = false;
  line.flag("--validate", validate, "each line that breaks a rule of the format; exit 2 if any");
  if (const auto code = line.parse(arguments)) return *code;
  if (options.operands.empty()) fail({ErrorCode::usage, "info needs at least one file, see --help"});
  if (options.as != "text" && options.as != "json" && options.as != "jsonl") {
    fail({ErrorCode::usage, "info --as " + options.as + ": expected text, json or jsonl"});
  }
  if (validate) return validate_files(options);
  const Terminal terminal = look_at_terminal(options.no_color);
  const Question asked = understand(options, terminal);

  int code = kExitDone;
  std::string out;
  const report::JsonLayout layout = options.as == "jsonl" ? report::JsonLayout::one_line : report::JsonLayout::indented;
  std::vector<std::string> objects;
  report::Style style = asked.style;
  style.max_rows = kFailureStacks;
  for (const session::Operand& operand : asked.operands) {
    const Result<Loaded> loaded =
        session::load_operands({operand}, request_of(options, terminal), true, store::Parts::allocator);
    if (!loaded) {
      code = tell_failure(loaded.error());
      continue;
    }
    if (options.strict && loaded->partial()) code = std::max(code, kExitBadInput);
    if (options.as == "text") {
      session::ShapeMeter meter;
      for (const LoadedSnapshot& item : loaded->snapshots) {
        out += (out.empty() ? "" : "\n") + session::info_text(item, meter);
        for (const session::TracedFailure& f : value_or_throw(session::failures_of(item, asked.view)))
          out += "\n" + report::text_failure(f.failure, f.live, style);
      }
      continue;
    }
    std::map<std::string, std::vector<const LoadedSnapshot*>> by_file;
    for (const LoadedSnapshot& item : loaded->snapshots) by_file[item.ref.snapshot->facts.source.name].push_back(&item);
    for (const auto& [file, parts] : by_file) {
      report::JsonWriter json(objects.emplace_back(), layout);
      write_info(json, {parts, value_or_throw(session::failures_of(*parts.back(), asked.view))}, style);
    }
  }
  if (options.as == "json" && objects.size() > 1) {
    report::JsonWriter json(out, layout);
    json.begin_array();
    for (const std::string& object : objects) json.raw(object);
    json.end_array();
    out += '\n';
  } else {
    for (const std::string& object : objects) out += object + "\n";
  }
  value_or_throw(print_report(out, options.as == "text" ? report::Form::text : report::Form::json));
  return code;
}

}  // namespace snapdiff::cli
