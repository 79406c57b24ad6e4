#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/compare.hpp"
#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/cli/written_answer.hpp"
#include "analyzer/html/html.hpp"
#include "analyzer/session/all_series.hpp"

namespace snapdiff::cli {

int run_overview(const Arguments& arguments) {
  Options options;
  std::optional<std::int64_t> limit;
  CommandLine line("All series of a store or a folder, one line each: the gravest verdict first.",
                   "overview [STORE|FOLDER] [options]\n\n"
                   "  without an operand: the store. Of a folder: its series, and those of the\n"
                   "  folders in it, three levels deep",
                   {"snapdiff overview /var/heaps", "snapdiff overview --limit 4GiB --as json"});
  add_options(line, options, kTakesOperands | kTakesView | kTakesForm | kReadsFiles | kTakesSymbols);
  line.size("--limit", limit, 1, "say when each total will reach this");
  line.group("output");
  line.text("-o,--output", "FILE", options.output, "write it: .html, .md, .json, .csv, .txt");
  line.flag("--open", options.open, "make the page and open it in the browser");
  line.group("");
  if (const auto code = line.parse(arguments)) return *code;
  if (options.operands.size() > 1)
    fail({ErrorCode::usage, "overview takes one store or folder: found " + std::to_string(options.operands.size())});
  const std::optional<PictureForm> picture = chosen_picture(line, options);
  if (picture && *picture != PictureForm::html)
    fail({ErrorCode::usage,
          "-o " + options.output + ": overview has no pictures, expected .html, .md, .json, .csv or .txt"});
  const Terminal terminal = look_at_terminal(options.no_color);
  const report::Style style = style_of(options, terminal);
  const std::string place = options.operands.empty() ? "" : options.operands.front();
  const Overview overview = value_or_throw(session::in_stage(watch_of(terminal), "judging", [&] {
    session::Request request = request_of(options, terminal);
    request.watch = {};  // one line for all of them
    return session::overview_of(place, diff_options(options), request, limit);
  }));
  if (picture) {
    const std::string page = html::to_html(overview, place.empty() ? session::choose_store(options.db).path : place,
                                           "snapdiff " SNAPDIFF_VERSION);
    options.open ? open_page(page, options) : write_and_tell(options.output, page, options.operands);
    return kExitDone;
  }
  show_answer([&](const report::Style& form) { return report::write_overview(overview, form); }, style, options);
  return kExitDone;
}

}  // namespace snapdiff::cli
