#include "analyzer/cli/validation.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/cli/compare.hpp"
#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/cli/terminal.hpp"
#include "formats/registry.hpp"
#include "snapdiff/words.hpp"

namespace snapdiff::cli {
namespace {

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

}  // namespace

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

}  // namespace snapdiff::cli
