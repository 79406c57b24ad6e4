#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyzer/base/default_metric.hpp"
#include "analyzer/base/failure.hpp"
#include "analyzer/symbols/dwarf_index.hpp"
#include "analyzer/symbols/symbol_files.hpp"
#include "analyzer/symbols/symbols.hpp"
#include "snapdiff/checked.hpp"
#include "snapdiff/keyed_hash.hpp"

namespace snapdiff::symbols {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
// A stack may hold a million frames (product.md), each of up to kMaxScopeDepth inlined calls.
constexpr std::uint64_t kMaxStackFrames = std::uint64_t{1} << 31;

/// The addresses of all dictionaries by module, and back.
class Addresses {
 public:
  Addresses(std::span<const Snapshot> snapshots, bool again) {
    for (std::size_t s = 0; s < snapshots.size(); ++s) {
      const Dictionary* dictionary = snapshots[s].dictionary.get();
      const auto known = std::find(dictionaries_.begin(), dictionaries_.end(), dictionary);
      dictionary_of_.push_back(static_cast<std::size_t>(known - dictionaries_.begin()));
      if (known == dictionaries_.end()) dictionaries_.push_back(dictionary);
    }
    query_of_.resize(dictionaries_.size());
    wanted_.resize(dictionaries_.size());
    for (std::size_t d = 0; d < dictionaries_.size(); ++d) collect(snapshots, d, again);
    for (std::size_t s = 0; s < snapshots.size(); ++s) add_facts(snapshots[s], dictionary_of_[s]);
    for (ModuleQuery& query : queries) {
      std::sort(query.offsets.begin(), query.offsets.end());
      query.offsets.erase(std::unique(query.offsets.begin(), query.offsets.end()), query.offsets.end());
      std::sort(query.mappings.begin(), query.mappings.end(), [](const Mapping& a, const Mapping& b) {
        return std::tuple(a.start, a.limit, a.offset) < std::tuple(b.start, b.limit, b.offset);
      });
      query.mappings.erase(std::unique(query.mappings.begin(), query.mappings.end()), query.mappings.end());
    }
  }

  std::span<const Dictionary* const> dictionaries() const { return dictionaries_; }
  std::size_t dictionary_of(std::size_t snapshot) const { return dictionary_of_[snapshot]; }
  bool wanted(std::size_t dictionary, std::size_t frame) const { return wanted_[dictionary][frame] != 0; }
  std::size_t query(std::size_t dictionary, std::size_t frame) const {
    return query_of_[dictionary][index_of(dictionaries_[dictionary]->frames.module[frame])];
  }
  std::size_t place(std::size_t dictionary, std::size_t frame) const {
    const std::vector<std::uint64_t>& offsets = queries[query(dictionary, frame)].offsets;
    const std::uint64_t offset = dictionaries_[dictionary]->frames.offset[frame];
    return static_cast<std::size_t>(std::lower_bound(offsets.begin(), offsets.end(), offset) - offsets.begin());
  }

  std::vector<ModuleQuery> queries;

 private:
  /// The process that all snapshots of the dictionary come from, if it is one.
  std::optional<std::int64_t> pid_of(std::span<const Snapshot> snapshots, std::size_t d) const {
    std::optional<std::int64_t> pid;
    for (std::size_t s = 0; s < snapshots.size(); ++s) {
      if (dictionary_of_[s] != d) continue;
      if (!snapshots[s].facts.pid || (pid && pid != snapshots[s].facts.pid)) return std::nullopt;
      pid = snapshots[s].facts.pid;
    }
    return pid;
  }

  void collect(std::span<const Snapshot> snapshots, std::size_t number, bool again) {
    const Dictionary& d = *dictionaries_[number];
    const std::optional<std::int64_t> pid = pid_of(snapshots, number);
    query_of_[number].assign(d.modules.size(), kNone);
    wanted_[number].assign(d.frames.size(), 0);
    for (std::size_t i = 0; i < d.frames.size(); ++i) {
      if (d.frames.offset[i] == kNoOffset || (d.frames.flags[i] & (kFramePseudo | kFrameInlined)) != 0) continue;
      if (d.frames.function[i] != FunctionId{} &&
          !(again && is_named_address(d, FrameId{static_cast<std::uint32_t>(i)})))
        continue;
      const std::size_t module = index_of(d.frames.module[i]);
      std::size_t& query = query_of_[number][module];
      if (query == kNone) query = query_for(d, module, pid);
      queries[query].offsets.push_back(d.frames.offset[i]);
      wanted_[number][i] = 1;
    }
  }

  std::size_t query_for(const Dictionary& d, std::size_t module, std::optional<std::int64_t> pid) {
    const std::string name(d.strings[d.modules.name[module]]), build_id(d.strings[d.modules.build_id[module]]);
    // Code without a file belongs to its process.
    const bool of_process = module == 0 || (build_id.empty() && !special_region(name).empty());
    const auto [entry, added] = known_.try_emplace({name, build_id, of_process ? pid : std::nullopt}, queries.size());
    if (added) {
      ModuleQuery query;
      query.name = name;
      query.build_id = build_id;
      query.no_module = module == 0;
      query.pid = pid;
      queries.push_back(std::move(query));
    }
    return entry->second;
  }

  void add_facts(const Snapshot& snapshot, std::size_t number) {
    const std::optional<std::int64_t> taken =
        snapshot.facts.taken_at_ns ? snapshot.facts.taken_at_ns : snapshot.facts.source.file_time_ns;
    for (const std::size_t query : query_of_[number]) {
      if (query == kNone || !taken) continue;
      std::optional<std::int64_t>& newest = queries[query].taken_at_ns;
      newest = std::max(newest.value_or(*taken), *taken);
    }
    for (const Mapping& mapping : snapshot.mappings) {
      const std::size_t query = query_of_[number][index_of(mapping.module)];
      if (query == kNone || mapping.module == ModuleId{}) continue;
      queries[query].mappings.push_back({mapping.start, mapping.limit, mapping.offset, ModuleId{}});
    }
  }

  std::vector<const Dictionary*> dictionaries_;
  std::vector<std::size_t> dictionary_of_;          // by snapshot
  std::vector<std::vector<std::size_t>> query_of_;  // by dictionary, then module
  std::vector<std::vector<std::uint8_t>> wanted_;   // by dictionary, then frame
  std::map<std::tuple<std::string, std::string, std::optional<std::int64_t>>, std::size_t> known_;
};

/// Copies one dictionary and writes the names into the copy.
class DictionaryNamer {
 public:
  DictionaryNamer(const Addresses& addresses, std::size_t number, const std::vector<ModuleSymbols>& symbols)
      : addresses_(addresses),
        number_(number),
        symbols_(symbols),
        from_(*addresses.dictionaries()[number]),
        to_(std::make_unique<Dictionary>(from_)) {}

  std::shared_ptr<const Dictionary> run() {
    texts_.resize(symbols_.size());
    for (std::size_t f = 1; f < to_->functions.size(); ++f)
      functions_.try_emplace(
          function_key(to_->functions.name[f], to_->functions.system_name[f], to_->functions.file[f]),
          FunctionId{static_cast<std::uint32_t>(f)});
    for (std::uint32_t s = 0; s < to_->strings.size(); ++s)
      strings_.try_emplace(from_.strings[StringId{s}], StringId{s});
    find_derived();
    inlined_begin_.assign(from_.frames.size(), kNone);
    for (std::size_t i = 0; i < from_.frames.size(); ++i) {
      if (addresses_.wanted(number_, i)) name_frame(i);
    }
    expand_stacks();
    return std::move(to_);
  }

 private:
  using FunctionKey = std::tuple<StringId, StringId, StringId>;
  static FunctionKey function_key(StringId name, StringId system, StringId file) { return {name, system, file}; }

  StringId text(std::size_t query, StringId id) {
    if (id == StringId{}) return id;
    std::vector<StringId>& known = texts_[query];
    if (known.empty()) known.resize(symbols_[query].texts.size());
    StringId& here = known[index_of(id)];
    if (here == StringId{}) {
      const std::string_view bytes = symbols_[query].texts[id];
      const auto found = strings_.find(bytes);
      here = found != strings_.end() ? found->second : to_->strings.append(bytes);
      if (found == strings_.end()) strings_.emplace(bytes, here);
    }
    return here;
  }

  FunctionId function(std::size_t query, const SourceFrame& source) {
    const FunctionKey key =
        function_key(text(query, source.name), text(query, source.system_name), text(query, source.file));
    const auto [entry, added] = functions_.try_emplace(key, FunctionId{});
    if (added)
      entry->second = to_->functions.append(std::get<0>(key), std::get<1>(key), std::get<2>(key), source.start_line);
    return entry->second;
  }

  /// Frames that an earlier naming made: their rows are used again, and leave the stacks where their
  /// address gets a new name.
  void find_derived() {
    address_of_.assign(from_.frames.size(), kNone);
    std::unordered_map<Hash128, std::uint32_t> by_hash;
    for (std::uint32_t i = 0; i < from_.frames.size(); ++i) {
      if (addresses_.wanted(number_, i) && from_.frames.function[i] != FunctionId{})
        by_hash.emplace(from_.frames.hash[i], i);
    }
    if (by_hash.empty()) return;
    for (std::uint32_t i = 0; i < from_.frames.size(); ++i) {
      if ((from_.frames.flags[i] & kFrameDerived) == 0 || from_.frames.offset[i] == kNoOffset) continue;
      const Hash128 outer = address_hash(from_, FrameId{i});
      const auto around = by_hash.find(outer);
      if (around == by_hash.end()) continue;
      for (std::uint64_t depth = 1; depth <= kMaxScopeDepth; ++depth) {
        if (from_.frames.hash[i] != inlined_frame_hash(outer, depth)) continue;
        address_of_[i] = around->second;
        derived_.emplace(from_.frames.hash[i], i);
        break;
      }
    }
  }

  void write(std::size_t row, std::size_t query, const SourceFrame& source) {
    to_->frames.function[row] = function(query, source);
    to_->frames.line[row] = source.line;
    to_->frames.column[row] = source.column;
  }

  void name_frame(std::size_t i) {
    const std::size_t query = addresses_.query(number_, i);
    const std::span<const SourceFrame> sources = symbols_[query].of(addresses_.place(number_, i));
    if (sources.empty()) return;
    const FunctionId before = from_.frames.function[i];
    if (before != FunctionId{} && sources.front().file == StringId{} &&
        from_.functions.file[index_of(before)] != StringId{})
      return;  // named with its line before: a symbol table alone would take that away
    write(i, query, sources.back());
    inlined_begin_[i] = static_cast<std::uint32_t>(inlined_.size());
    FrameTable& frames = to_->frames;
    for (std::size_t j = 0; j + 1 < sources.size(); ++j) {
      const Hash128 hash = inlined_frame_hash(from_.frames.hash[i], sources.size() - 1 - j);
      const auto known = derived_.find(hash);
      std::size_t row = frames.size();
      if (known != derived_.end()) {
        row = known->second;
      } else {
        if (row >= kNone || inlined_.size() >= kNone - 1)
          fail(ErrorCode::limit, "too many inlined frames: expected fewer than 2^32 - 1");
        frames.append({.module = from_.frames.module[i],
                       .offset = from_.frames.offset[i],
                       .flags = kFrameInlined | kFrameDerived},
                      hash);
      }
      write(row, query, sources[j]);
      inlined_.push_back(FrameId{static_cast<std::uint32_t>(row)});
    }
    inlined_count_.resize(from_.frames.size(), 0);
    inlined_count_[i] = static_cast<std::uint32_t>(sources.size() - 1);
  }

  void expand_stacks() {
    if (inlined_.empty() && derived_.empty()) return;
    inlined_count_.resize(from_.frames.size(), 0);
    StackTable& out = to_->stacks;
    out.begin.assign(1, 0);
    out.begin.reserve(from_.stacks.begin.size());
    out.frame.clear();
    for (std::size_t s = 0; s < from_.stacks.size(); ++s) {
      for (const FrameId frame : from_.stacks.frames(StackId{static_cast<std::uint32_t>(s)})) {
        const std::size_t i = index_of(frame);
        if (address_of_[i] != kNone && inlined_begin_[address_of_[i]] != kNone) continue;
        if (inlined_begin_[i] != kNone) {
          const auto first = inlined_.begin() + inlined_begin_[i];
          out.frame.insert(out.frame.end(), first, first + inlined_count_[i]);
        }
        out.frame.push_back(frame);
      }
      if (out.frame.size() > kMaxStackFrames)
        fail(ErrorCode::limit, "stacks with their inlined frames are too long: expected at most 2^31 frames in all");
      out.begin.push_back(out.frame.size());
    }
  }

  const Addresses& addresses_;
  std::size_t number_;
  const std::vector<ModuleSymbols>& symbols_;
  const Dictionary& from_;
  std::unique_ptr<Dictionary> to_;
  std::vector<std::vector<StringId>> texts_;                           // by query, then text of its ModuleSymbols
  std::unordered_map<std::string_view, StringId, KeyedHash> strings_;  // views of from_ and symbols_
  std::map<FunctionKey, FunctionId> functions_;
  std::vector<FrameId> inlined_;                              // of all frames, innermost first
  std::vector<std::uint32_t> inlined_begin_, inlined_count_;  // by frame
  std::vector<std::uint32_t> address_of_;                     // by frame: the address it was derived from
  std::unordered_map<Hash128, std::uint32_t> derived_;
};

const Column* default_column(const Snapshot& snapshot) {
  const MetricList metrics = metric_list(snapshot.samples.columns, snapshot.facts.default_metric);
  return snapshot.column(default_metric(std::span(&metrics, 1)));
}

void add_bytes(std::int64_t& sum, std::int64_t value) {
  if (value == std::numeric_limits<std::int64_t>::min()) value = std::numeric_limits<std::int64_t>::max();
  if (!checked_add(sum, value < 0 ? -value : value, sum)) sum = std::numeric_limits<std::int64_t>::max();
}

/// Bytes of the rows that go through unnamed addresses, for the report.
void count_bytes(const Snapshot& snapshot, std::size_t dictionary, const Addresses& addresses,
                 const std::vector<ModuleSymbols>& symbols, SymbolReport& report) {
  const Column* column = default_column(snapshot);
  if (column == nullptr) return;
  const Dictionary& d = *snapshot.dictionary;
  std::vector<std::uint32_t> unnamed_in(d.frames.size(), kNone);
  for (std::uint32_t i = 0; i < d.frames.size(); ++i) {
    if (!addresses.wanted(dictionary, i)) continue;
    const std::size_t query = addresses.query(dictionary, i);
    if (d.frames.function[i] == FunctionId{} && symbols[query].of(addresses.place(dictionary, i)).empty())
      unnamed_in[i] = static_cast<std::uint32_t>(query);
  }
  std::vector<std::uint32_t> seen;
  for (std::size_t row = 0; row < snapshot.samples.size(); ++row) {
    seen.clear();
    for (const FrameId frame : d.stacks.frames(snapshot.samples.stack[row])) {
      const std::uint32_t query = unnamed_in[index_of(frame)];
      if (query != kNone && std::find(seen.begin(), seen.end(), query) == seen.end()) seen.push_back(query);
    }
    if (seen.empty()) continue;
    add_bytes(report.unnamed_bytes, column->value[row]);
    for (const std::uint32_t query : seen) add_bytes(report.modules[query].unnamed_bytes, column->value[row]);
  }
}

ModuleReport report_of(const ModuleQuery& query, const ModuleSymbols& symbols) {
  ModuleReport out;
  out.name = query.no_module ? std::string() : query.name;
  out.build_id = query.build_id;
  out.binary = symbols.binary;
  out.binary_id = symbols.binary_id;
  out.debug_file = symbols.debug_file;
  out.addresses = query.offsets.size();
  out.named = out.addresses - symbols.unnamed;
  for (std::size_t i = 0; i < query.offsets.size(); ++i) {
    const auto frames = symbols.of(i);
    if (!frames.empty() && frames.front().file == StringId{}) ++out.without_lines;
  }
  out.advice = symbols.advice;
  return out;
}

}  // namespace

Hash128 inlined_frame_hash(const Hash128& outer, std::uint64_t depth) {
  SequenceHasher hasher;
  hasher.add(outer);
  hasher.add({mix64(depth + 0x6b43a9b5ULL), mix64(depth ^ 0x9e3779b97f4a7c15ULL)});
  return hasher.finish();
}

Result<Named> name_snapshots(std::span<const Snapshot> snapshots, const SymbolOptions& options) {
  return guarded([&] {
    const Addresses addresses(snapshots, options.again);
    const Resolution resolution = resolve(addresses.queries, options);
    Named out;
    std::vector<std::shared_ptr<const Dictionary>> dictionaries;
    for (std::size_t d = 0; d < addresses.dictionaries().size(); ++d)
      dictionaries.push_back(DictionaryNamer(addresses, d, resolution.modules).run());
    for (std::size_t s = 0; s < snapshots.size(); ++s) {
      out.snapshots.push_back(snapshots[s]);
      out.snapshots.back().dictionary = dictionaries[addresses.dictionary_of(s)];
    }
    SymbolReport& report = out.report;
    report.notes = resolution.notes;
    for (std::size_t q = 0; q < addresses.queries.size(); ++q) {
      report.modules.push_back(report_of(addresses.queries[q], resolution.modules[q]));
      report.addresses += report.modules.back().addresses;
      report.unnamed += resolution.modules[q].unnamed;
      report.notes.add_all(resolution.modules[q].notes);
    }
    if (!snapshots.empty())
      count_bytes(snapshots.back(), addresses.dictionary_of(snapshots.size() - 1), addresses, resolution.modules,
                  report);
    std::stable_sort(report.modules.begin(), report.modules.end(), [](const ModuleReport& a, const ModuleReport& b) {
      return std::tuple(-a.unnamed_bytes, std::string_view(a.name), std::string_view(a.build_id)) <
             std::tuple(-b.unnamed_bytes, std::string_view(b.name), std::string_view(b.build_id));
    });
    return out;
  });
}

Result<Named> name_snapshot(const Snapshot& snapshot, const SymbolOptions& options) {
  return name_snapshots(std::span(&snapshot, 1), options);
}

}  // namespace snapdiff::symbols
