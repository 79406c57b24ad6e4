#pragma once

#include <string>
#include <string_view>

#include "snapdiff/gate.hpp"

/// What the forms of a gate's findings share.
namespace snapdiff::report {

/// "request cache 2MiB/step"
std::string budget_name(const Budget& budget);

/// "+250 KiB a snapshot", "+1.40 MiB an hour", "+64 MiB".
std::string measured_text(const GateReport& report, const GateFinding& finding);

/// "FAIL  2 of 3 findings break a budget" or "PASS  ...": is alone in a log.
std::string gate_summary(const GateReport& report);

/// One sentence about a finding.
std::string finding_text(const GateReport& report, const GateFinding& finding);

std::string_view to_text(Outcome outcome);

}  // namespace snapdiff::report
