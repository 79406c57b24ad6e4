#include "analyzer/diff/own_functions.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "analyzer/diff/comparison.hpp"
#include "analyzer/diff/library_code.hpp"
#include "snapdiff/hash.hpp"
#include "snapdiff/number_text.hpp"

namespace snapdiff::diff {
namespace {

using Renames = std::unordered_map<std::string_view, std::string_view>;

Hash128 two(const Hash128& a, const Hash128& b) {
  SequenceHasher hasher;
  hasher.add(a);
  hasher.add(b);
  return hasher.finish();
}

/// What a function is known by; `function` is not 0.
Hash128 function_hash(const Dictionary& d, std::size_t function, const Renames& renames) {
  std::string_view name = d.strings[d.functions.name[function]];
  if (const auto newer = renames.find(name); newer != renames.end()) name = newer->second;
  return two(hash_bytes(name, 1), hash_bytes(d.strings[d.functions.file[function]], 2));
}

Hash128 address_hash(const Dictionary& d, std::size_t frame) {
  const std::string_view module = d.strings[d.modules.name[index_of(d.frames.module[frame])]];
  return two(hash_bytes(base_name(module), 3), {mix64(d.frames.offset[frame]), d.frames.offset[frame]});
}

/// Marks numbers seen on one path; cleared by counting on.
class Seen {
 public:
  explicit Seen(std::size_t size) {
    if (stamps().size() < size) stamps().resize(size, 0);
    if (++round() == 0) {
      std::fill(stamps().begin(), stamps().end(), 0U);
      ++round();
    }
  }
  bool add(std::uint32_t number) {
    std::uint32_t& stamp = stamps()[number];
    if (stamp == round()) return false;
    stamp = round();
    return true;
  }

 private:
  static std::vector<std::uint32_t>& stamps() {
    thread_local std::vector<std::uint32_t> stamps;
    return stamps;
  }
  static std::uint32_t& round() {
    thread_local std::uint32_t round = 0;
    return round;
  }
};

}  // namespace

OwnFunctions::OwnFunctions(std::span<const std::shared_ptr<const Visibility>> dictionaries,
                           std::span<const RenamedFunction> renamed)
    : dictionaries_(dictionaries.begin(), dictionaries.end()) {
  Renames renames;
  for (const RenamedFunction& one : renamed) renames.emplace(one.before, one.after);
  std::unordered_map<Hash128, std::uint32_t> known;
  for (std::uint32_t i = 0; i < dictionaries_.size(); ++i) {
    const Dictionary& d = dictionaries_[i]->dictionary();
    std::vector<std::uint32_t> of_function(d.functions.size(), 0);  // its number + 1
    std::vector<std::uint32_t>& numbers = numbers_.emplace_back();
    numbers.reserve(d.frames.size());
    for (std::size_t frame = 0; frame < d.frames.size(); ++frame) {
      const std::size_t function = index_of(d.frames.function[frame]);
      if (function != 0 && of_function[function] != 0) {
        numbers.push_back(of_function[function] - 1);
        continue;
      }
      const Hash128 hash = function != 0 ? function_hash(d, function, renames) : address_hash(d, frame);
      const auto [entry, added] = known.try_emplace(hash, static_cast<std::uint32_t>(first_.size()));
      if (added) {
        first_.push_back({i, FrameId{static_cast<std::uint32_t>(frame)}});
        entry_.push_back(function != 0 && is_entry_function(d.strings[d.functions.name[function]]));
      }
      numbers.push_back(entry->second);
      if (function != 0) of_function[function] = entry->second + 1;
    }
  }
}

FrameView OwnFunctions::frame(std::uint32_t number) const {
  const Where& where = first_[number];
  FrameView view = frame_view(dictionaries_[where.dictionary]->dictionary(), where.frame);
  view.library = dictionaries_[where.dictionary]->is_library(where.frame);
  return view;
}

void OwnFunctions::path(std::size_t d, std::span<const FrameId> frames, std::vector<std::uint32_t>& out) const {
  out.clear();
  const Visibility& visibility = *dictionaries_[d];
  Seen seen(size());
  std::uint32_t leaf = 0, entry = 0;
  bool any_leaf = false, any_entry = false;
  const bool any_shown = std::any_of(frames.begin(), frames.end(), [&](FrameId f) { return !visibility.is_hidden(f); });
  if (!any_shown && !visibility.shows_emptied()) return;
  for (std::size_t i = frames.size(); i-- > 0;) {
    if (any_shown && visibility.is_hidden(frames[i])) continue;
    const std::uint32_t number = numbers_[d][index_of(frames[i])];
    any_leaf = true;
    leaf = number;
    if (entry_[number] != 0) {
      if (visibility.is_library(frames[i])) continue;
      any_entry = true;
      entry = number;
    } else if (!visibility.is_library(frames[i]) && seen.add(number)) {
      out.push_back(number);
    }
  }
  if (!out.empty() || !any_leaf) return;
  out.push_back(any_entry ? entry : leaf);
}

}  // namespace snapdiff::diff
