#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "analyzer/base/failure.hpp"
#include "analyzer/base/number_text.hpp"
#include "analyzer/base/printable.hpp"
#include "analyzer/base/words.hpp"
#include "analyzer/mcp/tool_answers.hpp"
#include "analyzer/session/facts_text.hpp"
#include "analyzer/session/info_text.hpp"
#include "analyzer/session/load.hpp"
#include "analyzer/session/series_identity.hpp"

namespace snapdiff::mcp {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostNames = 20;

std::string quoted(const std::string& text) {
  std::string out;
  report::JsonWriter(out).string(text);
  return out;
}

std::string base_name_of(const LoadedSnapshot& item) { return fs::path(item.ref.ref).filename().string(); }

std::string total_text(const Snapshot& snapshot) {
  const Column* const column = session::main_column(snapshot);
  return column == nullptr ? "" : session::value_text(column->type, session::total_of(*column));
}

/// "series web: 12 snapshots, pprof, web.1.heap … web.12.heap, 1.79 MiB → 10.2 MiB".
std::string series_line(const session::SeriesPart& part, const std::vector<LoadedSnapshot>& all) {
  const LoadedSnapshot& first = all[part.snapshots.front()];
  const LoadedSnapshot& last = all[part.snapshots.back()];
  const Snapshot& newest = *last.ref.snapshot;
  std::string text =
      "series " + part.name + ": " + counted(part.snapshots.size(), "snapshot") + ", " + newest.facts.format + ", ";
  text += base_name_of(first);
  if (part.snapshots.size() > 1) text += " … " + base_name_of(last);
  text += ", " + total_text(*first.ref.snapshot);
  if (part.snapshots.size() > 1) text += " → " + total_text(newest);
  return printable(text) + "\n";
}

/// Folders and files of a folder, some of them.
std::string entries_text(const std::string& path) {
  std::vector<std::string> folders, files;
  std::error_code failure;
  for (fs::directory_iterator entry(path, failure), end; !failure && entry != end; entry.increment(failure)) {
    const std::string name = entry->path().filename().string();
    std::error_code ignored;
    if (name.empty() || name[0] == '.') continue;
    if (entry->is_directory(ignored)) folders.push_back(name + "/");
    if (entry->is_regular_file(ignored)) files.push_back(name);
  }
  if (failure) fail({ErrorCode::io, "cannot list: " + failure.message(), std::nullopt, path});
  const auto list = [](std::vector<std::string>& names, std::string_view thing) {
    std::sort(names.begin(), names.end());
    std::string text = counted(names.size(), thing);
    for (std::size_t i = 0; i < std::min(names.size(), kMostNames); ++i) text += (i == 0 ? ": " : ", ") + names[i];
    return printable(text) + (names.size() > kMostNames ? ", …\n" : "\n");
  };
  return list(folders, "folder") + list(files, "file");
}

struct Inspected {
  std::string text;
  std::size_t most_snapshots = 0;  ///< of one series
  std::string series;              ///< where there are several: the longest
};

Inspected inspect_one(const std::string& path, const std::string& format) {
  Inspected out;
  std::error_code ignored;
  const bool is_folder = fs::is_directory(path, ignored);
  session::Request request;
  request.store = ":memory:";
  request.format = format;
  const session::Operand operand = value_or_throw(session::parse_operand(path));
  const Result<Loaded> loaded = session::load_operands({operand}, request, true);
  if (is_folder) out.text = printable(path) + ": " + entries_text(path);
  if (!loaded) {
    if (!is_folder || loaded.error().code != ErrorCode::unsupported) fail(loaded.error());
    out.text += "no heap snapshot in it\n";
    return out;
  }
  const std::vector<LoadedSnapshot>& all = loaded->snapshots;
  if (is_folder) {
    const std::vector<session::SeriesPart> parts = session::parts_of(all);
    for (std::size_t i = 0; i < std::min(parts.size(), kMostNames); ++i) out.text += series_line(parts[i], all);
    if (parts.size() > kMostNames) out.text += "and " + counted(parts.size() - kMostNames, "more series") + "\n";
    out.most_snapshots = parts.front().snapshots.size();
    if (parts.size() > 1) out.series = parts.front().name;
  } else {
    out.most_snapshots = all.size();
    if (all.size() > 1) out.text = "a series of " + counted(all.size(), "snapshot") + "; the last one:\n";
    session::ShapeMeter meter;
    out.text += session::info_text(all.back(), meter);
  }
  out.text += reading_notes(*loaded);
  return out;
}

std::string next_calls(const std::string& paths, const Inspected& longest, bool single) {
  const std::string series = longest.series.empty() ? "" : ",\"series\":" + quoted(longest.series);
  const std::string operands = "{\"paths\":[" + paths + "]" + series + "}";
  if (longest.most_snapshots == 0) return "next: inspect one of the folders | inspect a file\n";
  if (single && longest.most_snapshots == 1)
    return "next: diff " + operands + " | diff with a later file as second path\n";
  const bool is_series = longest.most_snapshots > 2;
  return "next: " + std::string(is_series ? "trend " : "diff ") + operands + " | gate " + operands + "\n";
}

}  // namespace

std::string answer_inspect(Session& session, const ToolArguments& arguments) {
  std::vector<std::string> paths = arguments.paths;
  if (paths.empty()) paths = session.paths.folders();
  std::string text, quoted_paths;
  Inspected longest;
  for (const std::string& path : paths) {
    Inspected one = inspect_one(value_or_throw(session.paths.resolve(path)), arguments.format);
    text += one.text;
    quoted_paths += (quoted_paths.empty() ? "" : ",") + quoted(path);
    if (longest.text.empty() || one.most_snapshots > longest.most_snapshots) longest = std::move(one);
  }
  if (paths.size() > 1) longest.most_snapshots = std::max(longest.most_snapshots, paths.size());
  const std::string next = next_calls(quoted_paths, longest, paths.size() == 1);
  const auto most = static_cast<std::size_t>(arguments.max_bytes);
  return cut_lines(std::move(text), most - std::min(most, next.size())) + next;
}

}  // namespace snapdiff::mcp
