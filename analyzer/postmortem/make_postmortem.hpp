#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/trend/verdict.hpp"
#include "snapdiff/postmortem.hpp"
#include "snapdiff/result.hpp"

/// The public header of the post-mortem module: from the snapshots of one series to everything that its report
/// says.
namespace snapdiff::postmortem {

/// What the caller knows beside the snapshots, whose own notes are added.
///   view   metric, filters and frames to show; the grouping is by stack, whatever it says
///   limit  in the metric's unit, for the forecast
struct Request : PostmortemHead {
  DiffOptions view;
  std::optional<std::int64_t> limit;
};

/// Two or more snapshots, oldest first. The narrative is still empty. Of snapshots that hold counters
/// alone, growth() has no metric and no rows, and the steps have no totals.
/// Errors: those of the diff.
Result<Postmortem> assemble(std::span<const SnapshotRef> snapshots, Request request);

/// A series judged within one life, with what it says: of moments of iterations (snapshots with the column left_space)
/// what these leave behind. `floor`: of objects as well (diff_series). Errors: those of the diff.
Result<TrendReport> judge_series(std::span<const SnapshotRef> snapshots, const DiffOptions& view,
                                 std::optional<std::int64_t> limit, std::optional<double> floor = {},
                                 trend::Emptied emptied = trend::Emptied::may_be_a_cache);

/// The same of two snapshots, without a verdict.
Result<GrowthReport> compare_pair(const SnapshotRef& baseline, const SnapshotRef& current, const DiffOptions& view);

/// Patterns to look for (README.md, "Hint rules"). Null: none.
struct Rule;
using Rules = std::shared_ptr<const std::vector<Rule>>;

/// The rules that come with the program, as TOML.
std::string_view built_in_rules_text();

/// The rules of a TOML text; `before` come first, and one of the same id replaces it in its place.
/// Errors: usage, about `file_name`, with line, what was found and what expected.
Result<Rules> parse_rules(const std::string& toml, const std::string& file_name, const Rules& before);

/// parse_rules() of the built-in text. Errors: internal.
Result<Rules> built_in_rules();

/// The story of a report: nothing is said that its figures do not hold. Times and numbers are those of
/// `report`, whose own narrative is not read.
Narrative tell(const Postmortem& report, const Rules& rules);

/// Tokens instead of names. The same name has the same token in every report made with the same key;
/// without the key nobody can find out by trying whether a token is a given name.
class Redactor {
 public:
  explicit Redactor(std::string_view key);

  /// Replaces every name in `report`, the narrative's included: functions, files, paths, modules, build
  /// ids, types, hosts, command lines, label values, counters, names in notes. Figures stay, pseudo
  /// rows too; file endings are kept. To be called once, when everything else is done.
  void redact(Postmortem& report) const;
  /// The same for what is shown beside the report: pins, views of stacks, and a text with names in it.
  void redact(PinReport& report) const;
  std::shared_ptr<const StackView> redacted(std::shared_ptr<const StackView> view) const;
  std::string redacted(std::string_view text) const;
  /// Of one name, of a folder or a series.
  std::string token(std::string_view name) const;

  class Tokens;

 private:
  std::shared_ptr<Tokens> tokens_;
};

}  // namespace snapdiff::postmortem
