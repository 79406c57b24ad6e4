#include "analyzer/fleet/dictionary_reader.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_set>
#include <utility>

namespace snapdiff::fleet {
namespace {

[[noreturn]] void fail_missing(std::string_view what, std::size_t found, std::size_t expected) {
  fail({ErrorCode::internal, std::string(what) + " are missing on a server: found " + std::to_string(found) +
                                 ", expected " + std::to_string(expected)});
}

struct FrameText {
  std::string function, system_name, file, module, build_id;
  std::int32_t start_line = 0;
  SnapshotBuilder::FrameSpec spec;
};

}  // namespace

void DictionaryReader::read_frames(std::vector<Hash128> frames) {
  // A frame may be there several times until the engine merges; one with a name is worth more.
  std::unordered_map<Hash128, FrameText> found;
  from_.rows_of(
      "frames",
      "SELECT frame, function, system_name, file, start_line, line, column, module, build_id, offset, flags FROM " +
          from_.table("frame") + " WHERE frame",
      std::span<const Hash128>(frames), [&](RowReader& row) {
        FrameText one;
        const Hash128 id = row.hash();
        one.function = row.text();
        one.system_name = row.text();
        one.file = row.text();
        one.start_line = row.number<std::int32_t>();
        one.spec.line = row.number<std::int32_t>();
        one.spec.column = row.number<std::int32_t>();
        one.module = row.text();
        one.build_id = row.text();
        one.spec.offset = row.number<std::uint64_t>();
        one.spec.flags = row.number<std::uint8_t>();
        if (!row.whole()) return;
        const auto [place, is_new] = found.try_emplace(id, one);
        const auto rank = [](const FrameText& f) { return std::tie(f.function, f.module, f.build_id, f.spec.offset); };
        if (!is_new && rank(place->second) < rank(one)) place->second = std::move(one);
      });
  if (found.size() != frames.size()) fail_missing("frames", found.size(), frames.size());
  for (const Hash128& id : frames) {
    FrameText& one = found.at(id);
    one.spec.module = into_.module(one.module, one.build_id);
    one.spec.function = into_.function(into_.string(one.function), into_.string(one.system_name),
                                       into_.string(one.file), one.start_line);
    frame_ids_.emplace(id, into_.frame_with_hash(one.spec, id));
  }
}

void DictionaryReader::read_stacks(std::vector<Hash128> stacks) {
  std::sort(stacks.begin(), stacks.end());
  std::unordered_map<Hash128, std::vector<Hash128>> found;
  std::unordered_set<Hash128> frames;
  from_.rows_of("stacks", "SELECT stack, frames FROM " + from_.table("stack") + " WHERE stack",
                std::span<const Hash128>(stacks), [&](RowReader& row) {
                  const Hash128 id = row.hash();
                  std::vector<Hash128> own;
                  const std::uint64_t count = row.varint(kMostItems);
                  for (std::uint64_t i = 0; i < count && row.whole(); ++i) own.push_back(row.hash());
                  if (!row.whole()) return;
                  frames.insert(own.begin(), own.end());
                  found.try_emplace(id, std::move(own));
                });
  if (found.size() != stacks.size()) fail_missing("stacks", found.size(), stacks.size());
  std::vector<Hash128> frame_list(frames.begin(), frames.end());
  std::sort(frame_list.begin(), frame_list.end());
  read_frames(std::move(frame_list));
  std::vector<FrameId> ids;
  for (const Hash128& stack : stacks) {
    ids.clear();
    SequenceHasher hasher;
    for (const Hash128& frame : found.at(stack)) {
      ids.push_back(frame_ids_.at(frame));
      if ((into_.dictionary().frames.flags[index_of(ids.back())] & kFrameDerived) == 0) hasher.add(frame);
    }
    if (hasher.finish() != stack) fail({ErrorCode::malformed, "a stack has other frames than its hash says"});
    stack_ids_.emplace(stack, ids.empty() ? StackId{} : into_.stack_with_hash(ids, stack));
  }
}

void DictionaryReader::read_labels(std::vector<std::uint64_t> labels) {
  std::sort(labels.begin(), labels.end());
  from_.rows_of("labels",
                "SELECT label, keys, texts, numbers, units, is_number FROM " + from_.table("label") + " WHERE label",
                std::span<const std::uint64_t>(labels), [&](RowReader& row) {
                  const auto id = row.number<std::uint64_t>();
                  const std::vector<std::string> keys = row.texts();
                  const std::vector<std::string> texts = row.texts();
                  const auto numbers = row.numbers<std::int64_t>();
                  const std::vector<std::string> units = row.texts();
                  const auto is_number = row.numbers<std::uint8_t>();
                  if (!row.whole() || label_ids_.count(id) != 0) return;
                  if (texts.size() != keys.size() || numbers.size() != keys.size() || units.size() != keys.size() ||
                      is_number.size() != keys.size())
                    fail({ErrorCode::malformed, "columns of a label differ in length"});
                  std::vector<Label> set;
                  for (std::size_t i = 0; i < keys.size(); ++i)
                    set.push_back({into_.string(keys[i]), into_.string(texts[i]), numbers[i], into_.string(units[i]),
                                   is_number[i] != 0});
                  label_ids_.emplace(id, into_.labels(std::move(set)));
                });
  if (label_ids_.size() != labels.size()) fail_missing("labels", label_ids_.size(), labels.size());
}

}  // namespace snapdiff::fleet
