#include "analyzer/cuda/label_rows.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/cuda/cuda.hpp"

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

/// The text of a label in a row's set; "" where it has none.
std::string label_text(const Dictionary& d, LabelSetId set, std::string_view key) {
  for (const Label& label : d.labels.labels(set)) {
    if (d.strings[label.key] == key) return std::string(d.strings[label.text]);
  }
  return {};
}

/// Some rows of a snapshot, without facts.
Snapshot part_of(const Snapshot& snapshot, const std::vector<std::size_t>& rows) {
  Snapshot part;
  part.dictionary = snapshot.dictionary;
  part.mappings = snapshot.mappings;
  for (const Column& column : snapshot.samples.columns) {
    Column& values = part.samples.columns.emplace_back();
    values.type = column.type;
    for (const std::size_t row : rows) values.value.push_back(column.value[row]);
    for (const std::size_t row : rows) {
      if (!column.known.empty()) values.known.push_back(column.known[row]);
    }
  }
  for (const std::size_t row : rows) {
    part.samples.stack.push_back(snapshot.samples.stack[row]);
    part.samples.labels.push_back(snapshot.samples.labels[row]);
  }
  return part;
}

/// Counters by name, to find those with a prefix.
class CountersByName {
 public:
  explicit CountersByName(const std::vector<Counter>& counters) : counters_(counters), order_(counters.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) { return name(a) < name(b); });
  }

  /// In their own order, with names without it.
  std::vector<Counter> after(std::string_view prefix) const {
    auto at = std::lower_bound(order_.begin(), order_.end(), prefix,
                               [&](std::size_t a, std::string_view text) { return name(a) < text; });
    std::vector<std::size_t> found;
    for (; at != order_.end() && name(*at).starts_with(prefix); ++at) found.push_back(*at);
    std::sort(found.begin(), found.end());
    std::vector<Counter> out;
    for (const std::size_t counter : found) {
      out.push_back(counters_[counter]);
      out.back().name.erase(0, prefix.size());
    }
    return out;
  }

 private:
  std::string_view name(std::size_t counter) const { return counters_[counter].name; }

  const std::vector<Counter>& counters_;
  std::vector<std::size_t> order_;
};

}  // namespace

bool has_label(const Snapshot& snapshot, std::string_view key) {
  return snapshot.samples.size() > 0 && !label_text(*snapshot.dictionary, snapshot.samples.labels.front(), key).empty();
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

std::vector<Snapshot> by_device(const Snapshot& snapshot) {
  const Dictionary& d = *snapshot.dictionary;
  std::map<LabelSetId, std::string> names;
  // Numbers in their order: "10" after "9"; "host" after them.
  std::map<std::pair<std::size_t, std::string>, std::vector<std::size_t>> rows;
  for (std::size_t row = 0; row < snapshot.samples.size(); ++row) {
    const LabelSetId set = snapshot.samples.labels[row];
    const auto [at, is_new] = names.try_emplace(set);
    if (is_new) at->second = label_text(d, set, "device");
    rows[{at->second == "host" ? ~std::size_t{0} : at->second.size(), at->second}].push_back(row);
  }
  std::vector<Snapshot> out;
  if (rows.empty() || (rows.size() == 1 && rows.begin()->first.second.empty())) {
    out.push_back(snapshot);
    return out;
  }
  const CountersByName counters(snapshot.facts.counters);
  SnapshotFacts facts = snapshot.facts;
  facts.counters.clear();
  for (const auto& [key, own] : rows) {
    const std::string& device = key.second;
    Snapshot part = part_of(snapshot, own);
    part.facts = facts;
    part.facts.labels["device"] = device;
    part.facts.counters = counters.after(device == "host" ? "host." : "device" + device + ".");
    out.push_back(std::move(part));
  }
  return out;
}

std::map<Role, Snapshot> by_role(const Snapshot& snapshot) {
  std::map<Role, std::vector<std::size_t>> rows;
  for (std::size_t row = 0; row < snapshot.samples.size(); ++row) {
    const std::string role = label_text(*snapshot.dictionary, snapshot.samples.labels[row], kRoleLabel);
    if (role.empty()) return {};
    rows[static_cast<Role>(role_number(role))].push_back(row);
  }
  std::map<Role, Snapshot> out;
  for (const auto& [role, own] : rows) out.emplace(role, part_of(snapshot, own)).first->second.facts = snapshot.facts;
  return out;
}

}  // namespace snapdiff::cuda
