#include <algorithm>
#include <exception>
#include <map>
#include <mutex>

#include "analyzer/base/dictionary_mover.hpp"
#include "analyzer/base/parallel.hpp"
#include "analyzer/base/validate.hpp"
#include "analyzer/store/allocator_store.hpp"
#include "analyzer/store/snapshot_facts.hpp"
#include "analyzer/store/snapshot_store.hpp"
#include "analyzer/store/stack_codec.hpp"

namespace snapdiff::store {
namespace {

/// A dictionary to which rows are appended, each as it comes.
struct Copied {
  Dictionary dictionary;
  StringId string(std::string_view text) { return dictionary.strings.append(text); }
  ModuleId module(StringId name, StringId build_id) { return dictionary.modules.append(name, build_id); }
  FunctionId function(StringId name, StringId system_name, StringId file, std::int32_t start_line) {
    return dictionary.functions.append(name, system_name, file, start_line);
  }
  FrameId frame(const FrameSpec& spec, const Hash128& hash) { return dictionary.frames.append(spec, hash); }
  LabelSetId labels(const std::vector<Label>& set) { return dictionary.labels.append(set); }
};

/// Makes a dictionary of just what is asked for, out of the store's.
class DictionaryCopy {
 public:
  explicit DictionaryCopy(const Catalog& catalog) : catalog_(catalog), mover_(catalog.dictionary(), copied_) {}

  ModuleId stored_module(std::uint32_t id) {
    return mover_.module(ModuleId{catalog_.modules.row_or_fail(id, "module")});
  }
  StringId stored_string(StringId id) {
    return mover_.string(StringId{catalog_.strings.row_or_fail(static_cast<std::uint32_t>(id), "string")});
  }

  /// Ids of stacks count up in the order of the calls.
  void append_stack(const StackFrames& stored) {
    StackTable& stacks = copied_.dictionary.stacks;
    const auto rows = stored.rows();
    for (auto row = rows.rbegin(); row != rows.rend(); ++row) stacks.frame.push_back(mover_.frame(FrameId{*row}));
    stacks.begin.push_back(stacks.frame.size());
    stacks.hash.push_back(stored.hash());
  }

  /// `ids` ascending; the copies keep that order.
  void append_label_set(std::uint32_t id) {
    mover_.labels(LabelSetId{catalog_.label_sets.row_or_fail(id, "label set")});
  }

  void reserve_stacks(std::size_t count) {
    copied_.dictionary.stacks.begin.reserve(count + 2);
    copied_.dictionary.stacks.hash.reserve(count + 1);
  }

  std::shared_ptr<const Dictionary> finish() {
    return std::make_shared<const Dictionary>(std::move(copied_.dictionary));
  }

 private:
  const Catalog& catalog_;
  Copied copied_;
  DictionaryMover<Copied> mover_;
};

/// Ids in use, ascending, without 0; their place, counted from 1, is the row in the copy. All are added first, then
/// sort() is called.
template <class Id>
class UsedIds {
 public:
  void add(std::span<const Id> ids) {
    for (const Id id : ids) {
      const auto number = static_cast<std::uint32_t>(id);
      if (number >= kDense) {
        used_.push_back(number);
        continue;
      }
      if (number >= dense_.size()) dense_.resize(std::min<std::size_t>(kDense, 2 * std::size_t{number} + 64), false);
      dense_[number] = true;
    }
  }
  void sort() {
    std::vector<std::uint32_t> all;
    for (std::size_t number = 1; number < dense_.size(); ++number) {
      if (dense_[number]) all.push_back(static_cast<std::uint32_t>(number));
    }
    std::sort(used_.begin(), used_.end());
    all.insert(all.end(), used_.begin(), std::unique(used_.begin(), used_.end()));
    used_ = std::move(all);
  }
  const std::vector<std::uint32_t>& all() const { return used_; }

  /// `hint` is where the last one was found: rows come in ascending order, mostly.
  Id place(Id id, std::size_t& hint) const {
    if (id == Id{}) return Id{};
    const auto wanted = static_cast<std::uint32_t>(id);
    while (hint < used_.size() && used_[hint] < wanted) ++hint;
    if (hint == used_.size() || used_[hint] != wanted)
      hint = static_cast<std::size_t>(std::lower_bound(used_.begin(), used_.end(), wanted) - used_.begin());
    return static_cast<Id>(hint + 1);
  }
  /// The same in any order.
  Id place(Id id) const {
    if (id == Id{}) return Id{};
    return static_cast<Id>(std::lower_bound(used_.begin(), used_.end(), static_cast<std::uint32_t>(id)) -
                           used_.begin() + 1);
  }

 private:
  static constexpr std::uint32_t kDense = 1U << 25;  ///< 4 MiB of marks; a damaged store may hold any number
  std::vector<bool> dense_;
  std::vector<std::uint32_t> used_;
};

void copy_stacks(sqlite3* db, const Catalog& catalog, const std::vector<std::uint32_t>& used, DictionaryCopy& copy) {
  if (used.empty()) return;
  copy.reserve_stacks(used.size());
  auto next = used.begin();
  Statement select(db, "SELECT first_id, stacks, data FROM stack_chunk WHERE first_id <= ? ORDER BY first_id");
  select.bind(1, std::int64_t{used.back()});
  while (next != used.end() && select.step()) {
    const std::uint32_t first = select.id(0, "stack chunk");
    const std::uint32_t count = select.id(1, "stack count");
    if (*next < first || *next - first >= count) continue;
    StackFrames frames(catalog);
    for_each_stack(select.blob(2), first, count, [&](std::uint32_t id, const StackChunkReader& in) {
      if (next == used.end() || *next != id) {
        if (!in.root_first().empty()) frames.skip(in.shared());
        return;
      }
      if (in.root_first().empty()) fail(ErrorCode::malformed, "stack " + std::to_string(id) + " is missing");
      frames.move_to(in.root_first(), in.shared());
      copy.append_stack(frames);
      ++next;
    });
  }
  if (next != used.end()) fail(ErrorCode::malformed, "stack " + std::to_string(*next) + " is missing");
}

std::vector<Mapping> load_mappings(sqlite3* db, std::int64_t snapshot, DictionaryCopy& copy) {
  Statement select(db,
                   "SELECT memory_map.id, memory_map.data FROM snapshot JOIN memory_map "
                   "ON memory_map.id = snapshot.memory_map WHERE snapshot.id = ?");
  std::vector<Mapping> mappings;
  if (!select.bind(1, snapshot).step()) return mappings;
  naming("memory map " + std::to_string(select.integer(0)), [&] {
    mappings = decode_mappings(select.blob(1));
    for (Mapping& mapping : mappings) mapping.module = copy.stored_module(static_cast<std::uint32_t>(mapping.module));
  });
  return mappings;
}

/// A snapshot's allocator state as it is stored, until its stacks have their ids in the copy.
struct LoadingAllocator {
  StoredAllocator stored;
  std::shared_ptr<const AllocatorTables> tables;
};

std::optional<LoadingAllocator> start_allocator(Session& session, std::int64_t snapshot, UsedIds<StackId>& stacks) {
  std::optional<StoredAllocator> stored = read_allocator(session.db(), snapshot);
  if (!stored) return std::nullopt;
  LoadingAllocator loading{*std::move(stored), session.allocator_tables(snapshot)};
  std::vector<StackId> listed;
  for (const std::uint32_t id : loading.stored.stacks) listed.push_back(StackId{id});
  stacks.add(listed);
  stacks.add(loading.tables->segments.stack);
  stacks.add(loading.tables->blocks.stack);
  return loading;
}

std::shared_ptr<const AllocatorState> finish_allocator(sqlite3* db, std::int64_t snapshot, LoadingAllocator& loading,
                                                       const UsedIds<StackId>& stacks, DictionaryCopy& copy) {
  auto state = std::make_shared<AllocatorState>();
  state->has_segments = loading.stored.has_segments;
  state->segments = loading.tables->segments;
  state->blocks = loading.tables->blocks;
  loading.tables.reset();
  for (StackId& stack : state->segments.stack) stack = stacks.place(stack);
  for (StackId& stack : state->blocks.stack) stack = stacks.place(stack);
  std::vector<StackId> mine{StackId{}};
  for (const std::uint32_t id : loading.stored.stacks) mine.push_back(stacks.place(StackId{id}));
  for (const StoredTrace& stored : read_traces(db, snapshot)) {
    DeviceTrace& trace = state->traces.emplace_back();
    trace.device = stored.device;
    trace.host = stored.host;
    read_events(
        db, stored, loading.stored, [&mine](std::uint32_t place) { return mine[place]; }, trace.events);
  }
  AllocatorFacts& facts = loading.stored.facts;
  for (Annotation& mark : facts.annotations) mark.name = copy.stored_string(mark.name);
  state->streams = std::move(facts.streams);
  state->pools = std::move(facts.pools);
  state->annotations = std::move(facts.annotations);
  state->settings = std::move(facts.settings);
  return state;
}

void share(const std::shared_ptr<const Dictionary>& dictionary, std::vector<Snapshot>& snapshots) {
  const auto check = [](const Status& valid) {
    if (!valid) fail(ErrorCode::malformed, "store is damaged: " + valid.error().message);
  };
  check(validate(*dictionary));
  for_each_parallel(snapshots.size(), dictionary->stacks.size(), [&](std::size_t i) {
    snapshots[i].dictionary = dictionary;
    check(validate_samples(snapshots[i]));
  });
}

/// Snapshots that are changes against one key are decoded one after another, those of different keys side by side.
void read_samples(sqlite3* db, std::span<const SnapshotId> ids, std::vector<Snapshot>& snapshots, bool in_turn) {
  std::map<std::int64_t, std::vector<std::size_t>> by_key;
  std::size_t rows = 0;
  Statement select(db, "SELECT row_count FROM snapshot WHERE id = ?");
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto id = static_cast<std::int64_t>(ids[i]);
    by_key[key_snapshot_of(db, id)].push_back(i);
    if (select.bind(1, id).step()) rows = std::max(rows, static_cast<std::size_t>(select.integer(0)));
    select.reset();
  }
  std::vector<std::vector<std::size_t>> groups;
  groups.reserve(by_key.size());
  for (auto& [key, members] : by_key) groups.push_back(std::move(members));
  std::vector<std::exception_ptr> failures(groups.size());
  std::mutex guard;
  for_each_parallel(groups.size(), in_turn ? 0 : rows, [&](std::size_t g) {
    try {
      SampleReader reader(db, &guard);
      for (const std::size_t i : groups[g]) reader.read(static_cast<std::int64_t>(ids[i]), snapshots[i].samples);
    } catch (...) {
      failures[g] = std::current_exception();
    }
  });
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace

std::vector<Snapshot> load_addresses(Session& session) {
  sqlite3* db = session.db();
  const Catalog& catalog = session.catalog();
  const FrameTable& frames = catalog.dictionary().frames;
  DictionaryCopy copy(catalog);
  StackFrames stack(catalog);
  for (std::uint32_t row = 0; row < frames.size(); ++row) {
    const std::uint8_t flags = frames.flags[row];
    const bool is_derived = (flags & kFrameDerived) != 0;
    if (frames.offset[row] == kNoOffset || (!is_derived && (flags & (kFramePseudo | kFrameInlined)) != 0)) continue;
    const std::uint32_t id = catalog.frames.id_of(row);
    stack.move_to(std::span(&id, 1), 0);
    copy.append_stack(stack);
  }
  std::vector<Snapshot> snapshots;
  FactsReader facts(db);
  Statement select(db, "SELECT id FROM snapshot ORDER BY id");
  while (select.step()) {
    const std::int64_t id = select.integer(0);
    Snapshot& snapshot = snapshots.emplace_back();
    snapshot.facts = facts.read(id);
    snapshot.mappings = load_mappings(db, id, copy);
  }
  share(copy.finish(), snapshots);
  return snapshots;
}

std::vector<Snapshot> load_snapshots(Session& session, std::span<const SnapshotId> ids, Parts parts,
                                     std::vector<std::uint32_t>* stored) {
  sqlite3* db = session.db();
  std::vector<Snapshot> snapshots(ids.size());
  std::vector<std::optional<LoadingAllocator>> allocators(ids.size());
  UsedIds<StackId> stacks;
  UsedIds<LabelSetId> label_sets;
  read_samples(db, ids, snapshots, stored != nullptr);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    stacks.add(snapshots[i].samples.stack);
    label_sets.add(snapshots[i].samples.labels);
    if (parts == Parts::allocator) allocators[i] = start_allocator(session, static_cast<std::int64_t>(ids[i]), stacks);
  }

  stacks.sort();
  label_sets.sort();
  if (stored != nullptr) *stored = stacks.all();
  DictionaryCopy copy(session.catalog());
  copy_stacks(db, session.catalog(), stacks.all(), copy);
  for (const std::uint32_t id : label_sets.all()) copy.append_label_set(id);

  FactsReader facts(db);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto id = static_cast<std::int64_t>(ids[i]);
    Snapshot& snapshot = snapshots[i];
    snapshot.facts = facts.read(id);
    snapshot.mappings = load_mappings(db, id, copy);
    if (allocators[i]) snapshot.allocator = finish_allocator(db, id, *allocators[i], stacks, copy);
  }
  for_each_parallel(snapshots.size(), stacks.all().size(), [&](std::size_t i) {
    std::size_t stack_hint = 0;
    std::size_t label_hint = 0;
    for (StackId& stack : snapshots[i].samples.stack) stack = stacks.place(stack, stack_hint);
    for (LabelSetId& labels : snapshots[i].samples.labels) labels = label_sets.place(labels, label_hint);
  });
  share(copy.finish(), snapshots);
  return snapshots;
}

}  // namespace snapdiff::store
