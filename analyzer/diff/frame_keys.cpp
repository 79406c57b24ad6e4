#include "analyzer/diff/frame_keys.hpp"

#include <unordered_map>

#include "analyzer/base/frame_text.hpp"
#include "analyzer/diff/comparison.hpp"
#include "snapdiff/hash.hpp"
#include "snapdiff/keyed_hash.hpp"

namespace snapdiff::diff {
namespace {

Hash128 combine(const Hash128& a, std::uint64_t number) {
  SequenceHasher hasher;
  hasher.add(a);
  hasher.add({mix64(number), mix64(number + 0x9e3779b97f4a7c15ULL)});
  return hasher.finish();
}

/// Hashes the texts of one dictionary once each, then puts those of a frame together.
class KeyHasher {
 public:
  KeyHasher(const Dictionary& dictionary, GroupBy by) : d_(dictionary), by_(by) {
    for (const StringId name : d_.modules.name) module_.push_back(hash_bytes(base_name(d_.strings[name]), 1));
    for (std::size_t f = 0; f < d_.functions.size(); ++f) {
      const bool need_name = by == GroupBy::function || by == GroupBy::stack || d_.functions.file[f] == StringId{};
      name_.push_back(need_name ? hash_bytes(d_.strings[d_.functions.name[f]]) : Hash128{});
      const bool need_file = by == GroupBy::file || by == GroupBy::line;
      file_.push_back(need_file ? hash_bytes(d_.strings[d_.functions.file[f]], 2) : Hash128{});
    }
  }

  Hash128 hash(std::size_t frame) const {
    const std::size_t function = index_of(d_.frames.function[frame]);
    const std::size_t module = index_of(d_.frames.module[frame]);
    const bool has_file = d_.functions.file[function] != StringId{};
    const bool pseudo = (d_.frames.flags[frame] & kFramePseudo) != 0;
    if (pseudo) return hash_bytes(d_.strings[d_.functions.name[function]]);
    if (by_ == GroupBy::module) return module_[module];
    if (by_ == GroupBy::file) {
      if (has_file) return file_[function];
      if (module != 0) return combine(module_[module], kNoOffset);
      return name_[function];
    }
    if (by_ == GroupBy::line && has_file) {
      return combine(file_[function], static_cast<std::uint32_t>(d_.frames.line[frame]));
    }
    return function != 0 ? name_[function] : combine(module_[module], d_.frames.offset[frame]);
  }

 private:
  const Dictionary& d_;
  GroupBy by_;
  std::vector<Hash128> module_, name_, file_;
};

}  // namespace

std::string key_text(const FrameView& frame, GroupBy by) {
  if (frame.pseudo) return std::string(frame.function);
  switch (by) {
    case GroupBy::module: return frame.module.empty() ? "[no module]" : std::string(base_name(frame.module));
    case GroupBy::file:
      if (!frame.file.empty()) return std::string(frame.file);
      if (!frame.module.empty()) return std::string("[unknown in ").append(base_name(frame.module)) + "]";
      return frame.function.empty() ? "[no file]" : std::string(frame.function);
    case GroupBy::line:
      if (!frame.file.empty())
        return frame.line > 0 ? std::string(frame.file) + ":" + std::to_string(frame.line) : std::string(frame.file);
      return recorded_frame_text(frame);
    default: return recorded_frame_text(frame);
  }
}

std::string label_text(const Dictionary& d, LabelSetId set, const std::string& key) {
  std::string text;
  bool any = false;
  for (const Label& l : d.labels.labels(set)) {
    if (d.strings[l.key] != key) continue;
    if (any) text.append(", ");
    any = true;
    if (l.is_number) {
      text += std::to_string(l.number);
      const std::string_view unit = d.strings[l.unit];
      if (!unit.empty() && unit != key) text.append(" ").append(unit);
    } else {
      text += d.strings[l.text];
    }
  }
  if (!any) text.append("[no label ").append(key).append("]");
  return text;
}

FrameKeys::FrameKeys(std::span<const std::shared_ptr<const Visibility>> dictionaries, GroupBy by) : by_(by) {
  std::unordered_map<Hash128, std::uint32_t> known;
  keys_.resize(dictionaries.size());
  for (std::size_t i = 0; i < dictionaries.size(); ++i) {
    const Dictionary& d = dictionaries[i]->dictionary();
    dictionaries_.push_back(&d);
    const KeyHasher hasher(d, by);
    keys_[i].reserve(d.frames.size());
    // Frames of one function stand close together and mostly share the key.
    std::vector<std::uint32_t> of_function(d.functions.size(), 0);
    const bool by_function = by == GroupBy::function || by == GroupBy::stack;
    for (std::size_t frame = 0; frame < d.frames.size(); ++frame) {
      const std::size_t function = index_of(d.frames.function[frame]);
      if (by_function && function != 0 && of_function[function] != 0) {
        keys_[i].push_back(of_function[function] - 1);
        continue;
      }
      const auto next = static_cast<std::uint32_t>(first_.size());
      const auto [entry, added] = known.try_emplace(hasher.hash(frame), next);
      if (added) first_.push_back({static_cast<std::uint32_t>(i), FrameId{static_cast<std::uint32_t>(frame)}});
      keys_[i].push_back(entry->second);
      if (function != 0) of_function[function] = entry->second + 1;
    }
  }
}

std::string FrameKeys::text(std::uint32_t key) const {
  const Where& where = first_[key];
  return key_text(frame_view(*dictionaries_[where.dictionary], where.frame), by_);
}

void FrameKeys::rename(std::span<const RenamedFunction> renamed) {
  if (renamed.empty()) return;
  std::unordered_map<std::string_view, std::uint32_t, KeyedHash> key_of;
  for (std::uint32_t key = 0; key < size(); ++key) {
    const Where& where = first_[key];
    const std::string_view name = frame_view(*dictionaries_[where.dictionary], where.frame).function;
    if (!name.empty()) key_of.try_emplace(name, key);
  }
  // A series may go back to an older build, so the pairs may go round in a circle.
  std::vector<std::uint32_t> newer(size());
  for (std::uint32_t key = 0; key < size(); ++key) newer[key] = key;
  const auto newest = [&](std::uint32_t key) {
    while (newer[key] != key) key = newer[key] = newer[newer[key]];
    return key;
  };
  for (const RenamedFunction& one : renamed) {
    const auto old_key = key_of.find(one.before);
    const auto new_key = key_of.find(one.after);
    if (old_key != key_of.end() && new_key != key_of.end()) newer[newest(old_key->second)] = newest(new_key->second);
  }
  for (auto& keys : keys_) {
    for (std::uint32_t& key : keys) key = newest(key);
  }
}

}  // namespace snapdiff::diff
