#include "analyzer/cuda/label_rows.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace snapdiff::cuda {
namespace {

/// `set` and one more label, in order of their keys.
std::vector<Label> with_one_more(const Dictionary& d, LabelSetId set, const Label& label) {
  const auto old = d.labels.labels(set);
  std::vector<Label> out(old.begin(), old.end());
  const std::string_view key = d.strings[label.key];
  out.insert(std::find_if(out.begin(), out.end(), [&](const Label& other) { return d.strings[other.key] > key; }),
             label);
  return out;
}

}  // namespace

bool has_label(const Snapshot& snapshot, std::string_view key) {
  if (snapshot.samples.size() == 0) return false;
  const Dictionary& d = *snapshot.dictionary;
  const auto labels = d.labels.labels(snapshot.samples.labels[0]);
  return std::any_of(labels.begin(), labels.end(), [&](const Label& label) { return d.strings[label.key] == key; });
}

Snapshot with_label(const Snapshot& snapshot, std::string_view key,
                    const std::function<std::string(StackId)>& text_of) {
  const auto dictionary = std::make_shared<Dictionary>(*snapshot.dictionary);
  Snapshot out = snapshot;
  out.dictionary = dictionary;
  std::unordered_map<StackId, std::string> texts;
  // Numbers of new sets go up with those of the old ones, so that the rows of a stack stay in their order.
  std::map<std::pair<LabelSetId, std::string>, LabelSetId> sets;
  for (std::size_t row = 0; row < out.samples.size(); ++row) {
    const auto [text, is_new] = texts.try_emplace(out.samples.stack[row]);
    if (is_new) text->second = text_of(out.samples.stack[row]);
    sets.try_emplace({out.samples.labels[row], text->second});
  }
  Label label;
  label.key = dictionary->strings.append(key);
  std::unordered_map<std::string, StringId> strings;
  for (auto& [old, set] : sets) {
    const auto [string, is_new] = strings.try_emplace(old.second);
    if (is_new) string->second = dictionary->strings.append(old.second);
    label.text = string->second;
    const std::vector<Label> labels = with_one_more(*dictionary, old.first, label);
    set = dictionary->labels.append(labels);
  }
  for (std::size_t row = 0; row < out.samples.size(); ++row)
    out.samples.labels[row] = sets.at({out.samples.labels[row], texts[out.samples.stack[row]]});
  return out;
}

}  // namespace snapdiff::cuda
