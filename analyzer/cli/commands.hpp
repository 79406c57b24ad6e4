#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The commands; each lives in command_<name>.cpp and takes the words after its name. They print and
/// return an exit code.
namespace snapdiff::cli {

struct CommandPage;

/// What a command is called with.
///   page   where not null, the command describes itself there and does nothing else
struct Arguments {
  std::vector<std::string> words;
  CommandPage* page = nullptr;
};

int run_diff(const Arguments& arguments);
int run_trend(const Arguments& arguments);
int run_waterfall(const Arguments& arguments);
int run_gate(const Arguments& arguments);
int run_top(const Arguments& arguments);
int run_pins(const Arguments& arguments);
int run_ranks(const Arguments& arguments);
int run_retained(const Arguments& arguments);
int run_paths(const Arguments& arguments);
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
int run_overview(const Arguments& arguments);
int run_run(const Arguments& arguments);
int run_watch(const Arguments& arguments);
int run_mcp(const Arguments& arguments);
int run_sql(const Arguments& arguments);
int run_symbolize(const Arguments& arguments);
int run_export(const Arguments& arguments);
int run_push(const Arguments& arguments);   // where SNAPDIFF_HAS_FLEET
int run_fleet(const Arguments& arguments);  // likewise

struct Command {
  std::string_view name;
  int (*run)(const Arguments&);
};

/// In the order in which they are presented.
std::span<const Command> commands();

CommandPage page_of(const Command& command);

/// One screen: the commands and options of every day. `snapdiff --help` prints it.
std::string_view everyday_help();
/// All commands. `snapdiff help --all` prints it.
std::string_view overview();

}  // namespace snapdiff::cli
