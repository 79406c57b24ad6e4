#include "analyzer/flame/sibling_order.hpp"

#include <algorithm>
#include <utility>

namespace snapdiff::flame {

void order_siblings(std::vector<FlameBox>& boxes, const std::vector<std::uint32_t>& rank) {
  const auto n = static_cast<std::uint32_t>(boxes.size());
  if (n < 3) return;
  // Children of box b: child[begin[b]] .. child[begin[b + 1] - 1].
  std::vector<std::uint32_t> begin(n + 1, 0);
  std::vector<std::uint32_t> child(n);
  for (std::uint32_t i = 1; i < n; ++i) ++begin[boxes[i].parent];
  std::uint32_t sum = 0;
  for (std::uint32_t& at : begin) {
    const std::uint32_t count = at;
    at = sum;
    sum += count;
  }
  // Filling moves each beginning to its end, which is the next one's beginning.
  for (std::uint32_t i = 1; i < n; ++i) child[begin[boxes[i].parent]++] = i;
  for (std::uint32_t i = n; i > 0; --i) begin[i] = begin[i - 1];
  begin[0] = 0;
  for (std::uint32_t b = 0; b < n; ++b) {
    std::sort(child.begin() + begin[b], child.begin() + begin[b + 1], [&](std::uint32_t x, std::uint32_t y) {
      if (boxes[x].weight != boxes[y].weight) return boxes[x].weight > boxes[y].weight;
      return rank[boxes[x].name] < rank[boxes[y].name];
    });
  }
  // New number of each box; a stack of boxes still to be entered.
  std::vector<std::uint32_t> place(n);
  std::vector<std::uint32_t> open{0};
  for (std::uint32_t next = 0; !open.empty(); ++next) {
    const std::uint32_t box = open.back();
    open.pop_back();
    place[box] = next;
    for (std::uint32_t i = begin[box + 1]; i > begin[box]; --i) open.push_back(child[i - 1]);
  }
  for (FlameBox& box : boxes) box.parent = place[box.parent];
  for (std::uint32_t i = 0; i < n; ++i) {
    while (place[i] != i) {
      std::swap(boxes[i], boxes[place[i]]);
      std::swap(place[i], place[place[i]]);
    }
  }
}

}  // namespace snapdiff::flame
