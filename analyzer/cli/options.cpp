#include "analyzer/cli/options.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "snapdiff/nearest.hpp"
#include "snapdiff/size_text.hpp"

namespace snapdiff::cli {
namespace {

void add_hide_and_show(CommandLine& line, Options& options) {
  line.text("--hide", "RE", options.hide, "drop matching frames from stacks");
  line.text("--show", "RE", options.show, "keep only matching frames of stacks");
}

void add_frame_sets(CommandLine& line, Options& options) {
  line.text("--frames", "X", options.frames, "python|native|all of CUDA snapshots (all but noise)")
      .choices({"usual", "python", "native", "all"});
}

}  // namespace

void add_options(CommandLine& line, Options& options, unsigned groups) {
  if ((groups & kTakesOperands) != 0) line.operands(options.operands);
  if ((groups & kTakesSeries) != 0) {
    line.text("--series", "NAME", options.series,
              "this series of the store, or of a folder that holds\n"
              "several; files that are stored go to it");
  }
  if ((groups & kTakesView) != 0) {
    line.text("--metric", "NAME", options.metric, "what to count (in-use bytes)");
    line.text("--by", "KIND", options.by,
              "stack, function, file, line, module, type, role (CUDA),\n"
              "label:KEY (stack)")
        .suggestions({"stack", "function", "file", "line", "module", "type", "role", "label:"});
    line.text("--sort", "KEY", options.sort, "change, growth, after, objects, name (change)")
        .choices({"change", "growth", "after", "objects", "name"});
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
  if ((groups & kTakesFrames) != 0) {
    add_hide_and_show(line, options);
    add_frame_sets(line, options);
  }
  if ((groups & (kTakesRows | kTakesCount)) != 0)
    line.count("-n,--rows", options.rows, {0, 1'000'000'000}, "rows shown; 0 = all (text 20, others all)");
  if ((groups & kTakesRows) != 0) {
    line.size("--min-bytes", options.min_bytes, 0, "smaller rows go to [N others] (0)");
    line.flag("--cum", options.cumulative, "with --by: order by what a frame calls, too");
  }
  if ((groups & kTakesForm) != 0) {
    line.text("--as", "FORM", options.as, "text, json, jsonl, csv, md (text)")
        .choices({"text", "json", "jsonl", "csv", "md"});
  }
  if ((groups & kReadsFiles) != 0) {
    line.text("--format", "NAME", options.input_format, "input format, see 'snapdiff formats' (detect)");
    line.size("--max-input", options.max_input, 1, "refuse more decompressed bytes (64GiB)");
    line.flag("--strict", options.strict, "exit 2 when a part of an input is lost");
    line.texts("--pattern", "RE", options.patterns,
               "lines of a log: groups value, name, unit, time,\n"
               "iteration; repeatable");
    line.text("--group-by", "RE", options.group_by, "its group, e.g. a thread, separates a log's series");
    line.text("--units", "X", options.units, "binary|si: KB, MB, GB of a log (binary)").choices({"binary", "si"});
  }
  if ((groups & kTakesSymbols) != 0) {
    line.texts("--symbols", "PATH", options.symbols,
               "name raw addresses from this binary or debug file,\n"
               "or those in this folder; repeatable");
    line.text("--sysroot", "DIR", options.sysroot, "name them from recorded paths below this folder");
    line.flag("--debuginfod", options.debuginfod,
              "name them with debug files that the servers in\n"
              "DEBUGINFOD_URLS have");
    line.text("--demangle", "X", options.demangle, "none|simple|full (full)").choices({"none", "simple", "full"});
  }
  line.text("--db", "PATH", options.db,
            "store (SNAPDIFF_DB, else snapdiff.db; :memory:\n"
            "leaves nothing)");
  line.flag("--no-color", options.no_color, "no colour, also on a terminal");
}

Result<std::int64_t> parse_size(const std::string& text) {
  if (const std::optional<double> bytes = parse_bytes(text); bytes && *bytes >= 0)
    return static_cast<std::int64_t>(*bytes);
  return Error{ErrorCode::usage, "'" + text + "' is not a size: expected e.g. 4096, 64KiB or 2GiB"};
}

Result<DiffOptions> diff_options(const Options& options) {
  DiffOptions out;
  out.metric = options.metric;
  if (options.by.rfind("label:", 0) == 0 && options.by.size() > 6) {
    out.by = GroupBy::label;
    out.label_key = options.by.substr(6);
  } else if (options.by == "role") {
    out.by = GroupBy::label;
    out.label_key = options.by;
  } else {
    static constexpr std::array kKinds = {GroupBy::stack, GroupBy::function, GroupBy::file,
                                          GroupBy::line,  GroupBy::module,   GroupBy::type};
    const auto kind = std::find_if(kKinds.begin(), kKinds.end(), [&](GroupBy by) { return to_text(by) == options.by; });
    if (kind == kKinds.end()) {
      std::vector<std::string> names;
      for (const GroupBy by : kKinds) names.emplace_back(to_text(by));
      return Error{ErrorCode::usage, "--by " + options.by +
                                         ": expected stack, function, file, line, module, type, role or label:KEY" +
                                         did_you_mean(options.by, names)};
    }
    out.by = *kind;
  }
  static constexpr std::array<std::pair<std::string_view, SortKey>, 5> kSorts = {{{"change", SortKey::change},
                                                                                  {"growth", SortKey::growth},
                                                                                  {"after", SortKey::after},
                                                                                  {"objects", SortKey::objects},
                                                                                  {"name", SortKey::name}}};
  for (const auto& [name, key] : kSorts) {
    if (options.sort == name) out.sort = key;
  }
  out.focus = options.focus;
  out.ignore = options.ignore;
  out.hide = options.hide;
  out.show = options.show;
  out.own = options.own;
  out.library = options.library;
  out.hide_allocator_frames = options.allocator_frames == "hide";
  out.fold_recursion = options.recursion == "fold";
  out.match_strictly = options.match == "strict";
  for (const FrameSet set : {FrameSet::usual, FrameSet::python, FrameSet::native, FrameSet::all}) {
    if (options.frames == to_text(set)) out.frames = set;
  }
  return out;
}

std::string options_to_json(const DiffOptions& options, std::optional<SnapshotId> newest) {
  nlohmann::ordered_json json = {{"metric", options.metric},
                                 {"by", static_cast<int>(options.by)},
                                 {"label_key", options.label_key},
                                 {"sort", static_cast<int>(options.sort)},
                                 {"focus", options.focus},
                                 {"ignore", options.ignore},
                                 {"hide", options.hide},
                                 {"show", options.show},
                                 {"own", options.own},
                                 {"library", options.library},
                                 {"hide_allocator_frames", options.hide_allocator_frames},
                                 {"frames", static_cast<int>(options.frames)},
                                 {"fold_recursion", options.fold_recursion},
                                 {"match_strictly", options.match_strictly}};
  if (newest) json["newest"] = static_cast<std::int64_t>(*newest);
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

DiffOptions options_from_json(const std::string& text) {
  DiffOptions options;
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return options;
  const auto read_text = [&](const char* key, std::string& out) {
    if (const auto found = json.find(key); found != json.end() && found->is_string()) out = *found;
  };
  const auto read_number = [&](const char* key, int last) {
    const auto found = json.find(key);
    return found != json.end() && found->is_number_integer() ? std::clamp(found->get<int>(), 0, last) : 0;
  };
  read_text("metric", options.metric);
  read_text("label_key", options.label_key);
  read_text("focus", options.focus);
  read_text("ignore", options.ignore);
  read_text("hide", options.hide);
  read_text("show", options.show);
  read_text("own", options.own);
  read_text("library", options.library);
  options.by = static_cast<GroupBy>(read_number("by", static_cast<int>(GroupBy::label)));
  options.sort = static_cast<SortKey>(read_number("sort", static_cast<int>(SortKey::name)));
  options.frames = static_cast<FrameSet>(read_number("frames", static_cast<int>(FrameSet::all)));
  const auto read_flag = [&](const char* key, bool& out) {
    if (const auto found = json.find(key); found != json.end() && found->is_boolean()) out = *found;
  };
  read_flag("hide_allocator_frames", options.hide_allocator_frames);
  read_flag("fold_recursion", options.fold_recursion);
  read_flag("match_strictly", options.match_strictly);
  return options;
}

std::optional<SnapshotId> newest_from_json(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  const auto found = json.find("newest");
  if (found == json.end() || !found->is_number_integer()) return std::nullopt;
  return SnapshotId{found->get<std::int64_t>()};
}

Result<report::Form> form_of(const Options& options) {
  if (options.as == "json") return report::Form::json;
  if (options.as == "jsonl") return report::Form::jsonl;
  if (options.as == "csv") return report::Form::csv;
  if (options.as == "md") return report::Form::markdown;
  return report::Form::text;
}

}  // namespace snapdiff::cli
