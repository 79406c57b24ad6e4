#include <map>
#include <string>
#include <utility>

#include "analyzer/cuda/cuda.hpp"

namespace snapdiff::cuda {
namespace {

/// The device of a row's label set; "" where it has none.
std::string device_of(const Dictionary& d, LabelSetId set) {
  for (const Label& label : d.labels.labels(set)) {
    if (d.strings[label.key] == "device") return std::string(d.strings[label.text]);
  }
  return {};
}

}  // namespace

std::vector<Snapshot> by_device(const Snapshot& snapshot) {
  const Dictionary& d = *snapshot.dictionary;
  std::map<LabelSetId, std::string> names;
  // Numbers in their order: "10" after "9"; "host" behind them.
  std::map<std::pair<std::size_t, std::string>, std::vector<std::size_t>> rows;
  for (std::size_t row = 0; row < snapshot.samples.size(); ++row) {
    const LabelSetId set = snapshot.samples.labels[row];
    const auto [at, is_new] = names.try_emplace(set);
    if (is_new) at->second = device_of(d, set);
    rows[{at->second == "host" ? ~std::size_t{0} : at->second.size(), at->second}].push_back(row);
  }
  std::vector<Snapshot> out;
  if (rows.empty() || (rows.size() == 1 && rows.begin()->first.second.empty())) {
    out.push_back(snapshot);
    return out;
  }
  for (const auto& [key, own] : rows) {
    const std::string& device = key.second;
    Snapshot part;
    part.dictionary = snapshot.dictionary;
    part.mappings = snapshot.mappings;
    part.facts = snapshot.facts;
    part.facts.labels["device"] = device;
    part.facts.counters.clear();
    const std::string prefix = device == "host" ? "host." : "device" + device + ".";
    for (const Counter& counter : snapshot.facts.counters) {
      if (!counter.name.starts_with(prefix)) continue;
      part.facts.counters.push_back(counter);
      part.facts.counters.back().name.erase(0, prefix.size());
    }
    for (const Column& column : snapshot.samples.columns) {
      Column values = column;
      values.value.clear();
      values.known.clear();
      for (const std::size_t row : own) values.value.push_back(column.value[row]);
      for (const std::size_t row : own) {
        if (!column.known.empty()) values.known.push_back(column.known[row]);
      }
      part.samples.columns.push_back(std::move(values));
    }
    for (const std::size_t row : own) {
      part.samples.stack.push_back(snapshot.samples.stack[row]);
      part.samples.labels.push_back(snapshot.samples.labels[row]);
    }
    out.push_back(std::move(part));
  }
  return out;
}

}  // namespace snapdiff::cuda
