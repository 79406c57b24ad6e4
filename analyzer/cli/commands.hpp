#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The commands; each lives in command_<name>.cpp and takes the words after its name. They print and
/// return an exit code.
namespace snapdiff::cli {

using Arguments = std::vector<std::string>;

int run_diff(const Arguments& arguments);
int run_trend(const Arguments& arguments);
int run_gate(const Arguments& arguments);
int run_top(const Arguments& arguments);
int run_pins(const Arguments& arguments);
int run_ranks(const Arguments& arguments);
int run_peek(const Arguments& arguments);
int run_render(const Arguments& arguments);
int run_postmortem(const Arguments& arguments);
int run_import(const Arguments& arguments);
int run_list(const Arguments& arguments);
int run_rm(const Arguments& arguments);
int run_prune(const Arguments& arguments);
int run_merge(const Arguments& arguments);
int run_info(const Arguments& arguments);
int run_formats(const Arguments& arguments);
int run_sql(const Arguments& arguments);
int run_symbolize(const Arguments& arguments);
int run_export(const Arguments& arguments);

struct Command {
  std::string_view name;
  int (*run)(const Arguments&);
};

std::span<const Command> commands();

}  // namespace snapdiff::cli
