#include "analyzer/cli/options.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "analyzer/base/failure.hpp"
#include "analyzer/base/nearest.hpp"
#include "analyzer/base/option_words.hpp"
#include "analyzer/base/size_text.hpp"
#include "analyzer/base/spill.hpp"
#include "analyzer/cli/progress.hpp"
#include "analyzer/session/load.hpp"

namespace snapdiff::cli {
namespace {

/// What rows can be grouped by; instances of a fleet have more.
std::vector<std::string> kinds() {
  std::vector<std::string> out = words_of(kGroupWords);
  out.insert(out.end(), {std::string(kRoleWord), std::string(kLabelWord)});
  return out;
}
std::vector<std::string> kinds_of_fleet() {
  std::vector<std::string> out = kinds();
  out.insert(out.end(), {"version", "instance", "service"});
  return out;
}

void add_hide_and_show(CommandLine& line, Options& options) {
  line.text("--hide", "RE", options.hide, "drop matching frames from stacks");
  line.text("--show", "RE", options.show, "keep only matching frames of stacks");
}

void add_frame_sets(CommandLine& line, Options& options) {
  line.text("--frames", "X", options.frames, "python|native|all of CUDA snapshots (all but noise)")
      .choices(words_of(kFrameWords));
}

}  // namespace

void add_options(CommandLine& line, Options& options, unsigned groups) {
  if ((groups & kTakesOperands) != 0) line.operands(options.operands);
  line.group("input");
  if ((groups & kTakesSeries) != 0) {
    line.text("--series", "NAME", options.series,
              "this series of the store, or of a folder that holds\n"
              "several; files that are stored go to it");
  }
  if ((groups & kFetches) != 0) {
    line.duration("--every", options.every, "an address again and again: a series; with --count");
    line.count("--count", options.count, {1, 1'000'000}, "how many snapshots");
    line.texts("--header", "LINE", options.headers, "'Name: value' for addresses; repeatable");
    line.count("--timeout", options.timeout_seconds, {1, 86'400}, "seconds that one answer may take (60)");
    line.text("--into", "DIR", options.into, "folder for what is fetched (heaps-HOST)");
  }
  if ((groups & kTakesView) != 0) {
    line.group("filter");
    line.text("--metric", "NAME", options.metric, "what to count (in-use bytes)");
    line.group("output");
    const bool of_fleet = (groups & kAsksFleet) != 0;
    line.text("--by", "KIND", options.by,
              of_fleet ? "version, instance, service, label:KEY, stack,\n"
                         "function, file, line, module, type, role (stack)"
                       : "stack, function, file, line, module, type, role (CUDA),\n"
                         "label:KEY (stack)")
        .suggestions(of_fleet ? kinds_of_fleet() : kinds());
    line.text("--sort", "KEY", options.sort, "change, growth, after, objects, name (change)")
        .choices(words_of(kSortWords));
    line.group("filter");
    line.text("--focus", "RE", options.focus, "only stacks with a matching frame");
    line.text("--ignore", "RE", options.ignore, "no stacks with a matching frame");
    add_hide_and_show(line, options);
    line.text("--allocator-frames", "X", options.allocator_frames, "hide|show malloc, operator new at the leaf (hide)")
        .choices({"hide", "show"});
    add_frame_sets(line, options);
    line.text("--own", "RE", options.own, "frames that match are your own code, whatever the rules say");
    line.text("--library", "RE", options.library, "frames that match are library code; culprits are named above them");
    line.text("--recursion", "X", options.recursion, "fold|show how deep a recursion went (fold)")
        .choices({"fold", "show"});
    line.text("--match", "X", options.match, "builds|strict: across builds, or as recorded only (builds)")
        .choices({"builds", "strict"});
  }
  line.group("filter");
  if ((groups & kTakesFrames) != 0) {
    add_hide_and_show(line, options);
    add_frame_sets(line, options);
  }
  line.group("output");
  if ((groups & (kTakesRows | kTakesCount)) != 0)
    line.count("-n,--rows", options.rows, {0, 1'000'000'000}, "rows shown; 0 = all (text 20, others all)");
  if ((groups & kTakesRows) != 0) {
    line.size("--min-bytes", options.min_bytes, 0, "smaller rows go to [N others] (0)");
    line.flag("--cum", options.cumulative, "with --by: order by what a frame calls, too");
  }
  if ((groups & kTakesForm) != 0) {
    line.text("--as", "FORM", options.as, "text, json, jsonl, csv, md (text); --json is --as json")
        .choices({"text", "json", "jsonl", "csv", "md"});
  }
  line.group("input");
  if ((groups & kReadsFiles) != 0) {
    line.text("--format", "NAME", options.input_format, "input format, see 'snapdiff formats' (detect)");
    line.size("--max-input", options.max_input, 1, "refuse more decompressed bytes (64GiB)");
    line.size("--memory", options.memory, 1,
              "what passes it lies in a file beside the store\n"
              "(70 % of what the machine or its cgroup has free)");
    line.flag("--strict", options.strict, "exit 2 when a part of an input is lost");
    line.texts("--pattern", "RE", options.patterns,
               "lines of a log: groups value, name, unit, time,\n"
               "iteration; repeatable");
    line.text("--group-by", "RE", options.group_by, "its group, e.g. a thread, separates a log's series");
    line.text("--units", "X", options.units, "binary|si: KB, MB, GB of a log (binary)").choices({"binary", "si"});
  }
  line.group("symbols");
  if ((groups & kTakesSymbols) != 0) {
    line.texts("--symbols", "PATH", options.symbols,
               "name raw addresses from this binary or debug file,\n"
               "or those in this folder; repeatable");
    line.text("--sysroot", "DIR", options.sysroot, "name them from recorded paths below this folder");
    line.flag("--debuginfod", options.debuginfod,
              "name them with debug files that the servers in\n"
              "DEBUGINFOD_URLS have");
    line.text("--demangle", "X", options.demangle, "none|simple|full (full)").choices(words_of(kDemangleWords));
  }
  line.group("store");
  line.text("--db", "PATH", options.db,
            "store (SNAPDIFF_DB, else snapdiff.db; :memory:\n"
            "leaves nothing)");
  line.group("output");
  line.flag("--no-color", options.no_color, "no colour, also on a terminal");
  line.group("");
}

Result<std::int64_t> parse_size(const std::string& text) {
  if (const std::optional<double> bytes = parse_bytes(text); bytes && *bytes >= 0)
    return static_cast<std::int64_t>(*bytes);
  return Error{ErrorCode::usage, "'" + text + "' is not a size: expected e.g. 4096, 64KiB or 2GiB"};
}

namespace {

void bound_memory(const Options& options) {
  if (options.memory) spill::set_limit(static_cast<std::size_t>(*options.memory));
  const session::StoreChoice store = session::choose_store(options.db);
  if (!store.in_memory()) spill::set_folder(std::filesystem::path(store.path).parent_path().string());
}

}  // namespace

session::Request request_of(const Options& options, const Terminal& terminal) {
  bound_memory(options);
  session::Request request;
  request.store = options.db;
  request.series = options.series;
  request.format = options.input_format;
  if (options.max_input) request.max_input_bytes = static_cast<std::uint64_t>(*options.max_input);
  request.strict = options.strict;
  request.counters = options.counters;
  request.patterns = options.patterns;
  request.group_by = options.group_by;
  request.decimal_units = options.units == "si";
  request.symbols = options.symbols;
  request.sysroot = options.sysroot;
  request.demangle = value_of(kDemangleWords, options.demangle).value_or(Demangle::full);
  request.debuginfod = options.debuginfod;
  request.hash = options.needs_hashes;
  request.watch = watch_of(terminal);
  return request;
}

std::vector<std::pair<std::string, std::string>> label_pairs(const std::vector<std::string>& texts) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const std::string& text : texts) {
    const auto equals = text.find('=');
    if (equals == 0 || equals == std::string::npos)
      fail({ErrorCode::usage, "--label " + text + ": expected KEY=VALUE"});
    out.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return out;
}

DiffOptions diff_options(const Options& options) {
  DiffOptions out;
  out.metric = options.metric;
  if (!set_grouping(options.by, out))
    fail({ErrorCode::usage, "--by " + options.by +
                                ": expected stack, function, file, line, module, type, role or label:KEY" +
                                did_you_mean(options.by, words_of(kGroupWords))});
  out.sort = value_of(kSortWords, options.sort).value_or(SortKey::change);
  out.focus = options.focus;
  out.ignore = options.ignore;
  out.hide = options.hide;
  out.show = options.show;
  out.own = options.own;
  out.library = options.library;
  out.hide_allocator_frames = options.allocator_frames == "hide";
  out.fold_recursion = options.recursion == "fold";
  out.match_strictly = options.match == "strict";
  out.frames = value_of(kFrameWords, options.frames).value_or(FrameSet::usual);
  return out;
}

report::Form form_of(const Options& options) {
  if (options.as == "json") return report::Form::json;
  if (options.as == "jsonl") return report::Form::jsonl;
  if (options.as == "csv") return report::Form::csv;
  if (options.as == "md") return report::Form::markdown;
  return report::Form::text;
}

}  // namespace snapdiff::cli
