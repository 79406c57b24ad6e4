#include "analyzer/diff/rebuild/exchanged.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
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
    const std::uint64_t key = pair.functions_of(row.entry_before, row.entry_after, by_leaf);
    if (key != 0) keyed.push_back({key, &row});
  }
  std::sort(keyed.begin(), keyed.end(), [](const KeyedRow& x, const KeyedRow& y) {
    if (x.key != y.key) return x.key < y.key;
    return heavier(*x.row, *y.row);
  });
  for (std::size_t begin = 0, end = 0; begin < keyed.size(); begin = end) {
    while (end < keyed.size() && keyed[end].key == keyed[begin].key) ++end;
    const std::size_t last = std::min(end, begin + kMostRows);
    for (std::size_t i = begin; i < last; ++i) {
      for (std::size_t j = i + 1; j < last; ++j) visit(*keyed[i].row, *keyed[j].row);
    }
  }
}

using PlacePair = std::pair<std::uint64_t, std::uint64_t>;

/// Calls visit(pair) for each two places, lines of functions, in which two stacks of one run of functions differ.
template <class Visit>
void each_difference(const std::vector<std::uint64_t>& x, const std::vector<std::uint64_t>& y, Visit visit) {
  for (std::size_t i = 0; i < x.size() && i < y.size(); ++i) {
    if (x[i] != y[i]) visit(PlacePair(std::minmax(x[i], y[i])));
  }
}

/// The one pair of places in which they differ, or none.
std::optional<PlacePair> only_difference(const std::vector<std::uint64_t>& x, const std::vector<std::uint64_t>& y) {
  std::set<PlacePair> pairs;
  each_difference(x, y, [&](const PlacePair& pair) { pairs.insert(pair); });
  return pairs.size() == 1 ? std::optional(*pairs.begin()) : std::nullopt;
}

/// Places that were found to have changed places with another one, or that may have.
class ExchangedPlaces {
 public:
  bool empty() const { return pairs_.empty(); }
  void add(const PlacePair& pair) {
    pairs_.insert(pair);
    places_.insert({pair.first, pair.second});
  }
  bool contains(const PlacePair& pair) const { return pairs_.contains(pair); }
  bool holds_any(const std::vector<std::uint64_t>& stack) const {
    return std::any_of(stack.begin(), stack.end(), [this](std::uint64_t place) { return places_.contains(place); });
  }
  /// Whether two stacks differ in such pairs alone.
  bool differ_only_so(const std::vector<std::uint64_t>& x, const std::vector<std::uint64_t>& y) const {
    bool any = false, all = true;
    each_difference(x, y, [&](const PlacePair& pair) {
      any = true;
      all = all && pairs_.contains(pair);
    });
    return any && all;
  }

 private:
  std::set<PlacePair> pairs_;
  std::set<std::uint64_t> places_;
};

/// The rows that go through one of the places, with the places of their stacks.
std::vector<Row> rows_through(const ExchangedPlaces& places, const std::vector<RowAmounts>& rows,
                              const BuildPair& pair) {
  std::vector<Row> out;
  for (const RowAmounts& row : rows) {
    if (!row.on_both_sides()) continue;
    std::vector<std::uint64_t> own = pair.places_of(row.entry_after);
    if (places.holds_any(own)) out.push_back({row, std::move(own)});
  }
  return out;
}

/// Of pairs of places that may have changed places, those where all rows that differ in nothing else say so together.
void add_by_all(const ExchangedPlaces& possible, const std::vector<RowAmounts>& rows, const BuildPair& pair,
                ExchangedPlaces& places) {
  if (possible.empty()) return;
  std::map<PlacePair, Exchange> sums;
  each_two(rows_through(possible, rows, pair), pair, false, [&](const Row& x, const Row& y) {
    const std::optional<PlacePair> difference = only_difference(x.places, y.places);
    if (!difference || !possible.contains(*difference)) return;
    sums[*difference] += explain(x, y);
  });
  for (const auto& [difference, sum] : sums) {
    if (sum.clear()) places.add(difference);
  }
}

}  // namespace

void merge_exchanged(const Comparison& c, std::size_t s, const BuildPair& pair, RowUnion& rows) {
  if (c.sides[s].objects.empty() || c.sides[s + 1].objects.empty()) return;
  const auto join = [&rows](const Row& x, const Row& y) {
    if (rows.find(x.unit) != rows.find(y.unit)) rows.join(x.unit, y.unit, MatchTier::merged);
  };
  const std::vector<RowAmounts> all = amounts_of_rows(c, s, rows);
  const std::vector<Row> changed = rows_of_both(all, [](const RowAmounts& row) { return row.changed(); });
  ExchangedPlaces places, possible;
  each_two(changed, pair, true, [&](const Row& x, const Row& y) {
    if (exchanged_sizes(x, y)) join(x, y);
  });
  const std::vector<Row> perhaps = rows_of_both(all, [](const RowAmounts& row) { return row.perhaps_changed(); });
  each_two(perhaps, pair, false, [&](const Row& x, const Row& y) {
    const Exchange one = explain(x, y);
    if (one.exchanged >= one.stayed) return;
    const std::vector<std::uint64_t> in_x = pair.places_of(x.entry_after), in_y = pair.places_of(y.entry_after);
    if (one.clear() && x.changed() && y.changed()) {
      join(x, y);
      each_difference(in_x, in_y, [&](const PlacePair& difference) { places.add(difference); });
    } else if (const std::optional<PlacePair> difference = only_difference(in_x, in_y)) {
      possible.add(*difference);
    }
  });
  add_by_all(possible, all, pair, places);
  // The same two places under other callers: they hold too little, or too much the same, to show it themselves.
  if (places.empty()) return;
  each_two(rows_through(places, all, pair), pair, false, [&](const Row& x, const Row& y) {
    if (places.differ_only_so(x.places, y.places)) join(x, y);
  });
}

}  // namespace snapdiff::diff::rebuild
