#include "analyzer/cli/commands.hpp"

#include <array>

#include "analyzer/cli/command_page.hpp"

namespace snapdiff::cli {

std::span<const Command> commands() {
  static constexpr std::array kCommands = {
      Command{"diff", run_diff},
      Command{"trend", run_trend},
      Command{"gate", run_gate},
      Command{"top", run_top},
      Command{"peek", run_peek},
      Command{"render", run_render},
      Command{"postmortem", run_postmortem},
      Command{"import", run_import},
      Command{"list", run_list},
      Command{"rm", run_rm},
      Command{"prune", run_prune},
      Command{"merge", run_merge},
      Command{"info", run_info},
      Command{"formats", run_formats},
      Command{"sql", run_sql},
      Command{"export", run_export},
      Command{"symbolize", run_symbolize},
      Command{"pins", run_pins},
      Command{"ranks", run_ranks},
      Command{"retained", run_retained},
      Command{"paths", run_paths},
      Command{"waterfall", run_waterfall},
      Command{"run", run_run},
      Command{"watch", run_watch},
      Command{"mcp", run_mcp},
      Command{"overview", run_overview},
#ifdef SNAPDIFF_HAS_FLEET
      Command{"push", run_push},
      Command{"fleet", run_fleet},
#endif
  };
  return kCommands;
}

CommandPage page_of(const Command& command) {
  CommandPage page;
  command.run({{}, &page});
  return page;
}

std::string_view everyday_help() {
  return R"(Show what grew between heap snapshots, and where it was allocated.

usage: snapdiff A B [C ...]          compare files, oldest first; or one folder
       snapdiff COMMAND [options]

  diff A B          growth per stack between two snapshots, or over a series
  trend A B C...    leak or not: slope and verdict per stack over a series
  top FILE          heaviest stacks of one snapshot
  peek RE A B       callers and callees of a function, with their growth
  info FILE...      what a file is, and what was dropped
  postmortem FILE... -o DIR              the report as PDF, HTML, Markdown, JSON
  render --pdf|--svg|--png|--html        graph of the last comparison
  gate FILE...      fail when growth breaks a budget: for CI

  -n N              rows shown (20); 0 = all
  --by KIND         rows are function, file, line, module, type (stack)
  --focus RE        only stacks with a matching frame
  --as FORM         text, json, jsonl, csv, md (text); --json is --as json
  -o FILE           write it: .pdf .html .svg .png .md .json .csv
  --open            the page, in the browser
  --symbols PATH    names for raw addresses, from binaries
  --db PATH         store (snapdiff.db; :memory: leaves nothing)

'snapdiff help --all' lists the other commands, 'snapdiff help COMMAND' has all
options, 'snapdiff help verdicts' says what GROWING means.

examples:
  snapdiff heap.0001 heap.0012
  snapdiff trend heaps/ -o leak.html
  snapdiff top heap.0012 -n 5 --by function
)";
}

std::string_view overview() {
  return R"(Show what grew between heap snapshots, and where it was allocated.

usage: snapdiff A B [C ...]          compare files, oldest first
       snapdiff COMMAND [options]

look
  diff [REF REF]    growth per stack between two snapshots, or over a series;
                    diff, trend, gate, top also read http://HOST/debug/pprof/heap
  trend [REF...]    leak or not: slope and verdict per stack over a series
  top REF           heaviest stacks of one snapshot
  peek RE [REF REF] callers and callees of a function, with their growth
  pins [BASE] FILE  CUDA: who keeps memory from going back to the driver
  ranks FILE...     processes or devices side by side: which one differs
  retained FILE...  object graphs: what each type keeps alive, how it grew
  paths RE FILE...  object graphs: who holds these types, which places grow
  waterfall FILE... what resident memory consists of, which part grew
  info FILE...      what a file is, and what was dropped
  overview [DIR]    all series of a folder or the store, the gravest first
  list              series and snapshots in the store
share
  postmortem FILE... -o DIR               the report as PDF, HTML, Markdown, JSON
  render --pdf|--svg|--png|--dot|--html   graph of the last comparison
  render --timeline|--segments|--pins     charts of a CUDA snapshot
  render --retained                       what keeps what alive, object graphs
  export --pprof|--folded|--speedscope|--csv|--jsonl|--plain-sqlite
automate
  run -- PROGRAM    run a program so that it leaves snapshots, then judge them
  watch DIR|URL     a line for each snapshot that comes; --until growing
  gate [REF...]     fail when growth breaks a budget
  import FILE...    read snapshots into the store
  sql [QUERY]       SQL over the store
  mcp [DIR...]      a server for agents (Model Context Protocol)
  rm, prune, merge  remove snapshots, keep the newest N, take in another store
  symbolize         names for raw addresses in the store, from binaries
  formats           formats read
)"
#ifdef SNAPDIFF_HAS_FLEET
         R"(many machines
  push FILE...      send snapshots to the servers of a fleet
  fleet QUESTION    list, diff, trend, gate, outliers, pull, sql over them
)"
#endif
         R"(
  --db PATH         store (snapdiff.db; SNAPDIFF_DB; :memory: leaves nothing)
  --metric NAME     what to count (in-use bytes)
  --as text|json|jsonl|csv|md
  --no-color, --version, --help       'snapdiff help COMMAND' has the rest,
                                      'help verdicts' what GROWING means

A command's name wins over a file of that name; ./list is the file.

examples:
  snapdiff heap.0001 heap.0012
  snapdiff render --pdf -o growth.pdf
)";
}

}  // namespace snapdiff::cli
