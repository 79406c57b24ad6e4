#include "analyzer/session/shared_dictionary.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <span>
#include <type_traits>
#include <utility>

#include "analyzer/base/buckets.hpp"
#include "analyzer/base/dictionary_mover.hpp"
#include "analyzer/base/large_pages.hpp"
#include "analyzer/base/parallel.hpp"

namespace snapdiff::session {
namespace {

template <class... Ids>
std::uint64_t key_of(Ids... ids) {
  std::uint64_t key = 0;
  ((key = mix64(key ^ static_cast<std::uint64_t>(ids))), ...);
  return keyed_hash(key);
}

std::uint64_t key_of_labels(std::span<const Label> set) {
  std::uint64_t key = set.size();
  for (const Label& label : set) key = key_of(key, label.key, label.text, label.number, label.unit);
  return key;
}

bool same_spec(const FrameSpec& a, const FrameSpec& b) {
  return a.module == b.module && a.function == b.function && a.offset == b.offset && a.line == b.line &&
         a.column == b.column && a.flags == b.flags;
}

/// Whether two frames of two dictionaries say the same, text by text. Several calls in one line of one build are one
/// frame, which has the offset of the first of them that a file holds, inlined or not as that one is.
bool same_frame(const Dictionary& a, FrameId in_a, const Dictionary& b, FrameId in_b) {
  const FrameSpec fa = a.frames[in_a], fb = b.frames[in_b];
  if (fa.line != fb.line || fa.column != fb.column) return false;
  const auto same = [&](StringId text_a, StringId text_b) { return a.strings[text_a] == b.strings[text_b]; };
  const std::size_t ma = index_of(fa.module), mb = index_of(fb.module);
  const std::size_t ga = index_of(fa.function), gb = index_of(fb.function);
  const bool one_build = a.modules.build_id[ma] != StringId{} && fa.function != FunctionId{};
  const std::uint8_t of_call = one_build ? kFrameInlined : std::uint8_t{0};
  if (((fa.flags ^ fb.flags) & ~of_call) != 0 || (fa.offset != fb.offset && !one_build)) return false;
  return same(a.modules.name[ma], b.modules.name[mb]) && same(a.modules.build_id[ma], b.modules.build_id[mb]) &&
         same(a.functions.name[ga], b.functions.name[gb]) &&
         same(a.functions.system_name[ga], b.functions.system_name[gb]) &&
         same(a.functions.file[ga], b.functions.file[gb]) && a.functions.start_line[ga] == b.functions.start_line[gb];
}

template <class T>
void reorder(std::vector<T>& values, const std::vector<std::uint32_t>& order) {
  if (values.empty()) return;
  std::vector<T> out;
  resize_on_all_cores(out, values.size());
  for_each_block(order.size(), [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) out[i] = values[order[i]];
  });
  values = std::move(out);
}

/// Sorts the rows by their stack, of which there are `stacks`, and by their labels.
void sort_rows(SampleTable& samples, std::size_t stacks) {
  const std::size_t rows = samples.size();
  const auto key = [&](std::size_t row) { return std::pair(samples.stack[row], samples.labels[row]); };
  std::size_t row = 1;
  while (row < rows && key(row - 1) <= key(row)) ++row;
  if (row >= rows) return;
  const int together = std::max(9, static_cast<int>(std::bit_width(stacks)) - 11);  // at most 2048 buckets
  const auto bucket_of = [&](std::size_t r) { return index_of(samples.stack[r]) >> together; };
  const std::size_t buckets = (stacks >> together) + 1;
  Buckets by_stack(rows, buckets);
  std::vector<std::uint32_t> order;
  resize_on_all_cores(order, rows);
  by_stack.count(bucket_of);
  by_stack.distribute(bucket_of,
                      [&](std::size_t r, std::uint32_t place) { order[place] = static_cast<std::uint32_t>(r); });
  for_each_parallel(buckets, rows, [&](std::size_t bucket) {
    std::sort(order.begin() + by_stack.begin(bucket), order.begin() + by_stack.begin(bucket + 1),
              [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
  });
  reorder(samples.stack, order);
  reorder(samples.labels, order);
  for (Column& column : samples.columns) {
    reorder(column.value, order);
    reorder(column.known, order);
  }
}

bool is_alone(const Snapshot& snapshot) {
  return snapshot.allocator == nullptr && snapshot.graph == nullptr && snapshot.dictionary != nullptr;
}

}  // namespace

/// Adds rows that are not there yet, by all that they say.
class SharedDictionary::Rows {
 public:
  explicit Rows(SharedDictionary& to) : to_(to), d_(*to.dictionary_) {}

  StringId string(std::string_view text) {
    if (text.empty()) return StringId{};
    return found<StringId>(
        to_.strings_, keyed_hash(text), [&](StringId row) { return d_.strings[row] == text; },
        [&] { return d_.strings.append(text); });
  }
  ModuleId module(StringId name, StringId build_id) {
    const ModuleTable& table = d_.modules;
    return found<ModuleId>(
        to_.modules_, key_of(name, build_id),
        [&](ModuleId row) { return table.name[index_of(row)] == name && table.build_id[index_of(row)] == build_id; },
        [&] { return d_.modules.append(name, build_id); });
  }
  FunctionId function(StringId name, StringId system_name, StringId file, std::int32_t start_line) {
    const FunctionTable& table = d_.functions;
    return found<FunctionId>(
        to_.functions_, key_of(name, system_name, file),
        [&](FunctionId id) {
          const std::size_t row = index_of(id);
          return table.name[row] == name && table.system_name[row] == system_name && table.file[row] == file;
        },
        [&] { return d_.functions.append(name, system_name, file, start_line); });
  }
  FrameId frame(const FrameSpec& spec, const Hash128& hash) {
    return found<FrameId>(
        to_.frames_, keyed_hash(hash),
        [&](FrameId row) { return d_.frames.hash[index_of(row)] == hash && same_spec(d_.frames[row], spec); },
        [&] { return d_.frames.append(spec, hash); });
  }
  LabelSetId labels(const std::vector<Label>& set) {
    return found<LabelSetId>(
        to_.label_sets_, key_of_labels(set),
        [&](LabelSetId row) { return std::ranges::equal(d_.labels.labels(row), set); },
        [&] { return d_.labels.append(set); });
  }
  std::uint32_t stack(StackId id, const StackTable& from, DictionaryMover<Rows>& mover) {
    StackTable& stacks = d_.stacks;
    const Hash128& hash = from.hash[index_of(id)];
    const std::uint32_t known = to_.find_stack(hash);
    if (known != HashIndex::kAbsent) return known;
    for (const FrameId frame : from.frames(id)) stacks.frame.push_back(mover.frame(frame));
    stacks.begin.push_back(stacks.frame.size());
    stacks.hash.push_back(hash);
    const auto row = static_cast<std::uint32_t>(stacks.size() - 1);
    to_.stacks_.insert(keyed_hash(hash), row);
    return row;
  }

 private:
  /// The row under `key` that is the same; else the one that `append` adds.
  template <class Id, class IsSame, class Append>
  static Id found(HashIndex& index, std::uint64_t key, IsSame is_same, Append append) {
    const std::uint32_t known = index.find(key, [&](std::uint32_t row) { return is_same(Id{row}); });
    if (known != HashIndex::kAbsent) return Id{known};
    const Id added = append();
    index.insert(key, static_cast<std::uint32_t>(added));
    return added;
  }

  SharedDictionary& to_;
  Dictionary& d_;
};

SharedDictionary::SharedDictionary() : dictionary_(std::make_shared<Dictionary>()) {
  stacks_.insert(keyed_hash(dictionary_->stacks.hash[0]), 0);
}

std::uint32_t SharedDictionary::find_stack(const Hash128& hash) const {
  return stacks_.find(keyed_hash(hash), [&](std::uint32_t row) { return dictionary_->stacks.hash[row] == hash; });
}

void SharedDictionary::take(Snapshot& snapshot) {
  if (!is_alone(snapshot)) return;
  const Dictionary& d = *snapshot.dictionary;
  move(snapshot, {std::vector<std::uint32_t>(d.stacks.size(), HashIndex::kAbsent),
                  std::vector<std::uint32_t>(d.frames.size(), HashIndex::kAbsent)});
}

void SharedDictionary::adopt(Snapshot& snapshot) {
  if (!is_alone(snapshot) || snapshot.dictionary.use_count() != 1) return;
  // Only this object has it: it may still grow.
  dictionary_ = std::const_pointer_cast<Dictionary>(snapshot.dictionary);
  const Dictionary& d = *dictionary_;
  const auto add_all = [](HashIndex& index, std::size_t first, std::size_t rows, auto key) {
    index.reserve(rows);
    for (std::size_t row = first; row < rows; ++row) index.insert(key(row), static_cast<std::uint32_t>(row));
  };
  add_all(strings_, 1, d.strings.size(),
          [&](std::size_t row) { return keyed_hash(d.strings[StringId{static_cast<std::uint32_t>(row)}]); });
  add_all(modules_, 1, d.modules.size(),
          [&](std::size_t row) { return key_of(d.modules.name[row], d.modules.build_id[row]); });
  add_all(functions_, 1, d.functions.size(), [&](std::size_t row) {
    return key_of(d.functions.name[row], d.functions.system_name[row], d.functions.file[row]);
  });
  add_all(frames_, 0, d.frames.size(), [&](std::size_t row) { return keyed_hash(d.frames.hash[row]); });
  add_all(label_sets_, 1, d.labels.size(),
          [&](std::size_t row) { return key_of_labels(d.labels.labels(LabelSetId{static_cast<std::uint32_t>(row)})); });
  const std::vector<Hash128>& stacks = d.stacks.hash;
  stacks_ = {};
  stacks_.add_all(
      stacks.size(), [&](std::uint32_t row) { return keyed_hash(stacks[row]); },
      [&](std::uint32_t a, std::uint32_t b) { return stacks[a] == stacks[b]; });
}

std::optional<SharedDictionary::Known> SharedDictionary::know_most(const Dictionary& other) const {
  const Dictionary& d = *dictionary_;
  Known known;
  resize_on_all_cores(known.frames, other.frames.size(), HashIndex::kAbsent);
  std::atomic<bool> differ = false;
  for_each_block(other.frames.size(), [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t f = begin; f < end && !differ; ++f) {
      const Hash128& hash = other.frames.hash[f];
      const std::uint32_t here =
          frames_.find(keyed_hash(hash), [&](std::uint32_t row) { return d.frames.hash[row] == hash; });
      if (here == HashIndex::kAbsent) continue;
      if (!same_frame(d, FrameId{here}, other, FrameId{static_cast<std::uint32_t>(f)})) differ = true;
      if (d.frames.offset[here] == other.frames.offset[f] && d.frames.flags[here] == other.frames.flags[f])
        known.frames[f] = here;
    }
  });
  if (differ) return std::nullopt;
  constexpr std::size_t kAhead = 16;
  const std::vector<Hash128>& hash = other.stacks.hash;
  resize_on_all_cores(known.stacks, hash.size());
  std::atomic<std::size_t> count = 0;
  for_each_block(hash.size(), [&](std::size_t, std::size_t begin, std::size_t end) {
    std::size_t own = 0;
    for (std::size_t s = begin; s < end; ++s) {
      if (s + kAhead < end) stacks_.prefetch(keyed_hash(hash[s + kAhead]));
      known.stacks[s] = find_stack(hash[s]);
      own += known.stacks[s] != HashIndex::kAbsent ? 1U : 0U;
    }
    count += own;
  });
  // Missing entries are copied: with fewer known ones the copy costs more than sharing saves.
  if (2 * count.load() < hash.size()) return std::nullopt;
  return known;
}

void SharedDictionary::take_if_alike(Snapshot& snapshot) {
  if (!is_alone(snapshot)) return;
  std::optional<Known> known = know_most(*snapshot.dictionary);
  if (!known) return give_frames_back(snapshot);
  const StackTable& from = snapshot.dictionary->stacks;
  std::size_t frames = 0, stacks = 0;
  for (std::size_t s = 0; s < known->stacks.size(); ++s) {
    if (known->stacks[s] != HashIndex::kAbsent) continue;
    frames += from.begin[s + 1] - from.begin[s];
    ++stacks;
  }
  // Exactly: the frames of a million stacks need not be there twice.
  StackTable& to = dictionary_->stacks;
  to.frame.reserve(to.frame.size() + frames);
  to.begin.reserve(to.begin.size() + stacks);
  to.hash.reserve(to.hash.size() + stacks);
  move(snapshot, *std::move(known));
}

/// Its own frames, by the hashes of those here.
void SharedDictionary::give_frames_back(Snapshot& snapshot) const {
  const StackTable& before = snapshot.dictionary->stacks;
  const auto is_left_out = [&](std::size_t s) { return s > 0 && before.begin[s] == before.begin[s + 1]; };
  std::size_t s = 0;
  while (s < before.size() && !is_left_out(s)) ++s;
  if (s == before.size()) return;
  auto own = std::make_shared<Dictionary>(*snapshot.dictionary);
  HashIndex frames;
  const std::vector<Hash128>& hash = own->frames.hash;
  for (std::uint32_t row = 0; row < hash.size(); ++row) frames.insert(keyed_hash(hash[row]), row);
  StackTable& after = own->stacks;
  after.frame.clear();
  for (s = 0; s < before.size(); ++s) {
    const std::uint32_t here = is_left_out(s) ? find_stack(before.hash[s]) : HashIndex::kAbsent;
    if (here == HashIndex::kAbsent) {
      const auto kept = before.frames(StackId{static_cast<std::uint32_t>(s)});
      after.frame.insert(after.frame.end(), kept.begin(), kept.end());
    } else {
      for (const FrameId frame : dictionary_->stacks.frames(StackId{here})) {
        const Hash128& wanted = dictionary_->frames.hash[index_of(frame)];
        const std::uint32_t row =
            frames.find(keyed_hash(wanted), [&](std::uint32_t other) { return hash[other] == wanted; });
        if (row != HashIndex::kAbsent) after.frame.push_back(FrameId{row});
      }
    }
    after.begin[s + 1] = after.frame.size();
  }
  snapshot.dictionary = std::move(own);
}

void SharedDictionary::move(Snapshot& snapshot, Known known) {
  Rows rows(*this);
  DictionaryMover<Rows> mover(*snapshot.dictionary, rows, std::move(known.frames));
  SampleTable& samples = snapshot.samples;
  const auto list_lacking = [&](std::size_t begin, std::size_t end, std::vector<StackId>& out) {
    for (std::size_t row = begin; row < end; ++row) {
      if (known.stacks[index_of(samples.stack[row])] == HashIndex::kAbsent) out.push_back(samples.stack[row]);
    }
  };
  for (const StackId stack : listed_in_blocks<StackId>(samples.size(), list_lacking)) {
    std::uint32_t& here = known.stacks[index_of(stack)];
    if (here == HashIndex::kAbsent) here = rows.stack(stack, snapshot.dictionary->stacks, mover);
  }
  for_each_block(samples.size(), [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row)
      samples.stack[row] = StackId{known.stacks[index_of(samples.stack[row])]};
  });
  if (snapshot.dictionary->labels.size() > 1) {
    for (LabelSetId& labels : samples.labels) labels = mover.labels(labels);
  }
  for (Mapping& mapping : snapshot.mappings) mapping.module = mover.module(mapping.module);
  // Rows are sorted by number, and the numbers are others now.
  sort_rows(samples, dictionary_->stacks.size());
  snapshot.dictionary = dictionary_;
}

}  // namespace snapdiff::session
