#include "analyzer/document/terms.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace snapdiff::document {
namespace {

constexpr std::array kVerdicts = {
    Term{
        "GROWING",
        "rises over the whole window, was never half undone, does not slow down; the odds are at least 95 % (75 % from "
        "16 sampled snapshots on, if the rise exceeds what sampling could cause)"},
    Term{"RISING", "rises, with weaker evidence: fewer than 8 snapshots, lower odds, or a rise within sampling error"},
    Term{"STEP", "rose once and stayed"},
    Term{"NEW, GONE", "absent at the start; absent at the end"},
    Term{"SATURATING", "rose early and levels off: a cache that fills, a warm-up"},
    Term{"NOISY", "scatters, without a significant trend"},
    Term{"SHRINKING", "falls"},
    Term{"FLAT", "hardly changes"},
    Term{"minor", "changes by less than the floor (0.2 % of the largest snapshot, `--floor`): not judged"},
};

constexpr std::array kGravity = {
    std::string_view("GROWING"),   std::string_view("RISING"),     std::string_view("STEP"),
    std::string_view("NEW"),       std::string_view("SATURATING"), std::string_view("NOISY"),
    std::string_view("SHRINKING"), std::string_view("GONE"),       std::string_view("FLAT"),
};

constexpr std::array kReport = {
    Term{"snapshot", "the state of one heap at one moment, from one input"},
    Term{"stack", "the functions that were active when memory was allocated, allocation site first"},
    Term{"growth", "the later value minus the earlier one; negative growth is shrinkage"},
    Term{"grew, shrank", "the sums over growing and over shrinking stacks, which a net value hides"},
    Term{"in-use bytes", "bytes that were allocated and not yet freed at the moment of the snapshot"},
    Term{"new, gone", "only in the later snapshot; only in the earlier one"},
    Term{"culprit", "the function of your own code under which memory grew: a place to look at, not a proof"},
    Term{"[N others]", "the sum of all rows that a filter hides or the page leaves out"},
    Term{"[unattributed]", "bytes of the total for which the input gives no stack"},
    Term{"\u00b1",
         "one standard deviation of the growth by sampling; ~ marks growth below 2 \u00b1, which may be chance"},
    Term{"pinned", "free bytes that cannot go back to the device because a neighbouring block is in use"},
};

constexpr std::array kMetrics = {
    MetricTerm{"inuse_space", "In-use bytes", "in use"},
    MetricTerm{"inuse_objects", "In-use objects", "objects"},
    MetricTerm{"alloc_space", "Allocated bytes", "allocated"},
    MetricTerm{"lost_space", "Lost bytes", "lost"},
    MetricTerm{"alloc_objects", "Allocated objects", "allocated objects"},
};

/// Appends `text` to lines of at most 80 columns, each indented by `indent`; the first line starts at that column.
void append_wrapped(std::string& out, std::string_view text, std::size_t indent) {
  constexpr std::size_t kColumns = 80;
  std::size_t column = indent;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (column > indent && column + 1 + end > kColumns) {
      out.append("\n").append(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out.append(text.substr(0, end));
    column += end;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  out += '\n';
}

}  // namespace

std::span<const Term> verdict_terms() { return kVerdicts; }

std::span<const Term> report_terms() { return kReport; }

std::span<const std::string_view> verdicts_by_gravity() { return kGravity; }

int gravity(std::string_view verdict) {
  const auto at = std::find(kGravity.begin(), kGravity.end(), verdict);
  return static_cast<int>(kGravity.end() - at);
}

std::string_view tier_words(MatchTier tier) {
  switch (tier) {
    case MatchTier::build_id: return "by build id";
    case MatchTier::module_offset: return "by module and offset";
    case MatchTier::function_line: return "by function, file and line";
    case MatchTier::function_file: return "by function, lines moved";
    case MatchTier::normalised: return "by function under another name";
    case MatchTier::inline_free: return "without frames of one build";
    case MatchTier::fuzzy: return "by similarity (fuzzy)";
    case MatchTier::merged: return "by common call sequence";
    case MatchTier::none: return "unmatched (new or gone)";
  }
  return "";
}

MetricTerm metric_term(std::string_view metric) {
  const auto at = std::ranges::find(kMetrics, metric, &MetricTerm::metric);
  return at == kMetrics.end() ? MetricTerm{metric, {}, {}} : *at;
}

bool within_error(double growth, double error) {
  constexpr double kDeviations = 2;  // two standard deviations: 95 % of a normal distribution
  return error > 0 && std::fabs(growth) < kDeviations * error;
}

std::string verdict_help() {
  std::string out = "Verdicts of a series, from 8 snapshots on (below: RISING at the most).\n\n";
  constexpr std::size_t kIndent = 14;
  for (const Term& term : kVerdicts) {
    std::string meaning(term.meaning);
    std::erase(meaning, '`');
    out.append("  ").append(term.word).append(kIndent - 2 - term.word.size(), ' ');
    append_wrapped(out, meaning, kIndent);
  }
  return out.append(
      "\nA verdict is of the shape over time, not of its cause: whether growth is a leak\nis for a person to say.\n");
}

}  // namespace snapdiff::document
