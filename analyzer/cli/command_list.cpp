#include <algorithm>
#include <utility>

#include "analyzer/base/number_text.hpp"
#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/compare.hpp"
#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/report/json_writer.hpp"
#include "analyzer/session/facts_text.hpp"
#include "formats/registry.hpp"

namespace snapdiff::cli {
namespace {

std::optional<std::int64_t> total(const store::SnapshotInfo& info, std::string_view metric) {
  for (const auto& [type, value] : info.totals) {
    if (type.name == metric) return value;
  }
  return std::nullopt;
}

// Right-aligns the columns marked so; every cell is short plain text.
std::string align(const std::vector<std::vector<std::string>>& rows, std::size_t right_from, std::size_t right_to) {
  std::vector<std::size_t> width;
  for (const auto& row : rows) {
    width.resize(std::max(width.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  }
  std::string out;
  for (const auto& row : rows) {
    out += "  ";
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string pad(width[i] - row[i].size(), ' ');
      const bool right = i >= right_from && i < right_to;
      out += right ? pad + row[i] : row[i] + (i + 1 == row.size() ? "" : pad);
      if (i + 1 < row.size()) out += "  ";
    }
    out += "\n";
  }
  return out;
}

std::string order_words(const store::SeriesInfo& series) {
  const bool times = std::all_of(series.snapshots.begin(), series.snapshots.end(),
                                 [](const auto& s) { return s.facts.taken_at_ns.has_value(); });
  switch (series.order) {
    case store::Order::time: return "time inside the files";
    case store::Order::sequence: return std::string("number in the name") + (times ? "" : " (no times in them)");
    case store::Order::import: return std::string("order of import") + (times ? "" : " (no times in them)");
  }
  return {};
}

std::string list_text(const std::vector<store::SeriesInfo>& all, bool full) {
  std::string out;
  for (const store::SeriesInfo& series : all) {
    const std::size_t count = series.snapshots.size();
    out += (out.empty() ? "" : "\n") + std::string("SERIES ") + escape_for_terminal(series.name) + "   " +
           std::to_string(count) + (count == 1 ? " snapshot" : " snapshots, order: " + order_words(series)) + "\n";
    const bool in_use = std::all_of(series.snapshots.begin(), series.snapshots.end(), [](const auto& info) {
      const auto* const main = session::main_total(info);
      return main == nullptr || main->first.name == "inuse_space";
    });
    std::vector<std::vector<std::string>> rows = {
        {"REF", "FORMAT", in_use ? "IN USE" : "TOTAL", "OBJECTS", "SHA-256", "TAKEN", "SOURCE"}};
    constexpr std::size_t kShort = 12;
    const std::size_t cut = full || count <= kShort ? count : 3;
    const auto add = [&](std::size_t i) {
      const store::SnapshotInfo& info = series.snapshots[i];
      const auto* const main = session::main_total(info);
      const auto objects = total(info, "inuse_objects");
      rows.push_back({"@" + std::to_string(static_cast<std::int64_t>(info.id)), info.facts.format,
                      main != nullptr ? escape_for_terminal(session::value_text(main->first, main->second)) : "n/a",
                      objects ? count_text(*objects) : "n/a", info.facts.source.sha256.substr(0, 8),
                      info.facts.taken_at_ns ? session::time_text(*info.facts.taken_at_ns) : "-",
                      escape_for_terminal(std::string(base_name(info.facts.source.name)))});
    };
    for (std::size_t i = 0; i < cut; ++i) add(i);
    if (cut < count) add(count - 1);
    out += align(rows, 2, 4);
    if (cut < count) {
      out += "  (" + std::to_string(count - cut - 1) + " between: snapdiff list " + escape_for_terminal(series.name) +
             ")\n";
    }
  }
  return out;
}

std::string_view order_word(store::Order order) {
  switch (order) {
    case store::Order::time: return "time";
    case store::Order::sequence: return "sequence";
    case store::Order::import: return "import";
  }
  return {};
}

void write_snapshot(report::JsonWriter& json, const store::SnapshotInfo& info) {
  const SnapshotFacts& facts = info.facts;
  json.field("ref", "@" + std::to_string(static_cast<std::int64_t>(info.id)));
  json.field("position", info.series_position);
  json.field("source", facts.source.name);
  json.field("sha256", facts.source.sha256);
  json.field("format", facts.format);
  json.field_or_null("taken_at", facts.taken_at_ns ? session::time_text(*facts.taken_at_ns) : "");
  json.field_or_null("pid", facts.pid);
  json.object("labels", [&] {
    for (const auto& [key, value] : facts.labels) json.any_field(key, value);
  });
  json.field("partial", facts.partial);
  json.field("rows", info.rows);
  json.object("totals", [&] {
    for (const auto& [type, value] : info.totals) json.any_field(type.name, value);
  });
}

std::string list_json(const std::vector<store::SeriesInfo>& all) {
  return report::json_text(
      [&](report::JsonWriter& json) {
        json.field("schema", "snapdiff.list/1");
        json.objects("series", all, [&](const store::SeriesInfo& series) {
          json.field("name", series.name);
          json.field("order", order_word(series.order));
          json.objects("snapshots", series.snapshots,
                       [&](const store::SnapshotInfo& info) { write_snapshot(json, info); });
        });
      },
      report::JsonLayout::indented);
}

std::string formats_json() {
  std::string out;
  report::JsonWriter json(out, report::JsonLayout::indented);
  json.begin_array();
  for (const formats::Format* format : formats::all()) {
    const FormatInfo& info = format->info;
    json.object([&] {
      json.field("name", info.name);
      json.field("summary", info.summary);
      json.field("files", info.extensions);
      json.field("lost", info.lost);
    });
  }
  json.end_array();
  return out += '\n';
}

}  // namespace

int run_list(const Arguments& arguments) {
  Options options;
  CommandLine line("Series and snapshots in the store.", "list [options] [SERIES...]",
                   {"snapdiff list", "snapdiff list svc --as json"});
  add_options(line, options, kTakesOperands | kTakesForm);
  if (const auto code = line.parse(arguments)) return *code;
  const report::Form form = form_of(options);
  if (form != report::Form::text && form != report::Form::json) {
    fail({ErrorCode::usage, "list --as " + options.as + ": expected text or json; 'snapdiff sql' gives the others"});
  }
  store::Store store = value_or_throw(session::open_store(session::choose_store(options.db), store::Access::read));
  const std::vector<store::SeriesInfo> listed = value_or_throw(store.list(options.operands));
  for (const std::string& name : options.operands) {
    if (std::none_of(listed.begin(), listed.end(), [&](const auto& series) { return series.name == name; })) {
      fail({ErrorCode::usage, "no series '" + name + "'", std::nullopt, store.path()});
    }
  }
  const std::string text =
      form == report::Form::json ? list_json(listed) : list_text(listed, !options.operands.empty());
  if (text.empty()) say("the store is empty");
  value_or_throw(print_report(text, form));
  return kExitDone;
}

int run_formats(const Arguments& arguments) {
  Options options;
  CommandLine line(
      "The formats that are read. Found out by content, never by name; gzip, zstd,\n"
      "xz and lz4 are decompressed.",
      "formats [--as json|md]", {});
  add_options(line, options, kTakesForm);
  if (const auto code = line.parse(arguments)) return *code;
  if (options.as != "text" && options.as != "json" && options.as != "md")
    fail({ErrorCode::usage, "formats --as " + options.as + ": expected text, json or md"});
  std::string text;
  if (options.as == "json") {
    text = formats_json();
  } else if (options.as == "md") {
    text = "| format | what it is | not kept |\n|---|---|---|\n";
    for (const formats::Format* format : formats::all()) {
      const FormatInfo& info = format->info;
      text.append("| ").append(info.name).append(" | ").append(info.summary).append(" | ");
      text.append(info.lost.empty() ? "nothing" : info.lost).append(" |\n");
    }
  } else {
    for (const formats::Format* format : formats::all()) {
      const FormatInfo& info = format->info;
      text += std::string(info.name) + std::string(info.name.size() < 14 ? 14 - info.name.size() : 1, ' ') +
              std::string(info.summary) + "\n";
      if (!info.extensions.empty()) text += std::string(14, ' ') + "files: " + std::string(info.extensions) + "\n";
      if (!info.lost.empty()) text += std::string(14, ' ') + "not kept: " + std::string(info.lost) + "\n";
    }
  }
  value_or_throw(print_data(text));
  return kExitDone;
}

}  // namespace snapdiff::cli
