#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/base/overview.hpp"
#include "analyzer/base/printable.hpp"
#include "analyzer/base/retention.hpp"
#include "snapdiff/counters.hpp"
#include "snapdiff/device_memory.hpp"
#include "snapdiff/gate.hpp"
#include "snapdiff/growth.hpp"
#include "snapdiff/postmortem.hpp"
#include "snapdiff/result.hpp"
#include "snapdiff/story.hpp"
#include "snapdiff/trend.hpp"
#include "snapdiff/waterfall.hpp"

/// The public header of the report module: results as text, JSON, JSON Lines, CSV and Markdown, and as files for
/// other tools. Reads result types only; returns strings, prints nothing.
namespace snapdiff::report {

class JsonWriter;

enum class Form : std::uint8_t { text, json, jsonl, csv, markdown };

/// Takes an output piece by piece, in order.
using Sink = std::function<void(std::string_view)>;

/// Hands on what is written so far, once it is a piece of 1 MiB: a name that is in each of many rows takes no memory
/// for each. `sink` may be null.
inline void pass_on(std::string& out, const Sink* sink) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  if (sink == nullptr || out.size() < kPiece) return;
  (*sink)(out);
  out.clear();
}

struct Style {
  Form form = Form::text;
  std::size_t width = 80;  ///< columns of the terminal
  bool colour = false;
  bool utf8 = true;            ///< else -> < +- .. (rec) and digits for sparklines
  std::size_t max_rows = 20;   ///< 0 = all
  std::size_t first_row = 0;   ///< rows before it go to [N others]: pages of a growth, trend or top table
  bool whole_names = false;    ///< names and places of culprits are not cut to columns
  std::int64_t min_bytes = 0;  ///< smaller rows go to [N others]
  std::string_view thousands;  ///< between groups of three digits in tables of text
  bool cumulative = false;     ///< sort and lead with cum where by != stack
  std::string footer;          ///< last line of text, e.g. "stored in snapdiff.db as @1, @2. Next: ..."
  /// Takes JSON, JSON Lines and CSV in pieces; a function then returns the rest, which without it is the whole.
  const Sink* sink = nullptr;
};

/// Word and reason of each row of a series, parallel to the rows; or empty.
using RowVerdicts = std::span<const Verdict>;

std::string write_diff(const GrowthReport& report, const Style& style);
/// `steps` as full reports for JSON and --steps, else empty. `verdicts` that are not parallel to series.overall.rows
/// are left out.
std::string write_series(const SeriesReport& series, const std::vector<GrowthReport>& steps, RowVerdicts verdicts,
                         const Style& style);
std::string write_trend(const TrendReport& trend, const Style& style);

/// The lines above the table of one snapshot of a device's memory; null where there is none.
///   failure  the last allocation that failed: in JSON only where the snapshot is the moment before it
///   peak     the fullest moment of its trace
struct AboveTop {
  std::shared_ptr<const OutOfMemory> failure;
  std::shared_ptr<const PeakStory> peak;
};
std::string write_top(const TopReport& report, const Style& style, const AboveTop& above = {});
/// All that is known of one culprit of the report's story, or of a part of its peak: figures, why it has its verdict,
/// its value in each snapshot, call path with files and lines, where it allocates, its `style.max_rows` heaviest
/// stacks, who holds it. Text.
std::string write_culprit(const GrowthReport& report, const Culprit& culprit, const Style& style);

std::string write_peek(const PeekReport& report, const Style& style);

/// Counters of one snapshot (values) or of several (growth), in every form.
std::string write_counters(const CounterReport& report, const Style& style);

/// A failed allocation in words and figures. `live` is what was in use just before: its
/// `style.max_rows` heaviest rows follow. As text, or as the next element of `json`.
std::string text_failure(const OutOfMemory& failure, const TopReport& live, const Style& style);
void json_failure(JsonWriter& json, const OutOfMemory& failure, const TopReport& live, const Style& style);

/// Who pins memory, by stack and by segment. Text, or one JSON object for all other forms.
std::string write_pins(const PinReport& report, const Style& style);

/// Ranks beside each other. Text, or one JSON object for all other forms.
std::string write_ranks(const RankReport& report, const Style& style);

/// The parts of resident memory: text or JSON.
std::string write_waterfall(const Waterfall& waterfall, const Style& style);

/// Types of object graphs and what they keep alive. Text, CSV, or one JSON object for all other forms.
std::string write_retained(const RetainedReport& report, const Style& style);

/// Paths from roots to objects, and what grows along them. Text, or one JSON object for all other forms.
std::string write_paths(const PathReport& report, const Style& style);

/// The five lines of a post-mortem, for the terminal.
std::string postmortem_text(const Postmortem& report, const Style& style);
/// For an incident ticket: headline, in short, the `style.max_rows` heaviest rows, findings, hints, inputs.
std::string postmortem_markdown(const Postmortem& report, const Style& style);
/// "snapdiff.postmortem/1": the story, and the figures as `diff --as json` and `trend --as json` write them.
std::string postmortem_json(const Postmortem& report, const Style& style);

/// A line for each series, in every form.
std::string write_overview(const Overview& overview, const Style& style);

std::string write_gate(const GateReport& report, const Style& style);
/// For CI servers: JUnit XML, one test case per finding; SARIF 2.1.0, one result per broken finding.
std::string gate_junit(const GateReport& report);
std::string gate_sarif(const GateReport& report, std::string_view version);

/// One place of two stacks, printable: "Cache::put  cache.cc:41". "" where a side has nothing there. Of
/// a function with other parameters both are in full; of a file that lies elsewhere, its path from the first other
/// folder on.
struct PairedFrame {
  std::string before, after;
  bool alike() const { return before == after; }
};

/// A stack that was matched across builds, as both builds call it, leaf first. Frames are paired by their functions,
/// renamed ones too; between those, and where that would take more than a million steps, by their order. Of very deep
/// ones the middle is left out: a line says how many frames.
struct StackPair {
  const GrowthRow* row = nullptr;
  const Counterpart* counterpart = nullptr;
  std::vector<PairedFrame> frames;
};

/// Stacks of the rows of a report by stack. The report has to outlive it.
class StackPairs {
 public:
  explicit StackPairs(const GrowthReport& report, bool utf8 = true);
  /// Nothing where the row was not matched across builds, and where both call it the same.
  std::optional<StackPair> of(const GrowthRow& row) const;

 private:
  std::string name(const FrameView& frame, bool of_baseline) const;
  PairedFrame paired(const FrameView* before, const FrameView* after) const;

  const GrowthReport& report_;
  bool utf8_;
  std::unordered_map<std::string_view, std::string_view> renamed_;
};

/// "matched by function, lines moved", with the counts where several stacks are one: "3 stacks before, 1 after".
std::string matched_text(const StackPair& pair);

/// Files for other tools, from a diff (growth) or from one snapshot (value). `sink` as that of a style.
std::string to_folded(const GrowthReport& report, const Sink* sink = nullptr);
std::string to_folded(const TopReport& report, const Sink* sink = nullptr);
std::string to_speedscope(const GrowthReport& report);
std::string to_speedscope(const TopReport& report);

/// A profile.proto, gzip'd, that `go tool pprof` opens: of one snapshot all its columns; of a diff
/// current minus baseline with the baseline's rows labelled pprof::base=true.
std::string to_pprof(const SnapshotRef& snapshot);
Result<std::string> to_pprof_diff(const GrowthReport& report);

}  // namespace snapdiff::report
