#pragma once

#include <string>
#include <vector>

#include "analyzer/cli/command_line.hpp"
#include "snapdiff/gate.hpp"
#include "snapdiff/result.hpp"
#include "snapdiff/trend.hpp"

/// What every gate does, wherever its snapshots come from: options, rules, the judgement, its files, the exit code.
namespace snapdiff::cli {

struct GateOptions {
  std::vector<std::string> budgets;
  std::string budget_file;
  std::string allowance_file;
  std::vector<std::string> accept;
  std::string until;
  std::string reason;
  std::string junit;
  std::string sarif;
  bool allow_unjudged = false;
};
void add_gate_options(CommandLine& line, GateOptions& wanted);

struct GateRules {
  std::vector<Budget> budgets;
  std::vector<Allowance> allowances;
};
/// Budgets and accepted growth of the options and their files. Errors: usage, io.
Result<GateRules> gate_rules(const GateOptions& wanted);

/// Writes what is accepted, too. Errors: usage, io.
Result<GateReport> judge_gate(TrendReport trend, const GateOptions& wanted, GateRules rules);

/// JUnit and SARIF, where they are asked for.
Status write_gate_reports(const GateReport& report, const GateOptions& wanted);

/// What is not judged is not passed; says so.
int exit_code_of_gate(const GateReport& report);

}  // namespace snapdiff::cli
