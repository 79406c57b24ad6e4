#include "analyzer/diff/frame_order.hpp"

#include <algorithm>
#include <tuple>

#include "analyzer/base/parallel.hpp"
#include "analyzer/diff/row_order.hpp"

namespace snapdiff::diff {
namespace {

struct Text {
  std::uint64_t prefix;  ///< first eight bytes, big-endian
  std::string_view text;
  std::uint32_t dictionary;
  std::uint32_t row;
};

std::uint64_t prefix_of(std::string_view text) {
  std::uint64_t prefix = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    prefix = prefix << 8 | (i < text.size() ? static_cast<unsigned char>(text[i]) : 0U);
  }
  return prefix;
}

/// Ranks per dictionary and row of one kind of text, from 0 on, equal for equal texts.
/// `text_of(dictionary, row)` names it, `rows(dictionary)` says how many there are.
template <class Rows, class TextOf>
std::vector<std::vector<std::uint32_t>> rank_texts(std::size_t dictionaries, Rows rows, TextOf text_of) {
  std::vector<Text> all;
  std::vector<std::vector<std::uint32_t>> ranks(dictionaries);
  for (std::size_t d = 0; d < dictionaries; ++d) {
    const std::size_t count = rows(d);
    ranks[d].resize(count);
    for (std::size_t row = 0; row < count; ++row) {
      const std::string_view text = text_of(d, row);
      all.push_back({prefix_of(text), text, static_cast<std::uint32_t>(d), static_cast<std::uint32_t>(row)});
    }
  }
  std::sort(all.begin(), all.end(),
            [](const Text& a, const Text& b) { return a.prefix != b.prefix ? a.prefix < b.prefix : a.text < b.text; });
  std::uint32_t rank = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i > 0 && all[i].text != all[i - 1].text) ++rank;
    ranks[all[i].dictionary][all[i].row] = rank;
  }
  return ranks;
}

/// A frame with what its place in the order depends on.
struct Place {
  std::uint32_t function;
  std::uint32_t file;
  std::uint32_t line;
  std::uint32_t module;
  std::uint32_t build_id;
  std::uint32_t dictionary;
  std::uint64_t offset;
  std::uint32_t frame;
  auto key() const { return std::tie(function, file, line, module, build_id, offset); }
};

}  // namespace

FrameOrder::FrameOrder(std::span<const std::shared_ptr<const Visibility>> dictionaries) {
  const std::size_t count = dictionaries.size();
  const auto d = [&](std::size_t i) -> const Dictionary& { return dictionaries[i]->dictionary(); };
  const auto functions = [&](std::size_t i) { return d(i).functions.size(); };
  const auto modules = [&](std::size_t i) { return d(i).modules.size(); };
  const auto names = rank_texts(count, functions,
                                [&](std::size_t i, std::size_t row) { return d(i).strings[d(i).functions.name[row]]; });
  // Files are few against functions: rank each string once.
  std::vector<std::vector<StringId>> file_ids(count);
  for (std::size_t i = 0; i < count; ++i) {
    file_ids[i].assign(d(i).functions.file.begin(), d(i).functions.file.end());
    std::sort(file_ids[i].begin(), file_ids[i].end());
    file_ids[i].erase(std::unique(file_ids[i].begin(), file_ids[i].end()), file_ids[i].end());
  }
  const auto files = rank_texts(
      count, [&](std::size_t i) { return file_ids[i].size(); },
      [&](std::size_t i, std::size_t row) { return d(i).strings[file_ids[i][row]]; });
  const auto bases = rank_texts(
      count, modules, [&](std::size_t i, std::size_t row) { return base_name(d(i).strings[d(i).modules.name[row]]); });
  const auto ids = rank_texts(count, modules,
                              [&](std::size_t i, std::size_t row) { return d(i).strings[d(i).modules.build_id[row]]; });

  std::vector<Place> places;
  rank_.resize(count);
  std::size_t total = 0;
  for (std::size_t i = 0; i < count; ++i) total += d(i).frames.size();
  places.reserve(total);
  for (std::size_t i = 0; i < count; ++i) {
    const FrameTable& frames = d(i).frames;
    std::vector<std::uint32_t> file_of(functions(i));
    for (std::size_t f = 0; f < file_of.size(); ++f) {
      const auto at = std::lower_bound(file_ids[i].begin(), file_ids[i].end(), d(i).functions.file[f]);
      file_of[f] = files[i][static_cast<std::size_t>(at - file_ids[i].begin())];
    }
    rank_[i].resize(frames.size());
    for (std::size_t f = 0; f < frames.size(); ++f) {
      const std::size_t function = index_of(frames.function[f]);
      const std::size_t module = index_of(frames.module[f]);
      Place place{names[i][function],           file_of[function], 0, 0, 0, static_cast<std::uint32_t>(i), 0,
                  static_cast<std::uint32_t>(f)};
      if (function != 0) {
        place.line = static_cast<std::uint32_t>(frames.line[f]);
      } else {
        place.module = bases[i][module];
        place.build_id = ids[i][module];
        place.offset = frames.offset[f];
      }
      places.push_back(place);
    }
  }
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.key() < b.key(); });
  std::uint32_t rank = 1;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (i > 0 && places[i].key() != places[i - 1].key()) ++rank;
    rank_[places[i].dictionary][places[i].frame] = rank;
  }
}

int FrameOrder::compare(const VisibleFrames& a, const VisibleFrames& b, std::size_t depth) const {
  const std::size_t common = std::min(a.size, b.size);
  for (; depth < common; ++depth) {
    const std::uint32_t in_a = rank(a.dictionary, a.data[depth]);
    const std::uint32_t in_b = rank(b.dictionary, b.data[depth]);
    if (in_a != in_b) return in_a < in_b ? -1 : 1;
  }
  return a.size == b.size ? 0 : a.size < b.size ? -1 : 1;
}

/// Sorts a range by its next two frames. Returns the parts that are equal so far and have more frames.
std::vector<FrameOrder::Range> FrameOrder::sort_two_frames(const Range& range, std::span<std::uint32_t> stacks,
                                                           std::span<const VisibleFrames> frames,
                                                           std::vector<SortItem>& items) const {
  const std::span<std::uint32_t> part = stacks.subspan(range.begin, range.end - range.begin);
  items.resize(part.size());
  for_each_block(part.size(), [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const VisibleFrames& f = frames[part[i]];
      std::uint64_t key = 0;
      for (std::size_t at = range.depth; at < range.depth + 2; ++at)
        key = key << 32 | (at < f.size ? rank(f.dictionary, f.data[at]) : 0U);
      items[i] = {key, part[i]};
    }
  });
  sort_items(items);
  std::vector<Range> equal;
  for (std::size_t begin = 0; begin < items.size();) {
    std::size_t end = begin;
    for (; end < items.size() && items[end].key == items[begin].key; ++end) part[end] = items[end].row;
    const bool ended = (items[begin].key & 0xffffffffU) == 0;
    if (end - begin > 1 && !ended) equal.push_back({range.begin + begin, range.begin + end, range.depth + 2});
    begin = end;
  }
  return equal;
}

/// Sorts a range by all frames that are left.
void FrameOrder::sort_range(const Range& whole, std::span<std::uint32_t> stacks,
                            std::span<const VisibleFrames> frames) const {
  constexpr std::size_t kFew = 24;
  std::vector<Range> open{whole};
  std::vector<SortItem> items;
  while (!open.empty()) {
    const Range range = open.back();
    open.pop_back();
    const std::span<std::uint32_t> part = stacks.subspan(range.begin, range.end - range.begin);
    if (part.size() <= kFew) {
      std::stable_sort(part.begin(), part.end(), [&](std::uint32_t a, std::uint32_t b) {
        return compare(frames[a], frames[b], range.depth) < 0;
      });
      continue;
    }
    const std::vector<Range> equal = sort_two_frames(range, stacks, frames, items);
    open.insert(open.end(), equal.begin(), equal.end());
  }
}

// All threads sort a large range together; of the many small ones that it falls into, each has one thread.
void FrameOrder::sort(std::span<std::uint32_t> stacks, std::span<const VisibleFrames> frames) const {
  std::vector<Range> large, small;
  const auto add = [&](const Range& range) {
    (range.end - range.begin < kParallelStacks ? small : large).push_back(range);
  };
  add({0, stacks.size(), 0});
  std::vector<SortItem> items;
  while (!large.empty()) {
    const Range range = large.back();
    large.pop_back();
    for (const Range& part : sort_two_frames(range, stacks, frames, items)) add(part);
  }
  constexpr std::size_t kTogether = 64;  // ranges
  for_each_parallel((small.size() + kTogether - 1) / kTogether, stacks.size(), [&](std::size_t share) {
    const std::size_t end = std::min(small.size(), (share + 1) * kTogether);
    for (std::size_t i = share * kTogether; i < end; ++i) sort_range(small[i], stacks, frames);
  });
}

}  // namespace snapdiff::diff
