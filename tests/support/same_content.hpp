#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "snapdiff/snapshot.hpp"

/// Compares two models by what they say, whatever ids they use: frames and stacks by hash, label
/// sets by text, rows in the order of those.
namespace snapdiff::test {

namespace detail {

inline std::string text_of(const Dictionary& d, std::span<const Label> labels) {
  std::string text;
  for (const Label& label : labels) {
    text += std::string(d.strings[label.key]) + (label.is_number ? "#" : "=") + std::string(d.strings[label.text]) +
            std::to_string(label.number) + std::string(d.strings[label.unit]) + '\n';
  }
  return text;
}

/// Everything that a frame says, its hash included.
inline std::string text_of(const Dictionary& d, FrameId id) {
  const std::size_t f = index_of(id);
  const std::size_t m = index_of(d.frames.module[f]);
  const std::size_t fn = index_of(d.frames.function[f]);
  std::string text;
  for (const StringId part : {d.modules.name[m], d.modules.build_id[m], d.functions.name[fn],
                              d.functions.system_name[fn], d.functions.file[fn]})
    text += std::string(d.strings[part]) + '|';
  for (const std::uint64_t part :
       {d.frames.offset[f], static_cast<std::uint64_t>(d.frames.line[f]),
        static_cast<std::uint64_t>(d.frames.column[f]), static_cast<std::uint64_t>(d.frames.flags[f]),
        static_cast<std::uint64_t>(d.functions.start_line[fn]), d.frames.hash[f].high, d.frames.hash[f].low})
    text += std::to_string(part) + '|';
  return text;
}

struct RowKey {
  Hash128 stack;
  std::string labels;
  std::size_t row = 0;
  friend bool operator<(const RowKey& a, const RowKey& b) {
    return std::tie(a.stack, a.labels) < std::tie(b.stack, b.labels);
  }
};

inline std::vector<RowKey> sorted_rows(const Snapshot& s) {
  std::vector<RowKey> rows;
  for (std::size_t row = 0; row < s.samples.size(); ++row)
    rows.push_back({s.dictionary->stacks.hash[index_of(s.samples.stack[row])],
                    text_of(*s.dictionary, s.dictionary->labels.labels(s.samples.labels[row])), row});
  std::sort(rows.begin(), rows.end());
  return rows;
}

/// `same[frame of a]` is the frame of b that was found to say the same.
inline std::string difference_of_stacks(const Snapshot& a, StackId in_a, const Snapshot& b, StackId in_b,
                                        std::vector<FrameId>& same) {
  const auto frames_a = a.dictionary->stacks.frames(in_a);
  const auto frames_b = b.dictionary->stacks.frames(in_b);
  if (frames_a.size() != frames_b.size()) return "depth of a stack";
  for (std::size_t i = 0; i < frames_a.size(); ++i) {
    FrameId& known = same[index_of(frames_a[i])];
    if (known == frames_b[i]) continue;
    const std::string said_a = text_of(*a.dictionary, frames_a[i]);
    const std::string said_b = text_of(*b.dictionary, frames_b[i]);
    if (said_a != said_b) return "frame " + said_a + " against " + said_b;
    known = frames_b[i];
  }
  return {};
}

inline std::string difference_of_mappings(const Snapshot& a, const Snapshot& b) {
  if (a.mappings.size() != b.mappings.size()) return "number of mappings";
  for (std::size_t i = 0; i < a.mappings.size(); ++i) {
    const Mapping& x = a.mappings[i];
    const Mapping& y = b.mappings[i];
    const auto name = [](const Snapshot& s, ModuleId m) {
      return std::string(s.dictionary->strings[s.dictionary->modules.name[index_of(m)]]) + '|' +
             std::string(s.dictionary->strings[s.dictionary->modules.build_id[index_of(m)]]);
    };
    if (std::tie(x.start, x.limit, x.offset) != std::tie(y.start, y.limit, y.offset) ||
        name(a, x.module) != name(b, y.module))
      return "mapping " + std::to_string(i);
  }
  return {};
}

}  // namespace detail

/// "" when both say the same, else the first difference. With `frames_too` every frame of every
/// stack in use is compared in all it says, not by its hash alone.
inline std::string difference(const Snapshot& a, const Snapshot& b, bool frames_too = true) {
  if (!(a.facts == b.facts)) return "facts";
  if (a.samples.columns.size() != b.samples.columns.size()) return "number of columns";
  for (std::size_t c = 0; c < a.samples.columns.size(); ++c) {
    if (!(a.samples.columns[c].type == b.samples.columns[c].type)) return "type of column " + std::to_string(c);
    if (a.samples.columns[c].half_unit != b.samples.columns[c].half_unit)
      return "half unit of column " + std::to_string(c);
  }
  if (a.samples.size() != b.samples.size())
    return "rows: " + std::to_string(a.samples.size()) + " against " + std::to_string(b.samples.size());
  const auto rows_a = detail::sorted_rows(a);
  const auto rows_b = detail::sorted_rows(b);
  std::vector<FrameId> same(a.dictionary->frames.size(), FrameId{0xffffffffU});
  for (std::size_t i = 0; i < rows_a.size(); ++i) {
    const detail::RowKey& x = rows_a[i];
    const detail::RowKey& y = rows_b[i];
    if (!(x.stack == y.stack)) return "stack of row " + std::to_string(i);
    if (x.labels != y.labels) return "labels of row " + std::to_string(i) + ": " + x.labels + " against " + y.labels;
    for (std::size_t c = 0; c < a.samples.columns.size(); ++c) {
      const Column& in_a = a.samples.columns[c];
      const Column& in_b = b.samples.columns[c];
      if (in_a.is_known(x.row) != in_b.is_known(y.row)) return "known flag of row " + std::to_string(i);
      if (in_a.value[x.row] != in_b.value[y.row])
        return in_a.type.name + " of row " + std::to_string(i) + ": " + std::to_string(in_a.value[x.row]) +
               " against " + std::to_string(in_b.value[y.row]);
    }
    if (!frames_too) continue;
    if (auto what = detail::difference_of_stacks(a, a.samples.stack[x.row], b, b.samples.stack[y.row], same);
        !what.empty())
      return what;
  }
  return detail::difference_of_mappings(a, b);
}

}  // namespace snapdiff::test
