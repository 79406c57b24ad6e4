#include <map>
#include <string>
#include <utility>

#include "analyzer/cuda/cuda.hpp"

namespace snapdiff::cuda {
namespace {

/// The text of a label in a row's set; "" where it has none.
std::string label_text(const Dictionary& d, LabelSetId set, std::string_view key) {
  for (const Label& label : d.labels.labels(set)) {
    if (d.strings[label.key] == key) return std::string(d.strings[label.text]);
  }
  return {};
}

/// Some rows of a snapshot, with its facts.
Snapshot part_of(const Snapshot& snapshot, const std::vector<std::size_t>& rows) {
  Snapshot part;
  part.dictionary = snapshot.dictionary;
  part.mappings = snapshot.mappings;
  part.facts = snapshot.facts;
  for (const Column& column : snapshot.samples.columns) {
    Column values = column;
    values.value.clear();
    values.known.clear();
    for (const std::size_t row : rows) values.value.push_back(column.value[row]);
    for (const std::size_t row : rows) {
      if (!column.known.empty()) values.known.push_back(column.known[row]);
    }
    part.samples.columns.push_back(std::move(values));
  }
  for (const std::size_t row : rows) {
    part.samples.stack.push_back(snapshot.samples.stack[row]);
    part.samples.labels.push_back(snapshot.samples.labels[row]);
  }
  return part;
}

}  // namespace

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
  for (const auto& [key, own] : rows) {
    const std::string& device = key.second;
    Snapshot part = part_of(snapshot, own);
    part.facts.labels["device"] = device;
    part.facts.counters.clear();
    const std::string prefix = device == "host" ? "host." : "device" + device + ".";
    for (const Counter& counter : snapshot.facts.counters) {
      if (!counter.name.starts_with(prefix)) continue;
      part.facts.counters.push_back(counter);
      part.facts.counters.back().name.erase(0, prefix.size());
    }
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
  for (const auto& [role, own] : rows) out.emplace(role, part_of(snapshot, own));
  return out;
}

}  // namespace snapdiff::cuda
