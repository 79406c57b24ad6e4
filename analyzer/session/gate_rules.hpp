#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/session/gate_series.hpp"
#include "snapdiff/gate.hpp"
#include "snapdiff/result.hpp"

/// What every gate does, wherever its snapshots come from: rules out of texts and files, the judgement, what is
/// accepted.
namespace snapdiff::session {

/// What a gate is asked for.
///   allowance_file  accepted growth; "" = snapdiff-accept.toml in the working folder, where there is one
///   accept          names or ids of what breaks a budget and is accepted from now on, until the day, for the reason
struct GateRequest {
  std::vector<std::string> budgets;
  std::string budget_file;
  std::string allowance_file;
  std::vector<std::string> accept;
  std::string until;
  std::string reason;
  bool allow_unjudged = false;
};

struct GateRules {
  std::vector<Budget> budgets;  ///< empty: those of gate::default_budgets()
  std::vector<Allowance> allowances;
};
/// Errors: usage, io.
Result<GateRules> gate_rules(const GateRequest& wanted);

struct GateAnswer {
  GateReport report;
  std::optional<std::size_t> accepted;  ///< how many findings `allowance_file` accepts since now
  std::string allowance_file;
};
/// Writes what is accepted, too. Errors: usage, io.
Result<GateAnswer> judge_gate(GateSeries series, const GateRequest& wanted, GateRules rules);

}  // namespace snapdiff::session
