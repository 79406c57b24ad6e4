#include "analyzer/fleet/stack_sums.hpp"

#include <algorithm>
#include <utility>

#include "snapdiff/checked.hpp"

namespace snapdiff::fleet {
std::uint32_t StackSums::place(const Hash128& stack, std::uint64_t label) {
  const auto [found, is_new] = stacks_.try_emplace(stack, static_cast<std::uint32_t>(stacks_.size()));
  // Most stacks have one label set.
  if (is_new) {
    first_of_stack_.push_back(static_cast<std::uint32_t>(places_.size()));
  } else {
    const std::uint32_t first = first_of_stack_[found->second];
    if (places_[first].label == label) return first;
    const auto [other, is_new_label] =
        more_.try_emplace({found->second, label}, static_cast<std::uint32_t>(places_.size()));
    if (!is_new_label) return other->second;
  }
  places_.push_back({stack, label});
  stack_of_place_.push_back(found->second);
  return static_cast<std::uint32_t>(places_.size() - 1);
}

std::vector<bool> StackSums::stacks_above(std::int64_t floor) const {
  std::vector<std::int64_t> least(stacks_.size(), INT64_MAX), most(stacks_.size(), INT64_MIN), now(stacks_.size());
  for (const std::vector<RowSum>& step : cells_) {
    std::fill(now.begin(), now.end(), 0);
    for (const RowSum& cell : step) {
      std::int64_t& sum = now[stack_of_place_[cell.place]];
      sum = wrapping_sum(sum, cell.value);
    }
    for (std::size_t i = 0; i < now.size(); ++i) {
      least[i] = std::min(least[i], now[i]);
      most[i] = std::max(most[i], now[i]);
    }
  }
  std::vector<bool> above(stacks_.size());
  for (std::size_t i = 0; i < above.size(); ++i)
    above[i] =
        static_cast<std::uint64_t>(most[i]) - static_cast<std::uint64_t>(least[i]) >= static_cast<std::uint64_t>(floor);
  return above;
}

void StackSums::take_below(std::int64_t floor, std::vector<Below>& below) {
  const std::vector<bool> above = stacks_above(floor);
  if (std::find(above.begin(), above.end(), false) == above.end()) return;
  StackSums kept(cells_.size());
  std::vector<std::uint32_t> new_place(places_.size());
  for (std::uint32_t p = 0; p < places_.size(); ++p) {
    if (above[stack_of_place_[p]]) new_place[p] = kept.place(places_[p].stack, places_[p].label);
  }
  for (std::size_t s = 0; s < cells_.size(); ++s) {
    for (RowSum cell : std::exchange(cells_[s], {})) {
      if (above[stack_of_place_[cell.place]]) {
        cell.place = new_place[cell.place];
        kept.cells_[s].push_back(cell);
        continue;
      }
      below[s].value = wrapping_sum(below[s].value, cell.value);
      below[s].objects = wrapping_sum(below[s].objects, cell.objects);
      ++below[s].rows;
    }
    kept.cells_[s].shrink_to_fit();
  }
  *this = std::move(kept);
}

void StackSums::append(StackSums&& other) {
  if (places_.empty()) {
    *this = std::move(other);
    return;
  }
  std::vector<std::uint32_t> new_place;
  new_place.reserve(other.places_.size());
  for (const Place& one : other.places_) new_place.push_back(place(one.stack, one.label));
  for (std::size_t s = 0; s < cells_.size(); ++s) {
    for (RowSum cell : std::exchange(other.cells_[s], {})) {
      cell.place = new_place[cell.place];
      cells_[s].push_back(cell);
    }
  }
}

}  // namespace snapdiff::fleet
