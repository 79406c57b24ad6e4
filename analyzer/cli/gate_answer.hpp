#pragma once

#include <string>

#include "analyzer/cli/command_line.hpp"
#include "analyzer/session/gate_rules.hpp"
#include "snapdiff/gate.hpp"

/// What every gate says and writes, wherever its snapshots come from: options, its files, the exit code.
namespace snapdiff::cli {

struct GateOptions : session::GateRequest {
  std::string junit;
  std::string sarif;
};
void add_gate_options(CommandLine& line, GateOptions& wanted);

/// As session::judge_gate(); says what was accepted.
GateReport judge_gate(session::GateSeries series, const GateOptions& wanted, session::GateRules rules);

/// JUnit and SARIF, where they are asked for. Throws io.
void write_gate_reports(const GateReport& report, const GateOptions& wanted);

/// What is not judged is not passed; says so.
int exit_code_of_gate(const GateReport& report);

}  // namespace snapdiff::cli
