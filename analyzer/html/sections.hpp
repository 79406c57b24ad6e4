#pragma once

#include <string>
#include <vector>

#include "analyzer/html/series.hpp"
#include "snapdiff/postmortem.hpp"

/// The parts of the page that are plain HTML. Each gives a whole element, or "" where there is nothing.
namespace snapdiff::html {

std::string headline_text(const Postmortem& report);

/// What makes all else secondary, headline, badge, the change in figures.
std::string answer_section(const Postmortem& report);

/// The culprits with place, verdict and values; the next command.
std::string culprits_section(const Postmortem& report);

/// Key figures of the pair of snapshots that is shown.
std::string figures_section(const Postmortem& report);

/// All findings, and hints.
std::string story_section(const Postmortem& report, const Chosen& chosen);

/// A column of the table below: the key by which the script knows it, what is above it, and whether narrow windows
/// leave it out.
struct PageColumn {
  std::string_view key;
  std::string title;
  bool if_room;
};
std::vector<PageColumn> table_columns(const Postmortem& report);

/// The heaviest rows and the sums that make the total, first -> last.
std::string table_section(const Postmortem& report, const Chosen& chosen, const std::vector<std::int64_t>& rest);

std::string function_section(const Postmortem& report);
std::string failure_section(const Postmortem& report);
std::string pins_section(const Postmortem& report);
std::string resident_section(const Postmortem& report);
std::string counters_section(const Postmortem& report);
std::string inputs_section(const Postmortem& report);
std::string footer(const Postmortem& report);

/// A line of values as a small picture; unknown ones are NaN.
std::string sparkline(const std::vector<double>& values);

/// Name and place of a stack's leaf, and its callers below; frames leaf first.
std::string stack_cell(const std::vector<FrameView>& frames);

/// Badge of a verdict, "" for none.
std::string badge(std::string_view word, bool big = false);

/// Number and unit in the columns of a table.
std::string cell(std::int64_t v, std::string_view unit, bool is_growth = false);

}  // namespace snapdiff::html
