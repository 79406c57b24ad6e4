#include "analyzer/base/snapshot_builder.hpp"

#include <algorithm>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <numeric>

#include "analyzer/base/large_pages.hpp"
#include "analyzer/base/parallel.hpp"
#include "analyzer/base/validate.hpp"
#include "snapdiff/checked.hpp"

namespace snapdiff {
namespace {

std::uint64_t hash_of(std::span<const Label> set) {
  std::uint64_t hash = set.size();
  for (const Label& label : set) {
    hash = mix64(hash ^ index_of(label.key)) * 0x9e3779b97f4a7c15ULL;
    hash = mix64(hash ^ (index_of(label.text) << 32) ^ index_of(label.unit));
    hash = mix64(hash ^ static_cast<std::uint64_t>(label.number)) + (label.is_number ? 1U : 0U);
  }
  return mix64(hash);
}

Hash128 hash_of(std::span<const FrameId> stack, const FrameTable& frames) {
  SequenceHasher hasher;
  for (const FrameId frame : stack) hasher.add(frames.hash[index_of(frame)]);
  return hasher.finish();
}

constexpr std::uint32_t kLeftOut = std::numeric_limits<std::uint32_t>::max();  // depth of a stack without its frames
std::size_t kept(std::uint32_t depth) { return depth == kLeftOut ? 0 : depth; }

/// Takes the frames of stacks that are held out of `frames`, which belong to the stacks of `hash` and `depth`.
void take_out(const HeldStacks& held, std::span<const Hash128> hash, std::span<std::uint32_t> depth,
              std::vector<FrameId>& frames) {
  constexpr std::size_t kAhead = 16;
  auto from = frames.begin(), to = from;
  for (std::size_t stack = 0; stack < hash.size(); ++stack) {
    if (stack + kAhead < hash.size()) held.prefetch(hash[stack + kAhead]);
    const auto end = from + static_cast<std::ptrdiff_t>(std::max(depth[stack], 1U));
    if (depth[stack] > 0 && held.holds(hash[stack])) {
      depth[stack] = kLeftOut;
    } else {
      to = std::copy(from, end, to);
    }
    from = end;
  }
  frames.erase(to, frames.end());
}

/// Rows in order, each stack and label set once, with a value: they are the samples as they are.
bool are_samples(const SampleTable& rows) {
  for (std::size_t row = 1; row < rows.size(); ++row) {
    if (std::pair(rows.stack[row - 1], rows.labels[row - 1]) >= std::pair(rows.stack[row], rows.labels[row]))
      return false;
  }
  std::vector<std::uint8_t> filled(rows.stack.size(), 0);
  for (const Column& column : rows.columns) {
    if (!column.known.empty()) return false;
    for (std::size_t row = 0; row < filled.size(); ++row) {
      if (column.value[row] != 0) filled[row] = 1;
    }
  }
  return std::find(filled.begin(), filled.end(), 0) == filled.end();
}

/// Makes threads that work on blocks take turns, in the order of their blocks.
class InOrder {
 public:
  /// The work on one block. Its end begins the turn of the next block, after an exception too.
  class Turn {
   public:
    Turn(InOrder& all, std::size_t block) : all_(all), block_(block) {}
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() {
      wait();
      {
        const std::lock_guard<std::mutex> hold(all_.mutex_);
        ++all_.next_;
      }
      all_.changed_.notify_all();
    }
    /// Returns when all blocks before this one have ended.
    void wait() {
      std::unique_lock<std::mutex> hold(all_.mutex_);
      all_.changed_.wait(hold, [&] { return all_.next_ == block_; });
    }

   private:
    InOrder& all_;
    std::size_t block_;
  };

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t next_ = 0;
};

Status sum_rows(const SampleTable& rows, SampleTable& out) {
  std::vector<std::uint32_t> order(rows.stack.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto key = [&](std::uint32_t row) {
    return (static_cast<std::uint64_t>(rows.stack[row]) << 32) | static_cast<std::uint64_t>(rows.labels[row]);
  };
  const auto less = [&](std::uint32_t a, std::uint32_t b) { return key(a) != key(b) ? key(a) < key(b) : a < b; };
  if (!std::is_sorted(order.begin(), order.end(), less)) std::sort(order.begin(), order.end(), less);

  out.columns.resize(rows.columns.size());
  for (std::size_t c = 0; c < rows.columns.size(); ++c) {
    out.columns[c].type = rows.columns[c].type;
    out.columns[c].half_unit = rows.columns[c].half_unit;
    out.columns[c].value.reserve(rows.stack.size());
  }
  out.stack.reserve(rows.stack.size());
  out.labels.reserve(rows.stack.size());

  std::vector<std::int64_t> sum(rows.columns.size());
  std::vector<std::uint8_t> known(rows.columns.size());
  for (std::size_t i = 0; i < order.size();) {
    std::fill(sum.begin(), sum.end(), 0);
    std::fill(known.begin(), known.end(), std::uint8_t{1});
    const std::uint64_t row_key = key(order[i]);
    const std::uint32_t first = order[i];
    for (; i < order.size() && key(order[i]) == row_key; ++i) {
      for (std::size_t c = 0; c < rows.columns.size(); ++c) {
        if (!rows.columns[c].is_known(order[i])) known[c] = 0;
        if (!checked_add(sum[c], rows.columns[c].value[order[i]], sum[c])) {
          return Error{ErrorCode::limit,
                       "sum of " + rows.columns[c].type.name +
                           " over the rows of one stack is beyond 2^63-1, expected it to fit in 64 bits"};
        }
      }
    }
    bool keep = false;
    for (std::size_t c = 0; c < rows.columns.size(); ++c) keep = keep || sum[c] != 0 || known[c] == 0;
    if (!keep) continue;
    out.stack.push_back(rows.stack[first]);
    out.labels.push_back(rows.labels[first]);
    for (std::size_t c = 0; c < rows.columns.size(); ++c) {
      Column& column = out.columns[c];
      column.value.push_back(known[c] != 0 ? sum[c] : 0);
      if (known[c] == 0 || !column.known.empty()) {
        column.known.resize(out.stack.size() - 1, 1);
        column.known.push_back(known[c]);
      }
    }
  }
  return ok();
}

}  // namespace

SnapshotBuilder::SnapshotBuilder() : dictionary_(std::make_unique<Dictionary>()) {}
SnapshotBuilder::~SnapshotBuilder() = default;
SnapshotBuilder::SnapshotBuilder(SnapshotBuilder&&) noexcept = default;
SnapshotBuilder& SnapshotBuilder::operator=(SnapshotBuilder&&) noexcept = default;

StringId SnapshotBuilder::string(std::string_view text) {
  if (text.empty()) return StringId{};
  StringTable& table = dictionary_->strings;
  const std::uint64_t hash = keyed_hash(text);
  const std::uint32_t row = strings_.find(hash, [&](std::uint32_t r) { return table[StringId{r}] == text; });
  if (row != HashIndex::kAbsent) return StringId{row};
  const StringId id = table.append(text);
  text_hash_.push_back(hash_bytes(text));
  strings_.insert(hash, static_cast<std::uint32_t>(id));
  return id;
}

ModuleId SnapshotBuilder::module(std::string_view name, std::string_view build_id) {
  if (name.empty() && build_id.empty()) return ModuleId{};
  ModuleTable& table = dictionary_->modules;
  const StringId name_id = string(name);
  const StringId build = string(build_id);
  const auto hash_of = [](StringId a, StringId b) {
    return mix64((static_cast<std::uint64_t>(a) << 32) | static_cast<std::uint64_t>(b));
  };
  const std::uint64_t hash = hash_of(name_id, build);
  const std::uint32_t row =
      modules_.find(hash, [&](std::uint32_t r) { return table.name[r] == name_id && table.build_id[r] == build; });
  if (row != HashIndex::kAbsent) return ModuleId{row};
  const ModuleId id = table.append(name_id, build);
  modules_.insert(hash, static_cast<std::uint32_t>(id));
  return id;
}

FunctionId SnapshotBuilder::function(StringId name, StringId system_name, StringId file, std::int32_t start_line) {
  if (name == StringId{}) name = system_name;
  if (name == StringId{}) return FunctionId{};
  FunctionTable& table = dictionary_->functions;
  const auto hash_of = [](StringId a, StringId b, StringId c) {
    return mix64(index_of(a) * 0x9e3779b97f4a7c15ULL + mix64(index_of(b) * 0xd1342543de82ef95ULL + index_of(c)));
  };
  const std::uint64_t hash = hash_of(name, system_name, file);
  const std::uint32_t row = functions_.find(hash, [&](std::uint32_t r) {
    return table.name[r] == name && table.system_name[r] == system_name && table.file[r] == file;
  });
  if (row != HashIndex::kAbsent) return FunctionId{row};
  const FunctionId id = table.append(name, system_name, file, start_line);
  functions_.insert(hash, static_cast<std::uint32_t>(id));
  return id;
}

FunctionId SnapshotBuilder::function(std::string_view name, std::string_view file) {
  const StringId text = string(name);
  return function(text, text, string(file), 0);
}

FrameId SnapshotBuilder::frame(const FrameSpec& spec) {
  const Dictionary& d = *dictionary_;
  const std::size_t f = index_of(spec.function);
  const std::size_t m = index_of(spec.module);
  if ((spec.flags & kFramePseudo) == 0 && spec.function != FunctionId{}) {
    return frame_with_hash(spec, named_frame_hash(text_hash_[index_of(d.functions.name[f])],
                                                  text_hash_[index_of(d.functions.file[f])], spec.line));
  }
  return frame_with_hash(spec, frame_hash(d.strings[d.modules.name[m]], d.strings[d.modules.build_id[m]], spec.offset,
                                          d.strings[d.functions.name[f]], d.strings[d.functions.file[f]], spec.line,
                                          (spec.flags & kFramePseudo) != 0));
}

FrameId SnapshotBuilder::frame_with_hash(const FrameSpec& spec, const Hash128& hash) {
  FrameTable& table = dictionary_->frames;
  const std::uint64_t key = keyed_hash(hash);
  const std::uint32_t row = frames_.find(key, [&](std::uint32_t r) { return table.hash[r] == hash; });
  if (row != HashIndex::kAbsent) return FrameId{row};
  const FrameId id = table.append(spec, hash);
  frames_.insert(key, static_cast<std::uint32_t>(id));
  return id;
}

FrameId SnapshotBuilder::pseudo_frame(std::string_view text) {
  FrameSpec spec;
  spec.function = function(string(text), StringId{}, StringId{}, 0);
  spec.flags = kFramePseudo;
  return frame(spec);
}

StackId SnapshotBuilder::pseudo_stack(std::string_view text) {
  const FrameId frame = pseudo_frame(text);
  return stack(std::span(&frame, 1));
}

StackId SnapshotBuilder::stack(std::span<const FrameId> leaf_first) {
  if (leaf_first.empty()) return pseudo_stack(kNoStackRecorded);
  return stack_with_hash(leaf_first, hash_of(leaf_first, dictionary_->frames));
}

StackId SnapshotBuilder::stack_with_hash(std::span<const FrameId> leaf_first, const Hash128& hash) {
  StackTable& table = dictionary_->stacks;
  const std::uint64_t key = keyed_hash(hash);
  const std::uint32_t row = stacks_.find(key, [&](std::uint32_t r) { return table.hash[r] == hash; });
  if (row != HashIndex::kAbsent) return StackId{row};
  table.frame.insert(table.frame.end(), leaf_first.begin(), leaf_first.end());
  table.begin.push_back(table.frame.size());
  table.hash.push_back(hash);
  const auto id = static_cast<std::uint32_t>(table.size() - 1);
  stacks_.insert(key, id);
  return StackId{id};
}

bool SnapshotBuilder::keeps(std::span<const FrameId> leaf_first) const {
  return held_ == nullptr || !held_->holds(hash_of(leaf_first, dictionary_->frames));
}

// Threads read blocks of stacks side by side, and put the frames of their blocks into the table in the order of blocks.
std::vector<StackId> SnapshotBuilder::stacks(std::size_t count, const ReadStacks& read) {
  if (count == 0) return {};
  StackTable& table = dictionary_->stacks;
  resize_on_all_cores(table.hash, count + 1);
  const std::span<Hash128> hash = std::span(table.hash).subspan(1);
  std::vector<std::uint32_t> depth;
  resize_on_all_cores(depth, count);
  // Where the frames of a block are about to be, as far as reserve_stacks() foresaw: memory for them is asked for side
  // by side, and while the input gives its own back.
  const FrameId* const memory = table.frame.data();
  const std::size_t room = table.frame.capacity();
  prefer_large_pages(memory, room * sizeof(FrameId));
  InOrder in_order;
  for_each_block(count, [&](std::size_t block, std::size_t begin, std::size_t end) {
    InOrder::Turn turn(in_order, block);
    std::vector<FrameId> frames;
    read(begin, end, [&](std::size_t stack, std::span<const FrameId> leaf_first) {
      hash[stack] = hash_of(leaf_first, dictionary_->frames);
      depth[stack] = static_cast<std::uint32_t>(leaf_first.size());
      frames.insert(frames.end(), leaf_first.begin(), leaf_first.end());
      if (leaf_first.empty()) frames.push_back(FrameId{});
    });
    if (held_ != nullptr)
      take_out(*held_, hash.subspan(begin, end - begin), std::span(depth).subspan(begin, end - begin), frames);
    const std::size_t at = room * begin / count;
    fill_soon(memory + at, (room * end / count - at) * sizeof(FrameId));
    turn.wait();
    table.frame.insert(table.frame.end(), frames.begin(), frames.end());
  });
  std::vector<FrameId> none;  // stands for an empty stack
  if (std::find(depth.begin(), depth.end(), 0U) != depth.end()) {
    none.push_back(pseudo_frame(kNoStackRecorded));
    std::size_t at = 0;
    for (std::size_t stack = 0; stack < count; at += kept(depth[stack++])) {
      if (depth[stack] != 0) continue;
      hash[stack] = hash_of(none, dictionary_->frames), depth[stack] = 1;
      table.frame[at] = none.front();
    }
  }
  const LargeColumn<std::uint32_t> first = stacks_.add_all(
      count, [&](std::uint32_t stack) { return keyed_hash(hash[stack]); },
      [&](std::uint32_t a, std::uint32_t b) { return hash[a] == hash[b]; });

  // Stacks that came before are taken out of the table.
  std::vector<StackId> ids;
  resize_on_all_cores(ids, count);
  table.begin.reserve(count + 2);
  auto to = table.frame.begin();
  auto from = table.frame.begin();
  for (std::size_t stack = 0; stack < count; from += static_cast<std::ptrdiff_t>(kept(depth[stack++]))) {
    if (first[stack] != stack) {
      ids[stack] = ids[first[stack]];
      continue;
    }
    const std::size_t id = table.begin.size() - 1;
    const std::size_t frames = kept(depth[stack]);
    to = to == from ? from + static_cast<std::ptrdiff_t>(frames) : std::copy_n(from, frames, to);
    table.begin.push_back(static_cast<std::uint64_t>(to - table.frame.begin()));
    table.hash[id] = hash[stack];
    ids[stack] = StackId{static_cast<std::uint32_t>(id)};
  }
  table.frame.erase(to, table.frame.end());
  table.hash.resize(table.begin.size() - 1);
  if (table.hash.size() < count + 1)
    stacks_.renumber([&](std::uint32_t stack) { return static_cast<std::uint32_t>(ids[stack]); });
  return ids;
}

void SnapshotBuilder::set_rows(std::vector<StackId> stacks, std::vector<LabelSetId> labels,
                               std::vector<std::vector<std::int64_t>> values) {
  stack_ = std::move(stacks);
  label_set_ = std::move(labels);
  for (std::size_t c = 0; c < columns_.size(); ++c) columns_[c].value = std::move(values[c]);
}

void SnapshotBuilder::reserve_code(std::size_t strings, std::size_t functions, std::size_t frames) {
  strings_.reserve(strings);
  functions_.reserve(functions);
  frames_.reserve(frames);
}

void SnapshotBuilder::reserve_stacks(std::size_t stacks, std::size_t frames) {
  StackTable& table = dictionary_->stacks;
  table.begin.reserve(stacks + 2);
  table.hash.reserve(stacks + 1);
  table.frame.reserve(frames);
  stacks_.reserve(stacks);
}

LabelSetId SnapshotBuilder::labels(std::vector<Label> set) {
  if (set.empty()) return LabelSetId{};
  const StringTable& strings = dictionary_->strings;
  std::sort(set.begin(), set.end(), [&](const Label& a, const Label& b) {
    if (a.key != b.key) return strings[a.key] < strings[b.key];
    if (a.is_number != b.is_number) return b.is_number;
    if (a.text != b.text) return strings[a.text] < strings[b.text];
    if (a.number != b.number) return a.number < b.number;
    return strings[a.unit] < strings[b.unit];
  });
  LabelTable& table = dictionary_->labels;
  const std::uint64_t hash = hash_of(set);
  const std::uint32_t row = labels_.find(hash, [&](std::uint32_t r) {
    const auto other = table.labels(LabelSetId{r});
    return std::equal(set.begin(), set.end(), other.begin(), other.end());
  });
  if (row != HashIndex::kAbsent) return LabelSetId{row};
  const LabelSetId id = table.append(set);
  labels_.insert(hash, static_cast<std::uint32_t>(id));
  return id;
}

std::size_t SnapshotBuilder::add_column(SampleType type, std::int64_t half_unit) {
  columns_.push_back(Column{std::move(type), {}, {}, half_unit});
  return columns_.size() - 1;
}

void SnapshotBuilder::add_heap_columns(bool allocated) {
  add_column({"inuse_objects", "count"});
  add_column({"inuse_space", "bytes"});
  if (!allocated) return;
  add_column({"alloc_objects", "count"});
  add_column({"alloc_space", "bytes"});
}

void SnapshotBuilder::add_row(StackId stack, LabelSetId labels, std::span<const std::int64_t> values) {
  stack_.push_back(stack);
  label_set_.push_back(labels);
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    columns_[c].value.push_back(values[c]);
    if (!columns_[c].known.empty()) columns_[c].known.push_back(1);
  }
}

void SnapshotBuilder::add_row(StackId stack, LabelSetId labels, std::span<const std::int64_t> values,
                              std::span<const std::uint8_t> known) {
  add_row(stack, labels, values);
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (known[c] != 0) continue;
    if (columns_[c].known.empty()) columns_[c].known.assign(stack_.size(), 1);
    columns_[c].known.back() = 0;
    columns_[c].value.back() = 0;
  }
}

Result<Snapshot> SnapshotBuilder::finish() {
  Snapshot snapshot;
  SampleTable rows{std::move(stack_), std::move(label_set_), std::move(columns_)};
  if (are_samples(rows)) {
    snapshot.samples = std::move(rows);
  } else if (Status summed = sum_rows(rows, snapshot.samples); !summed) {
    return std::move(summed).error();
  }
  std::sort(mappings_.begin(), mappings_.end(), [](const Mapping& a, const Mapping& b) {
    return a.start != b.start ? a.start < b.start : a.limit != b.limit ? a.limit < b.limit : a.module < b.module;
  });
  snapshot.mappings = std::move(mappings_);
  snapshot.facts = std::move(facts_);
  snapshot.allocator = std::move(allocator_);
  snapshot.graph = std::move(graph_);
  snapshot.dictionary = std::shared_ptr<const Dictionary>(std::move(dictionary_));
  if (Status valid = validate(snapshot); !valid) return std::move(valid).error();
  return snapshot;
}

}  // namespace snapdiff
