#include "analyzer/session/naming.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <system_error>
#include <utility>

#include "analyzer/base/failure.hpp"
#include "analyzer/base/number_text.hpp"

namespace snapdiff::session {

namespace {

std::string& withheld_servers() {
  static std::string servers;
  return servers;
}

symbols::SymbolOptions symbol_options(const Request& request) {
  symbols::SymbolOptions out;
  out.paths = request.symbols;
  out.sysroot = request.sysroot;
  out.demangle = request.demangle;
  out.debuginfod = request.debuginfod;
  return out;
}

Status check_symbol_paths(const Request& request) {
  std::vector<std::string> paths = request.symbols;
  if (!request.sysroot.empty()) paths.push_back(request.sysroot);
  for (const std::string& path : paths) {
    std::error_code failure;
    if (!std::filesystem::exists(path, failure))
      return Error{ErrorCode::io, "no such file or folder with symbols", std::nullopt, path};
  }
  return ok();
}

}  // namespace

std::vector<std::string> idle_paths(const symbols::SymbolReport& report, const Request& request) {
  std::vector<std::string> idle;
  for (const std::string& path : request.symbols) {
    const auto fits = [&](const symbols::ModuleReport& module) {
      return module.binary.starts_with(path) || module.debug_file.starts_with(path);
    };
    const std::string_view name = base_name(path);
    const bool is_map = name.starts_with("perf-") && name.ends_with(".map");
    if (!is_map && std::none_of(report.modules.begin(), report.modules.end(), fits)) idle.push_back(path);
  }
  return idle;
}

bool wants_names(const Request& request) {
  return !request.symbols.empty() || !request.sysroot.empty() || request.debuginfod;
}

void demangle_names(std::vector<Snapshot>& snapshots, Demangle how) {
  std::map<std::shared_ptr<const Dictionary>, std::shared_ptr<const Dictionary>> done;
  for (Snapshot& snapshot : snapshots) {
    const auto [place, is_new] = done.try_emplace(snapshot.dictionary);
    if (is_new) place->second = symbols::demangle_names(snapshot.dictionary, how);
    snapshot.dictionary = place->second;
  }
}

void withhold_debuginfod() {
  const char* servers = std::getenv("DEBUGINFOD_URLS");
  withheld_servers() = servers == nullptr ? "" : servers;
  unsetenv("DEBUGINFOD_URLS");
}

Result<symbols::Named> name_snapshots(std::span<const Snapshot> snapshots, const Request& request, bool again) {
  if (Status there = check_symbol_paths(request); !there) return std::move(there).error();
  if (request.debuginfod) {
#ifdef SNAPDIFF_STATIC
    return Error{ErrorCode::usage,
                 "this static program has no --debuginfod, which needs shared libraries; install the package snapdiff"};
#endif
    if (withheld_servers().empty())
      return Error{ErrorCode::usage, "--debuginfod found no server: expected their addresses in DEBUGINFOD_URLS"};
    setenv("DEBUGINFOD_URLS", withheld_servers().c_str(), 1);
  }
  symbols::SymbolOptions how = symbol_options(request);
  how.again = again;
  const std::unique_ptr<Stage> stage = request.watch ? request.watch("naming") : nullptr;
  if (stage != nullptr)
    how.progress = [&](std::uint64_t done, std::uint64_t all) {
      stage->update(static_cast<double>(done) / static_cast<double>(std::max<std::uint64_t>(all, 1)),
                    [&] { return std::to_string(done) + " of " + std::to_string(all) + " addresses"; });
    };
  return symbols::name_snapshots(snapshots, how);
}

Result<StoreNames> name_store(store::Store& store, const Request& request, bool again) {
  return guarded([&] {
    symbols::Named named = value_or_throw(name_snapshots(value_or_throw(store.addresses()), request, again));
    StoreNames names{std::move(named.report), 0};
    if (names.report.addresses > 0)
      names.changed = value_or_throw(store.take_names(*named.snapshots.front().dictionary));
    return names;
  });
}

Note naming_note(const symbols::SymbolReport& report, const Request& request) {
  constexpr std::size_t kMostCauses = 3;
  Note note{Severity::info, naming_summary(report)};
  std::vector<std::string> causes;
  if (report.addresses > 0) {  // where all have names already, none of the files was asked for one
    for (const std::string& path : idle_paths(report, request)) causes.push_back(path + " fits no module of the input");
  }
  if (!causes.empty()) note.severity = Severity::warning;
  for (const Note& one : report.notes.all()) {
    if (one.severity != Severity::info) note.severity = Severity::warning;
    causes.push_back(one.text);
  }
  for (const symbols::ModuleReport& module : report.modules) {
    if (!module.advice.empty() && module.unnamed_bytes > 0) causes.push_back(module.advice);
  }
  for (std::size_t i = 0; i < std::min(causes.size(), kMostCauses); ++i) note.text += "; " + causes[i];
  if (causes.size() > kMostCauses)
    note.text += "; " + std::to_string(causes.size() - kMostCauses) + " more: snapdiff symbolize lists each module";
  return note;
}

std::string naming_summary(const symbols::SymbolReport& report) {
  const auto count = [](std::uint64_t n) { return count_text(n); };
  if (report.addresses == 0) return "no addresses to name";
  std::string text =
      count(report.addresses - report.unnamed) + " of " + count(report.addresses) + " addresses have names";
  if (report.unnamed > 0 && report.unnamed_bytes > 0)
    text += "; " + bytes_text(report.unnamed_bytes) + " in rows with others";
  return text;
}

Status name_addresses(Loaded& loaded, const Request& request) {
  if (!wants_names(request) || loaded.snapshots.empty()) return ok();
  std::vector<Snapshot> snapshots;
  for (const LoadedSnapshot& s : loaded.snapshots) snapshots.push_back(*s.ref.snapshot);
  Result<symbols::Named> named = name_snapshots(snapshots, request, false);
  if (!named) return std::move(named).error();
  for (std::size_t i = 0; i < loaded.snapshots.size(); ++i)
    loaded.snapshots[i].ref.snapshot = std::make_shared<const Snapshot>(std::move(named->snapshots[i]));
  loaded.named = named->report.addresses > named->report.unnamed;
  const Note note = naming_note(named->report, request);
  loaded.notes.add(note.severity, note.text);
  return ok();
}

BuildsApart::BuildsApart(const std::vector<Snapshot>& known) {
  if (known.empty()) return;
  known_ = known.front().dictionary;
  for (std::uint32_t f = 0; f < known_->frames.size(); ++f) {
    const std::size_t module = index_of(known_->frames.module[f]);
    if (module == 0 || !known_->strings[known_->modules.build_id[module]].empty()) continue;
    if (is_named_address(*known_, FrameId{f})) named_.emplace(known_->strings[known_->modules.name[module]]);
  }
}

/// Modules that the store holds with the build id of the binary that was read.
std::map<std::string, std::string> BuildsApart::ids_of_known(const symbols::SymbolReport& report) const {
  std::map<std::string, std::string> out;
  for (const symbols::ModuleReport& module : report.modules) {
    for (std::size_t m = 1; !module.binary_id.empty() && m < known_->modules.size(); ++m) {
      if (known_->strings[known_->modules.name[m]] == module.name &&
          known_->strings[known_->modules.build_id[m]] == module.binary_id)
        out[module.name] = module.binary_id;
    }
  }
  return out;
}

Status BuildsApart::separate(std::vector<LoadedSnapshot>& loaded, const Request& request) {
  if (named_.empty()) return ok();
  std::vector<Snapshot> snapshots;
  bool any_open = false;
  for (const LoadedSnapshot& one : loaded) {
    snapshots.push_back(*one.ref.snapshot);
    const Dictionary& d = *one.ref.snapshot->dictionary;
    for (std::size_t m = 1; m < d.modules.size(); ++m)
      any_open = any_open || (d.strings[d.modules.build_id[m]].empty() &&
                              named_.contains(std::string(d.strings[d.modules.name[m]])));
  }
  if (any_open) {
    Result<symbols::Named> named = name_snapshots(snapshots, request, false);
    if (!named) return std::move(named).error();
    for (const auto& [module, id] : ids_of_known(named->report)) build_id_of_module_[module] = id;
    std::set<std::string> others;
    for (const Snapshot& snapshot : named->snapshots) {
      for (const auto& [module, is_other] : symbols::modules_of_another_build(*snapshot.dictionary, *known_)) {
        if (is_other) others.insert(module);
        named_.erase(module);
      }
    }
    for (const symbols::ModuleReport& module : named->report.modules) {
      if (module.build_id.empty() && !module.binary_id.empty() && others.contains(module.name))
        build_id_of_module_[module.name] = module.binary_id;
    }
    for (const auto& [module, id] : build_id_of_module_) named_.erase(module);
  }
  if (build_id_of_module_.empty()) return ok();
  std::vector<Snapshot> apart = symbols::with_build_ids(snapshots, build_id_of_module_);
  for (std::size_t i = 0; i < loaded.size(); ++i)
    loaded[i].ref.snapshot = std::make_shared<const Snapshot>(std::move(apart[i]));
  return ok();
}

}  // namespace snapdiff::session
