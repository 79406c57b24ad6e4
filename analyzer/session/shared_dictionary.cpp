#include "analyzer/session/shared_dictionary.hpp"

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <utility>

#include "snapdiff/dictionary_mover.hpp"

namespace snapdiff::session {
namespace {

template <class... Values>
std::string key_of(const Values&... values) {
  std::string key;
  (key.append(reinterpret_cast<const char*>(&values), sizeof values), ...);
  return key;
}

template <class T>
void reorder(std::vector<T>& values, const std::vector<std::uint32_t>& order) {
  if (values.empty()) return;
  std::vector<T> out;
  out.reserve(values.size());
  for (const std::uint32_t row : order) out.push_back(values[row]);
  values = std::move(out);
}

}  // namespace

/// Adds rows that are not there yet, by all that they say.
class SharedDictionary::Rows {
 public:
  explicit Rows(SharedDictionary& to) : to_(to), dictionary_(*to.dictionary_) {}

  StringId string(std::string_view text) {
    const auto [at, is_new] = to_.strings_.try_emplace(std::string(text), StringId{});
    if (is_new && !text.empty()) at->second = dictionary_.strings.append(text);
    return at->second;
  }
  ModuleId module(StringId name, StringId build_id) {
    return found(to_.modules_, key_of(name, build_id), [&] { return dictionary_.modules.append(name, build_id); });
  }
  FunctionId function(StringId name, StringId system_name, StringId file, std::int32_t start_line) {
    return found(to_.functions_, key_of(name, system_name, file),
                 [&] { return dictionary_.functions.append(name, system_name, file, start_line); });
  }
  FrameId frame(const FrameSpec& f, const Hash128& hash) {
    return found(to_.frames_, key_of(hash, f.module, f.function, f.offset, f.line, f.column, f.flags),
                 [&] { return dictionary_.frames.append(f, hash); });
  }
  LabelSetId labels(const std::vector<Label>& set) {
    std::string key;
    for (const Label& label : set) key += key_of(label.key, label.text, label.number, label.unit, label.is_number);
    return found(to_.label_sets_, std::move(key), [&] { return dictionary_.labels.append(set); });
  }
  StackId stack(StackId id, const StackTable& from, DictionaryMover<Rows>& mover) {
    StackTable& stacks = dictionary_.stacks;
    const Hash128& hash = from.hash[index_of(id)];
    const auto [at, is_new] = to_.stacks_.try_emplace(hash, static_cast<StackId>(stacks.size()));
    if (is_new) {
      for (const FrameId frame : from.frames(id)) stacks.frame.push_back(mover.frame(frame));
      stacks.begin.push_back(stacks.frame.size());
      stacks.hash.push_back(hash);
    }
    return at->second;
  }

 private:
  /// The number under `key`; a new key gets the one that `append` gives.
  template <class Append, class Id = std::invoke_result_t<Append>>
  static Id found(Numbers& numbers, std::string key, Append append) {
    const auto [at, is_new] = numbers.try_emplace(std::move(key), 0U);
    if (is_new) at->second = static_cast<std::uint32_t>(append());
    return Id{at->second};
  }

  SharedDictionary& to_;
  Dictionary& dictionary_;
};

void SharedDictionary::take(Snapshot& snapshot) {
  if (snapshot.allocator != nullptr || snapshot.graph != nullptr || snapshot.dictionary == nullptr) return;
  if (stacks_.empty()) stacks_.emplace(dictionary_->stacks.hash[0], StackId{});
  Rows rows(*this);
  DictionaryMover<Rows> mover(*snapshot.dictionary, rows);
  SampleTable& samples = snapshot.samples;
  for (StackId& stack : samples.stack) stack = rows.stack(stack, snapshot.dictionary->stacks, mover);
  for (LabelSetId& labels : samples.labels) labels = mover.labels(labels);
  for (Mapping& mapping : snapshot.mappings) mapping.module = mover.module(mapping.module);
  std::vector<std::uint32_t> order(samples.size());
  std::iota(order.begin(), order.end(), 0U);
  // Rows are sorted by number, and the numbers are others now.
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(samples.stack[a], samples.labels[a]) < std::pair(samples.stack[b], samples.labels[b]);
  });
  reorder(samples.stack, order);
  reorder(samples.labels, order);
  for (Column& column : samples.columns) {
    reorder(column.value, order);
    reorder(column.known, order);
  }
  snapshot.dictionary = dictionary_;
}

}  // namespace snapdiff::session
