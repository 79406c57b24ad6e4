#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

#include "analyzer/base/parallel.hpp"
#include "analyzer/symbols/demangle.hpp"
#include "analyzer/symbols/module_reader.hpp"
#include "analyzer/symbols/perf_map.hpp"
#include "analyzer/symbols/symbol_files.hpp"
#include "analyzer/symbols/symbols.hpp"
#include "snapdiff/keyed_hash.hpp"

namespace snapdiff::symbols {
namespace {

// Real programs write some hundred bytes a name; past this, names of the module stay as they are.
constexpr std::uint64_t kMaxDemangledBytes = std::uint64_t{1} << 30;
constexpr std::uint64_t kProgressStep = 1024;

/// Texts of one module, each once, and linker names decoded once.
class Texts {
 public:
  Texts(StringTable& table, Demangle how) : table_(table), how_(how) {}

  StringId id(std::string_view text) {
    if (text.empty()) return StringId{};
    const auto found = known_.find(text);
    if (found != known_.end()) return found->second;
    const StringId id = table_.append(text);
    known_.emplace(std::string(text), id);
    return id;
  }
  StringId demangled(std::string_view linker_name) {
    const auto found = demangled_.find(linker_name);
    if (found != demangled_.end()) return found->second;
    const StringId name =
        id(written_ > kMaxDemangledBytes ? std::string(linker_name) : demangle(linker_name, how_, written_));
    demangled_.emplace(std::string(linker_name), name);
    return name;
  }

 private:
  using Map = std::unordered_map<std::string, StringId, KeyedHash, std::equal_to<>>;
  StringTable& table_;
  Demangle how_;
  Map known_;
  Map demangled_;
  std::uint64_t written_ = 0;
};

class Progress {
 public:
  Progress(const SymbolOptions& options, std::uint64_t total) : call_(options.progress), total_(total) {}
  void add(std::uint64_t addresses) {
    if (!call_ || addresses == 0) return;
    const std::lock_guard lock(mutex_);
    done_ += addresses;
    call_(done_, total_);
  }

 private:
  const std::function<void(std::uint64_t, std::uint64_t)>& call_;
  std::mutex mutex_;
  std::uint64_t done_ = 0;
  std::uint64_t total_;
};

bool holds_virtual_addresses(const ModuleQuery& module) {
  return std::any_of(module.mappings.begin(), module.mappings.end(), [](const Mapping& m) {
    return m.start == 0 && m.offset == 0 && (m.limit == 0 || m.limit >= std::numeric_limits<std::uint64_t>::max() / 2);
  });
}

/// From file offsets to the addresses that the binary was linked for.
class AddressMap {
 public:
  AddressMap(const ModuleQuery& module, const SymbolFileChoice& files)
      : module_(module), virtual_(holds_virtual_addresses(module)) {
    if (files.binary) {
      loads_ = files.binary->loads;
      return;
    }
    // objcopy gives the segments of a debug file other offsets: only the place in memory identifies them.
    by_memory_ = true;
    loads_ = files.debug->loads;
  }

  std::optional<std::uint64_t> vaddr(std::uint64_t offset) const {
    if (virtual_) {
      const bool inside = std::any_of(loads_.begin(), loads_.end(), [&](const Segment& s) {
        return offset >= s.vaddr && offset - s.vaddr < s.memory_size;
      });
      return inside ? std::optional(offset) : std::nullopt;
    }
    if (by_memory_) return by_memory(offset);
    const Segment* found = nullptr;
    for (const Segment& s : loads_) {
      if (s.file_size == 0 || offset < s.offset || offset - s.offset >= s.memory_size) continue;
      // Segments share a page of the file, and bytes past the file's part are not code.
      if (found == nullptr || better(s, *found, offset)) found = &s;
    }
    if (found == nullptr) return std::nullopt;
    return offset - found->offset + found->vaddr;
  }

 private:
  static bool better(const Segment& a, const Segment& b, std::uint64_t offset) {
    const bool a_inside = offset - a.offset < a.file_size, b_inside = offset - b.offset < b.file_size;
    if (a_inside != b_inside) return a_inside;
    if (a.executable != b.executable) return a.executable;
    return a.offset > b.offset;
  }

  std::optional<std::uint64_t> by_memory(std::uint64_t offset) const {
    if (loads_.empty()) return std::nullopt;
    const auto lowest = std::min_element(loads_.begin(), loads_.end(),
                                         [](const Segment& a, const Segment& b) { return a.vaddr < b.vaddr; });
    const Mapping* first = nullptr;
    const Mapping* around = nullptr;
    for (const Mapping& m : module_.mappings) {
      if (m.limit <= m.start) continue;
      if (around == nullptr && offset >= m.offset && offset - m.offset < m.limit - m.start) around = &m;
    }
    if (around == nullptr) return std::nullopt;
    for (const Mapping& m : module_.mappings) {  // of several processes: the nearest below
      if (m.offset == 0 && m.start <= around->start && (first == nullptr || m.start > first->start)) first = &m;
    }
    if (first != nullptr) return around->start + (offset - around->offset) - first->start + page_down(lowest->vaddr);
    // Only the code is in the map: the code segment of this size.
    const auto code = std::find_if(loads_.begin(), loads_.end(), [](const Segment& s) { return s.executable; });
    if (code == loads_.end()) return std::nullopt;
    return offset - around->offset + page_down(code->vaddr);
  }

  const ModuleQuery& module_;
  std::vector<Segment> loads_;
  bool virtual_;
  bool by_memory_ = false;
};

/// Names the addresses of one module.
class ModuleWork {
 public:
  ModuleWork(const ModuleQuery& module, const SymbolFiles& files, const SymbolOptions& options, Progress& progress)
      : module_(module), files_(files), options_(options), progress_(progress), texts_(out_.texts, options.demangle) {}

  ModuleSymbols run() {
    SymbolFileChoice choice = files_.choose(module_);
    out_.notes = choice.notes;
    out_.advice = choice.advice;
    if (choice.binary || choice.debug) {
      from_binary(choice);
    } else if (module_.no_module || !special_region(module_.name).empty()) {
      from_perf_map();
    }
    out_.begin.resize(module_.offsets.size() + 1, out_.frames.size());
    bool lines = true;
    for (std::size_t i = 0; i < module_.offsets.size(); ++i) {
      const std::span<const SourceFrame> frames = out_.of(i);
      if (frames.empty()) ++out_.unnamed;
      lines = lines && !frames.empty() && frames.front().file != StringId{};
    }
    if (lines || (out_.unnamed == 0 && from_map_)) out_.advice.clear();
    progress_.add(module_.offsets.size() - reported_);
    return std::move(out_);
  }

 private:
  std::string name() const { return std::string(base_name(module_.name)); }

  void note(Severity severity, const std::string& text, std::uint64_t count = 1) {
    out_.notes.add(severity, (module_.no_module ? std::string("addresses outside every file") : name()) + ": " + text,
                   std::nullopt, count);
  }

  void from_binary(const SymbolFileChoice& choice) {
    const std::string& path = choice.binary ? choice.binary->path : choice.debug->path;
    Result<std::unique_ptr<ModuleReader>> opened = ModuleReader::open(choice, options_.debuginfod);
    if (!opened) {
      note(Severity::warning, path + ": " + opened.error().message);
      out_.advice = "no usable file for " + name() + "; give the one that ran with --symbols FILE|DIR";
      return;
    }
    ModuleReader& reader = **opened;
    out_.binary = choice.binary ? path : std::string();
    out_.binary_id = choice.binary ? choice.binary->build_id : choice.debug->build_id;
    if (choice.debug) out_.debug_file = choice.debug->path;
    out_.verified = choice.verified;
    const AddressMap addresses(module_, choice);
    std::vector<RawFrame> frames;
    std::uint64_t outside = 0;
    for (const std::uint64_t offset : module_.offsets) {
      const std::optional<std::uint64_t> vaddr = addresses.vaddr(offset);
      if (vaddr) {
        reader.find(*vaddr, frames);
        add(frames);
      } else {
        ++outside;
      }
      out_.begin.push_back(out_.frames.size());
      if (out_.begin.size() % kProgressStep == 0) {
        progress_.add(kProgressStep);
        reported_ += kProgressStep;
      }
    }
    if (outside > 0) note(Severity::warning, "addresses outside every segment of " + path, outside);
    for (const std::string& problem : reader.problems()) note(Severity::warning, path + ": " + problem);
    if (out_.advice.empty() && outside > 0)
      out_.advice = path + " does not reach to all addresses of " + name() + "; is it the file that ran?";
  }

  void add(const std::vector<RawFrame>& frames) {
    for (const RawFrame& raw : frames) {
      SourceFrame frame;
      if (!raw.linker_name.empty()) {
        frame.system_name = texts_.id(raw.linker_name);
        frame.name = texts_.demangled(raw.linker_name);
      } else if (!raw.name.empty()) {
        frame.system_name = frame.name = texts_.id(raw.name);
      } else {
        continue;  // an inlined call without a name
      }
      if (raw.file.empty() || raw.file.front() == '/' || raw.folder.empty()) {
        frame.file = texts_.id(raw.file);
      } else {
        path_.assign(raw.folder).append("/").append(raw.file);
        frame.file = texts_.id(path_);
      }
      frame.line = raw.line;
      frame.column = raw.column;
      frame.start_line = raw.start_line;
      frame.inlined = true;
      out_.frames.push_back(frame);
    }
    if (out_.frames.size() > out_.begin.back()) out_.frames.back().inlined = false;
  }

  void from_perf_map() {
    const std::string path = files_.perf_map(module_.pid);
    if (path.empty()) return;
    const Result<PerfMap> map = PerfMap::read(path);
    if (!map) {
      note(Severity::warning, path + ": " + map.error().message);
      return;
    }
    if (map->bad_lines() > 0) note(Severity::info, path + ": lines that are no START SIZE name", map->bad_lines());
    for (const std::uint64_t offset : module_.offsets) {
      if (const std::optional<std::uint64_t> pc = absolute(offset)) {
        if (const std::string_view text = map->find(*pc); !text.empty()) {
          SourceFrame frame;
          frame.system_name = frame.name = texts_.id(text);
          out_.frames.push_back(frame);
        }
      }
      out_.begin.push_back(out_.frames.size());
    }
    out_.binary = path;
    out_.verified = module_.pid.has_value();
    from_map_ = true;
  }

  std::optional<std::uint64_t> absolute(std::uint64_t offset) const {
    if (module_.no_module) return offset;
    for (const Mapping& m : module_.mappings) {
      if (m.limit > m.start && offset >= m.offset && offset - m.offset < m.limit - m.start)
        return m.start + (offset - m.offset);
    }
    return std::nullopt;
  }

  const ModuleQuery& module_;
  const SymbolFiles& files_;
  const SymbolOptions& options_;
  Progress& progress_;
  ModuleSymbols out_;
  Texts texts_;
  std::uint64_t reported_ = 0;
  bool from_map_ = false;
  std::string path_;
};

}  // namespace

Resolution resolve(std::span<const ModuleQuery> modules, const SymbolOptions& options) {
  Resolution out;
  const SymbolFiles files(options);
  out.notes = files.notes();
  out.modules.resize(modules.size());
  std::uint64_t total = 0;
  for (const ModuleQuery& module : modules) total += module.offsets.size();
  Progress progress(options, total);
  // The largest first, so that it does not come last on its own.
  std::vector<std::size_t> order(modules.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return modules[a].offsets.size() > modules[b].offsets.size(); });
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < order.size(); i = next++)
      out.modules[order[i]] = ModuleWork(modules[order[i]], files, options, progress).run();
  };
  const std::size_t wanted = options.threads != 0 ? options.threads : core_count();
  const std::size_t threads = std::min(wanted, modules.size());
  {
    std::vector<std::jthread> pool;
    for (std::size_t t = 1; t < threads; ++t) pool.emplace_back(work);
    work();
  }
  return out;
}

}  // namespace snapdiff::symbols
