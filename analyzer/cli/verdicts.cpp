#include "analyzer/cli/verdicts.hpp"

namespace snapdiff::cli {

std::vector<report::RowVerdict> row_verdicts(const GrowthReport& /*overall*/) { return {}; }

}  // namespace snapdiff::cli
