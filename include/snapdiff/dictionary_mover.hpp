#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "snapdiff/snapshot_builder.hpp"

namespace snapdiff {

/// One more row, whatever the table holds already; returns its number.
inline ModuleId append(ModuleTable& table, StringId name, StringId build_id) {
  table.name.push_back(name);
  table.build_id.push_back(build_id);
  return ModuleId{static_cast<std::uint32_t>(table.size() - 1)};
}
inline FunctionId append(FunctionTable& table, StringId name, StringId system_name, StringId file,
                         std::int32_t start_line) {
  table.name.push_back(name);
  table.system_name.push_back(system_name);
  table.file.push_back(file);
  table.start_line.push_back(start_line);
  return FunctionId{static_cast<std::uint32_t>(table.size() - 1)};
}
inline FrameId append(FrameTable& table, const SnapshotBuilder::FrameSpec& spec, const Hash128& hash) {
  table.module.push_back(spec.module);
  table.offset.push_back(spec.offset);
  table.function.push_back(spec.function);
  table.line.push_back(spec.line);
  table.column.push_back(spec.column);
  table.flags.push_back(spec.flags);
  table.hash.push_back(hash);
  return FrameId{static_cast<std::uint32_t>(table.size() - 1)};
}
inline LabelSetId append(LabelTable& table, std::span<const Label> set) {
  table.label.insert(table.label.end(), set.begin(), set.end());
  table.begin.push_back(table.label.size());
  return LabelSetId{static_cast<std::uint32_t>(table.size() - 1)};
}

/// Moves rows of one dictionary to another: each is handed to `to` once, after what it refers to, and its number there
/// is remembered. Rows 0 are those of all dictionaries. `Target` says what becomes of a row:
///   StringId string(std::string_view)
///   ModuleId module(StringId name, StringId build_id)
///   FunctionId function(StringId name, StringId system_name, StringId file, std::int32_t start_line)
///   FrameId frame(const SnapshotBuilder::FrameSpec&, const Hash128&)
///   LabelSetId labels(std::vector<Label>)
/// `from` must not grow meanwhile; both must outlive the mover.
template <class Target>
class DictionaryMover {
 public:
  DictionaryMover(const Dictionary& from, Target& to)
      : from_(from),
        to_(to),
        strings_(from.strings.size(), kUnknown),
        modules_(from.modules.size(), kUnknown),
        functions_(from.functions.size(), kUnknown),
        frames_(from.frames.size(), kUnknown),
        label_sets_(from.labels.size(), kUnknown) {
    strings_[0] = modules_[0] = functions_[0] = label_sets_[0] = 0;
  }

  StringId string(StringId id) {
    return once(strings_, id, [&](std::size_t) { return to_.string(from_.strings[id]); });
  }
  ModuleId module(ModuleId id) {
    return once(modules_, id, [&](std::size_t row) {
      const StringId name = string(from_.modules.name[row]);
      return to_.module(name, string(from_.modules.build_id[row]));
    });
  }
  FunctionId function(FunctionId id) {
    return once(functions_, id, [&](std::size_t row) {
      const FunctionTable& table = from_.functions;
      const StringId name = string(table.name[row]);
      const StringId system_name = string(table.system_name[row]);
      return to_.function(name, system_name, string(table.file[row]), table.start_line[row]);
    });
  }
  FrameId frame(FrameId id) {
    return once(frames_, id, [&](std::size_t row) {
      const FrameTable& table = from_.frames;
      SnapshotBuilder::FrameSpec spec;
      spec.module = module(table.module[row]);
      spec.offset = table.offset[row];
      spec.function = function(table.function[row]);
      spec.line = table.line[row];
      spec.column = table.column[row];
      spec.flags = table.flags[row];
      return to_.frame(spec, table.hash[row]);
    });
  }
  LabelSetId labels(LabelSetId id) {
    return once(label_sets_, id, [&](std::size_t) {
      const std::span<const Label> from = from_.labels.labels(id);
      std::vector<Label> set(from.begin(), from.end());
      for (Label& label : set) {
        label.key = string(label.key);
        label.text = string(label.text);
        label.unit = string(label.unit);
      }
      return to_.labels(std::move(set));
    });
  }

 private:
  static constexpr std::uint32_t kUnknown = std::numeric_limits<std::uint32_t>::max();

  template <class Id, class Move>
  static Id once(std::vector<std::uint32_t>& moved, Id id, Move move) {
    std::uint32_t& number = moved[index_of(id)];
    if (number == kUnknown) number = static_cast<std::uint32_t>(move(index_of(id)));
    return Id{number};
  }

  const Dictionary& from_;
  Target& to_;
  std::vector<std::uint32_t> strings_, modules_, functions_, frames_, label_sets_;
};

}  // namespace snapdiff
