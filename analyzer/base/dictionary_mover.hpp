#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "snapdiff/snapshot.hpp"

namespace snapdiff {

/// Moves rows of one dictionary to another: each is handed to `to` once, after what it refers to, and its number there
/// is remembered. Rows 0 are those of all dictionaries. `Target` says what becomes of a row:
///   StringId string(std::string_view)
///   ModuleId module(StringId name, StringId build_id)
///   FunctionId function(StringId name, StringId system_name, StringId file, std::int32_t start_line)
///   FrameId frame(const FrameSpec&, const Hash128&)
///   LabelSetId labels(std::vector<Label>)
/// Where `from` has grown, grow() says so; both must outlive the mover. `frames`: numbers of frames that `to` has
/// already, kUnknown for the others.
template <class Target>
class DictionaryMover {
 public:
  static constexpr std::uint32_t kUnknown = std::numeric_limits<std::uint32_t>::max();

  DictionaryMover(const Dictionary& from, Target& to, std::vector<std::uint32_t> frames = {})
      : from_(from),
        to_(to),
        strings_(from.strings.size(), kUnknown),
        modules_(from.modules.size(), kUnknown),
        functions_(from.functions.size(), kUnknown),
        frames_(std::move(frames)),
        label_sets_(from.labels.size(), kUnknown) {
    strings_[0] = modules_[0] = functions_[0] = label_sets_[0] = 0;
    frames_.resize(from.frames.size(), kUnknown);
  }

  void grow() {
    strings_.resize(from_.strings.size(), kUnknown);
    modules_.resize(from_.modules.size(), kUnknown);
    functions_.resize(from_.functions.size(), kUnknown);
    frames_.resize(from_.frames.size(), kUnknown);
    label_sets_.resize(from_.labels.size(), kUnknown);
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
      FrameSpec spec = from_.frames[id];
      spec.module = module(spec.module);
      spec.function = function(spec.function);
      return to_.frame(spec, from_.frames.hash[row]);
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
