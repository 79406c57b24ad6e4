#include "analyzer/diff/rebuild/exchanged.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "analyzer/diff/rebuild/amounts.hpp"

namespace snapdiff::diff::rebuild {
namespace {

constexpr std::size_t kMostRows = 64;  // of one run of functions: the heaviest

/// A row on both sides.
struct Row : RowAmounts {
  std::vector<std::uint64_t> places;  ///< BuildPair::places_of() the current entry; only where asked for
};

/// The rows that both sides have and `which` lets through.
template <class Which>
std::vector<Row> rows_of_both(const std::vector<RowAmounts>& rows, Which which) {
  std::vector<Row> out;
  for (const RowAmounts& row : rows) {
    if (row.on_both_sides() && which(row)) out.push_back({row, {}});
  }
  return out;
}

/// visit(row, row) for each two of a run of functions, or of a leaf function.
template <class Visit>
void each_two(const std::vector<Row>& rows, const BuildPair& pair, bool by_leaf, Visit visit) {
  struct KeyedRow {
    std::uint64_t key;
    const Row* row;
  };
  std::vector<KeyedRow> keyed;
  for (const Row& row : rows) {
    const std::uint64_t key = pair.functions_of(row.entry_after, by_leaf);
    if (key != 0) keyed.push_back({key, &row});
  }
  std::sort(keyed.begin(), keyed.end(), [](const KeyedRow& x, const KeyedRow& y) {
    if (x.key != y.key) return x.key < y.key;
    if (x.row->bytes_after != y.row->bytes_after) return x.row->bytes_after > y.row->bytes_after;
    return x.row->unit < y.row->unit;
  });
  for (std::size_t begin = 0, end = 0; begin < keyed.size(); begin = end) {
    while (end < keyed.size() && keyed[end].key == keyed[begin].key) ++end;
    const std::size_t last = std::min(end, begin + kMostRows);
    for (std::size_t i = begin; i < last; ++i) {
      for (std::size_t j = i + 1; j < last; ++j) visit(*keyed[i].row, *keyed[j].row);
    }
  }
}

/// Places, each a line of a function, that were found to have changed places with another one.
class ExchangedPlaces {
 public:
  bool empty() const { return pairs_.empty(); }

  /// All in which the stacks of two rows of one run of functions differ.
  void add(const std::vector<std::uint64_t>& x, const std::vector<std::uint64_t>& y) {
    for (std::size_t i = 0; i < x.size() && i < y.size(); ++i) {
      if (x[i] == y[i]) continue;
      pairs_.insert(std::minmax(x[i], y[i]));
      places_.insert({x[i], y[i]});
    }
  }
  bool holds_any(const std::vector<std::uint64_t>& stack) const {
    return std::any_of(stack.begin(), stack.end(), [this](std::uint64_t place) { return places_.contains(place); });
  }
  /// Whether two stacks differ in such pairs alone.
  bool differ_only_so(const std::vector<std::uint64_t>& x, const std::vector<std::uint64_t>& y) const {
    bool any = false;
    for (std::size_t i = 0; i < x.size() && i < y.size(); ++i) {
      if (x[i] == y[i]) continue;
      if (!pairs_.contains(std::minmax(x[i], y[i]))) return false;
      any = true;
    }
    return any;
  }

 private:
  std::set<std::pair<std::uint64_t, std::uint64_t>> pairs_;
  std::set<std::uint64_t> places_;
};

}  // namespace

void merge_exchanged(const Comparison& c, std::size_t s, const BuildPair& pair, RowUnion& rows) {
  if (c.sides[s].objects.empty() || c.sides[s + 1].objects.empty()) return;
  const auto join = [&rows](const Row& x, const Row& y) {
    if (rows.find(x.unit) != rows.find(y.unit)) rows.join(x.unit, y.unit, MatchTier::merged);
  };
  const std::vector<RowAmounts> all = amounts_of_rows(c, s, rows);
  const std::vector<Row> changed = rows_of_both(all, [](const RowAmounts& row) { return row.changed(); });
  ExchangedPlaces places;
  for (const bool by_leaf : {false, true}) {
    each_two(changed, pair, by_leaf, [&](const Row& x, const Row& y) {
      if (!exchanged(x, y, by_leaf)) return;
      join(x, y);
      if (!by_leaf) places.add(pair.places_of(x.entry_after), pair.places_of(y.entry_after));
    });
  }
  // The same two places under other callers: they hold too little, or too much the same, to show it themselves.
  if (places.empty()) return;
  std::vector<Row> both =
      rows_of_both(all, [&](const RowAmounts& row) { return places.holds_any(pair.places_of(row.entry_after)); });
  for (Row& row : both) row.places = pair.places_of(row.entry_after);
  each_two(both, pair, false, [&](const Row& x, const Row& y) {
    if (places.differ_only_so(x.places, y.places)) join(x, y);
  });
}

}  // namespace snapdiff::diff::rebuild
