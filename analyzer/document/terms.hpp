#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "snapdiff/growth.hpp"

/// Words that a reader can ask about. Each has one entry here, and every form takes it from here.
namespace snapdiff::document {

/// A word and its definition: one sentence without a full stop, in plain text.
struct Term {
  std::string_view word, meaning;
};

/// Verdicts, gravest first. Words that share an entry are separated by ", ".
std::span<const Term> verdict_terms();

/// The other words of reports, in the order in which a glossary lists them.
std::span<const Term> report_terms();

/// How grave a verdict is: the gravest has the highest number, 0 stands for words that are no verdict.
int gravity(std::string_view verdict);

/// Verdicts by gravity, gravest first, one word each.
std::span<const std::string_view> verdicts_by_gravity();

/// "by function, file and line": completes "matched …".
std::string_view tier_words(MatchTier tier);

/// Titles of a metric: `title` begins a sentence ("In-use bytes grew"), `label` precedes figures ("in use").
/// Both are empty for metrics that go by their own name.
struct MetricTerm {
  std::string_view metric, title, label;
};
MetricTerm metric_term(std::string_view metric);

/// True if a growth may be sampling error alone: it is below two standard deviations. Exact values (error 0) and
/// unknown errors (NaN) give false.
bool within_error(double growth, double error);

/// "Verdicts of a series …", the verdicts with their meanings, wrapped at 80 columns: `help verdicts`.
std::string verdict_help();

}  // namespace snapdiff::document
