#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/library/arrow_table.hpp"
#include "snapdiff/gate.hpp"
#include "snapdiff/growth.hpp"
#include "snapdiff/opened.hpp"
#include "snapdiff/trend.hpp"

/// The handles of the C interface.
struct snapdiff_snapshots {
  snapdiff::Loaded loaded;
};

/// One of `growth`, `trend` and `gate` is set. `texts` and `numbers` are made once, so that readers need no lock.
struct snapdiff_answer {
  std::optional<snapdiff::GrowthReport> growth;
  std::optional<snapdiff::TrendReport> trend;
  std::optional<snapdiff::GateReport> gate;
  std::map<std::string, std::string, std::less<>> texts;
  std::map<std::string, std::optional<std::int64_t>, std::less<>> numbers;

  const snapdiff::TrendReport* any_trend() const {
    return gate.has_value() ? &gate->trend : trend.has_value() ? &*trend : nullptr;
  }
  const snapdiff::GrowthReport& report() const {
    const snapdiff::TrendReport* const series = any_trend();
    return series != nullptr ? series->series.overall : *growth;
  }
};

namespace snapdiff::library {

/// Sets `texts` and `numbers` from the report.
void set_facts(snapdiff_answer& answer, const Loaded& loaded);

/// A table of the answer by its name. Throws usage (unknown name), limit.
ArrowTable answer_table(const snapdiff_answer& answer, std::string_view name);

}  // namespace snapdiff::library
