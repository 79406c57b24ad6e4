#include "analyzer/flame/frame_numbers.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "snapdiff/number_text.hpp"

namespace snapdiff::flame {
namespace {

/// What a box is known by.
Hash128 name_hash(const FrameView& frame) {
  SequenceHasher hasher;
  if (!frame.function.empty()) {
    hasher.add(hash_bytes(frame.function, frame.pseudo ? 2 : 1));
  } else {
    hasher.add(hash_bytes(base_name(frame.module), 3));
    hasher.add({mix64(frame.offset), frame.offset});
  }
  return hasher.finish();
}

}  // namespace

std::uint32_t FrameNumbers::of(const FrameView& frame) {
  const bool named = !frame.function.empty();
  const std::string_view text = named ? frame.function : frame.module;
  const Place place{text.data(), text.size(), named ? 0 : frame.offset + 1, frame.pseudo};
  const auto found = places_.find(place);
  if (found != places_.end()) return found->second;
  const auto [at, added] = names_.try_emplace(name_hash(frame), static_cast<std::uint32_t>(frames_.size()));
  if (added) frames_.push_back(frame);
  places_.emplace(place, at->second);
  return at->second;
}

std::uint32_t FrameNumbers::of_pseudo(std::string_view name) {
  FrameView frame;
  frame.function = name;
  frame.pseudo = true;
  return of(frame);
}

std::vector<std::uint32_t> name_ranks(const std::vector<FrameView>& frames) {
  std::vector<std::uint32_t> order(frames.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto key = [&](std::uint32_t i) {
    const FrameView& frame = frames[i];
    return std::tuple(frame.function, base_name(frame.module), frame.offset, i);
  };
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
  std::vector<std::uint32_t> rank(frames.size());
  for (std::uint32_t place = 0; place < order.size(); ++place) rank[order[place]] = place;
  return rank;
}

}  // namespace snapdiff::flame
