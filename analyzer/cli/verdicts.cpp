#include "analyzer/cli/verdicts.hpp"

#include "analyzer/trend/verdict.hpp"

namespace snapdiff::cli {

std::vector<report::RowVerdict> row_verdicts(const GrowthReport& overall) {
  std::vector<report::RowVerdict> out;
  if (overall.series_length < trend::kJudgedFrom) return out;
  for (const trend::Verdict& verdict : trend::judge_rows(overall)) out.push_back({verdict.word, verdict.reason});
  return out;
}

}  // namespace snapdiff::cli
