#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/base/snapshot_builder.hpp"
#include "snapdiff/growth.hpp"

/// Snapshots from readable text, for tests. One row per line, root first as in folded stacks:
///
///     main;parse@parse.cc:12;alloc@alloc.cc:7 4096 2
///     main;libfoo.so+0x1f0 64 1
///     [unattributed] 17 3
///     main;cache {thread=7 type=int} 100 1
///
/// A frame: function[@file[:line]][#module][~]  '~' marks it inlined
///          module+0xoffset                     unsymbolized ("+0x12": no module)
///          [text]                              a pseudo frame
/// The numbers are the values of the columns; the last columns may be left out and then are 0,
/// '?' is an unknown value. A line without frames ("4096 2") has an empty stack. Blank lines and lines
/// that start with "//" are skipped. Broken text throws std::invalid_argument.
namespace snapdiff::test {

struct TextOptions {
  /// Name and unit; the unit is "count" for `live` and names that end in "objects" or "count", else bytes.
  std::vector<std::string> columns{"inuse_space", "inuse_objects"};
  std::map<std::string, std::string> build_ids;  ///< by module name
  Sampling sampling = Sampling::exact;
  std::int64_t period = 1;
  std::vector<std::pair<std::string, Mapping>> mappings;  ///< module name; Mapping::module is filled in
  SnapshotFacts facts;                                    ///< sampling and period are overwritten
};

namespace text_detail {

[[noreturn]] inline void broken(std::string what, std::string_view text) {
  throw std::invalid_argument(what.append(text));
}

inline std::uint64_t number(std::string_view text, int base) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) {
    broken("no number: ", text);
  }
  return value;
}

inline std::int64_t signed_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    broken("no number: ", text);
  }
  return value;
}

inline bool is_value(std::string_view token) {
  return token == "?" || (!token.empty() && token.find_first_not_of("-0123456789") == std::string_view::npos);
}

inline FrameId frame(SnapshotBuilder& builder, std::string_view text, const TextOptions& options) {
  if (text.size() > 1 && text.front() == '[' && text.back() == ']') return builder.pseudo_frame(text);
  const auto module = [&](std::string_view name) {
    const auto id = options.build_ids.find(std::string(name));
    return builder.module(name, id == options.build_ids.end() ? std::string_view() : std::string_view(id->second));
  };
  SnapshotBuilder::FrameSpec spec;
  if (text.ends_with('~')) {
    spec.flags |= kFrameInlined;
    text.remove_suffix(1);
  }
  // "{lambda()#1}" names no module.
  if (const std::size_t hash = text.rfind('#');
      hash != std::string_view::npos && text.find('}', hash) == std::string_view::npos) {
    spec.module = module(text.substr(hash + 1));
    text = text.substr(0, hash);
  }
  if (const std::size_t plus = text.rfind("+0x"); plus != std::string_view::npos) {
    spec.module = module(text.substr(0, plus));
    spec.offset = number(text.substr(plus + 3), 16);
    return builder.frame(spec);
  }
  std::string_view file;
  if (const std::size_t at = text.rfind('@'); at != std::string_view::npos) {
    file = text.substr(at + 1);
    text = text.substr(0, at);
    if (const std::size_t colon = file.rfind(':'); colon != std::string_view::npos) {
      spec.line = static_cast<std::int32_t>(number(file.substr(colon + 1), 10));
      file = file.substr(0, colon);
    }
  }
  spec.function = builder.function(builder.string(text), builder.string(text), builder.string(file), 0);
  return builder.frame(spec);
}

inline LabelSetId labels(SnapshotBuilder& builder, std::string_view text) {
  std::vector<Label> set;
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    const std::string_view one = text.substr(0, space);
    text = space == std::string_view::npos ? std::string_view() : text.substr(space + 1);
    const std::size_t equals = one.find('=');
    if (equals == std::string_view::npos) broken("no label: ", one);
    Label label;
    label.key = builder.string(one.substr(0, equals));
    const std::string_view value = one.substr(equals + 1);
    label.is_number = is_value(value) && value != "?";
    if (label.is_number) {
      label.number = signed_number(value);
    } else {
      label.text = builder.string(value);
    }
    set.push_back(label);
  }
  return builder.labels(std::move(set));
}

}  // namespace text_detail

inline Snapshot snapshot(std::string_view text, const TextOptions& options = {}) {
  using namespace text_detail;
  SnapshotBuilder builder;
  builder.facts() = options.facts;
  builder.facts().sampling = options.sampling;
  builder.facts().period = options.period;
  for (const std::string& name : options.columns) {
    const bool count = name.ends_with("objects") || name.ends_with("count") || name == "live";
    builder.add_column({name, count ? "count" : name == "cpu" ? "nanoseconds" : "bytes"});
  }
  const std::size_t columns = options.columns.size();
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    while (line.starts_with(' ')) line.remove_prefix(1);
    while (line.ends_with(' ')) line.remove_suffix(1);
    if (line.empty() || line.starts_with("//")) continue;

    std::vector<std::int64_t> values;
    std::vector<std::uint8_t> known;
    while (!line.empty()) {
      const std::size_t space = line.rfind(' ');
      const std::string_view token = space == std::string_view::npos ? line : line.substr(space + 1);
      if (!is_value(token)) break;
      known.insert(known.begin(), token != "?");
      values.insert(values.begin(), token == "?" ? 0 : signed_number(token));
      line = space == std::string_view::npos ? std::string_view() : line.substr(0, space);
      while (line.ends_with(' ')) line.remove_suffix(1);
    }
    if (values.empty() || values.size() > columns) broken("wrong number of values: ", line);
    values.resize(columns, 0);
    known.resize(columns, 1);

    LabelSetId label_set{};
    if (line.ends_with('}')) {
      const std::size_t open = line.rfind(" {");
      if (open != std::string_view::npos) {
        label_set = labels(builder, line.substr(open + 2, line.size() - open - 3));
        line = line.substr(0, open);
      }
    }
    std::vector<FrameId> frames;
    while (!line.empty()) {
      const std::size_t semicolon = line.find(';');
      frames.push_back(frame(builder, line.substr(0, semicolon), options));
      line = semicolon == std::string_view::npos ? std::string_view() : line.substr(semicolon + 1);
    }
    std::reverse(frames.begin(), frames.end());
    builder.add_row(builder.stack(frames), label_set, values, known);
  }
  for (const auto& [name, mapping] : options.mappings) {
    Mapping copy = mapping;
    const auto id = options.build_ids.find(name);
    copy.module =
        builder.module(name, id == options.build_ids.end() ? std::string_view() : std::string_view(id->second));
    builder.add_mapping(copy);
  }
  Result<Snapshot> built = builder.finish();
  if (!built) throw std::invalid_argument(built.error().text());
  return std::move(built).value();
}

/// The same, as the analyzers take it.
inline SnapshotRef snapshot_ref(std::string_view text, const TextOptions& options = {}, std::string name = {}) {
  SnapshotRef ref;
  ref.snapshot = std::make_shared<Snapshot>(snapshot(text, options));
  ref.ref = std::move(name);
  return ref;
}

/// One frame as above, without '~': "alloc@alloc.cc:7#svc".
inline std::string frame_text(const FrameView& frame) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text(frame.function);
  if (text.empty()) {
    text = std::string(base_name(frame.module)) + "+0x";
    std::string digits;
    for (std::uint64_t rest = frame.offset; rest != 0 || digits.empty(); rest /= 16)
      digits.insert(digits.begin(), kDigits[rest % 16]);
    return text + digits;
  }
  if (!frame.file.empty()) text.append("@").append(frame.file);
  if (frame.line != 0) text.append(":").append(std::to_string(frame.line));
  return text;
}

/// A stack root first: "main;parse@parse.cc:12".
inline std::string stack_text(const std::vector<FrameView>& leaf_first) {
  std::string text;
  for (std::size_t i = leaf_first.size(); i-- > 0;)
    text.append(text.empty() ? "" : ";").append(frame_text(leaf_first[i]));
  return text;
}

/// Text of a row's key, however it is grouped.
inline std::string key_of(const GrowthReport& report, const GrowthRow& row) {
  if (report.options.by != GroupBy::stack) return report.keys[row.key];
  std::vector<FrameView> frames;
  report.frames(row, frames);
  return stack_text(frames);
}

}  // namespace snapdiff::test
