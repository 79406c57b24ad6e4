#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "snapdiff/counters.hpp"
#include "snapdiff/device_memory.hpp"
#include "snapdiff/growth.hpp"
#include "snapdiff/notes.hpp"
#include "snapdiff/story.hpp"
#include "snapdiff/trend.hpp"
#include "snapdiff/waterfall.hpp"

/// What a post-mortem report says. Every writer of one (PDF, HTML, Markdown, JSON, terminal) works
/// from this type alone, so that they all say the same.
namespace snapdiff {

/// One thing to know about a series.
///   what       what grew or shrank, by how much
///   where      through which frames, with shares
///   since      from which snapshot on
///   certainty  how sure: verdict and reason, matching, sampling error
///   limit      when the total meets the limit; only where one was given
///   not_this   what it is not, what was allocated and freed again, what the net hides
///   next       what to look at, as commands or places
struct Finding {
  enum class Kind : std::uint8_t { what, where, since, certainty, limit, not_this, next };
  Kind kind = Kind::what;
  Prose text;  ///< one or more sentences
  friend bool operator==(const Finding&, const Finding&) = default;
};
constexpr std::string_view to_text(Finding::Kind kind) {
  constexpr std::string_view kNames[] = {"what", "where", "since", "certainty", "limit", "not", "next"};
  return kNames[static_cast<std::size_t>(kind)];
}
/// For people.
constexpr std::string_view title_of(Finding::Kind kind) {
  constexpr std::string_view kTitles[] = {"What changed", "Where",          "Since when",     "How sure",
                                          "The limit",    "What it is not", "What to look at"};
  return kTitles[static_cast<std::size_t>(kind)];
}

/// A known pattern that the evidence fits. Never a claim: it says what was seen and what that usually is.
///   rule        id in the rules, "matplotlib-figures"
///   harmless    the pattern is no leak (a cache warming up, a first step)
///   evidence    stack, figures and verdict it rests on
///   suggestion  what to try; "" for harmless ones
///   rows        of Postmortem::trend.series.overall
///   growth      of these rows, in the metric's unit; 0 where the evidence is not of rows
struct Hint {
  std::string rule;
  std::string title;
  bool harmless = false;
  Prose evidence;
  std::string suggestion;
  std::vector<std::uint32_t> rows;
  std::int64_t growth = 0;
};

///   headline  "In-use bytes grew from 1.02 to 6.72 MiB"
///   verdict   of the culprits, never of the total; "" below 8 snapshots
///   findings  in the order of Finding::Kind, several of a kind allowed
///   hints     those that explain most growth first
///   in_short  five lines for a terminal or a ticket, the most important first
struct Narrative {
  Prose headline;
  std::string verdict;
  std::vector<Finding> findings;
  std::vector<Hint> hints;
  std::vector<Prose> in_short;
};

/// An input of the series that could not be read: there is a gap where it belongs.
///   before  index of the snapshot after it in Postmortem::steps; their number where it belongs after the last
///   why     the whole message, the name included
struct MissingInput {
  std::size_t before = 0;
  std::string name;
  std::string why;
};

/// What a report has from whoever asks for it, beside the snapshots.
///   missing   inputs that were damaged, in the order of their places between the steps
///   pins      CUDA: who pins segments of the last snapshot; nothing elsewhere
///   failure   CUDA: the last allocation that failed in the last snapshot that holds one
///   resident  what RSS consists of; null where the inputs do not say RSS and a part of it
///   notes     of the inputs and of the comparison
struct PostmortemHead {
  std::string title;
  std::string version;     ///< "snapdiff 0.1"
  std::string order_note;  ///< "12 snapshots, ordered by the number in the file name; ..."
  std::int64_t created_at_ns = 0;
  std::vector<MissingInput> missing;
  std::optional<PinReport> pins;
  std::optional<OutOfMemory> failure;
  std::shared_ptr<const Waterfall> resident;
  Notes notes;
};

/// Everything about one series.
///   trend     of the snapshots since the last restart, by stack; with two snapshots its verdicts have
///             no words
///   steps     of all snapshots, those before the restart too; restart and other_process say where
///   by_function  the same first -> last view by function, for tables; no series
///   counters  numbers of the whole process where the inputs hold any, with verdicts
///   redacted  names are tokens
struct Postmortem : PostmortemHead {
  TrendReport trend;
  std::vector<SeriesStep> steps;
  GrowthReport by_function;
  std::optional<CounterReport> counters;
  Narrative narrative;
  bool redacted = false;

  const GrowthReport& growth() const { return trend.series.overall; }
};

}  // namespace snapdiff
