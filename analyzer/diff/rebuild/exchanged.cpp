#include "analyzer/diff/rebuild/exchanged.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

namespace snapdiff::diff::rebuild {
namespace {

constexpr double kOtherSize = 2;          // objects of another size weigh as much as seven times as many
constexpr double kGrownSize = 0.3;        // of both rows by the same amount: a type that has new members
constexpr double kMostGrown = 0.25;       // of the smaller size
constexpr double kClear = 0.6;            // by which the exchange explains more
constexpr double kNothing = 0.15;         // an exchange that leaves less to be explained
constexpr double kClearToNothing = 0.35;  // has to explain this much more
constexpr double kChanged = 0.2;          // of the number of objects: less needs no explanation
constexpr double kFew = 2;                // objects: as many more or less say little
constexpr std::size_t kMostRows = 64;     // of one run of functions: the heaviest

/// A row on both sides.
struct Row {
  std::uint32_t unit = 0;
  std::uint32_t entry = 0;  ///< of the current side
  double bytes_before = 0, bytes_after = 0;
  double objects_before = 0, objects_after = 0;
  std::vector<std::uint64_t> places;  ///< BuildPair::places_of() the entry; only where asked for

  double size_before() const { return bytes_before / objects_before; }
  double size_after() const { return bytes_after / objects_after; }
  double moved() const { return std::abs(std::log((objects_after + kFew) / (objects_before + kFew))); }
  bool changed() const { return std::floor(size_before()) != std::floor(size_after()) || moved() > kChanged; }
};

/// The rows that both sides have.
std::vector<Row> rows_of_both(const Comparison& c, std::size_t s, const RowUnion& rows) {
  std::vector<Row> sums(c.unit_count());
  const auto add = [&](std::size_t side, double Row::*bytes, double Row::*objects) {
    for (std::uint32_t entry = 0; entry < c.sides[side].stack.size(); ++entry) {
      Row& row = sums[rows.find(c.unit_of_entry[side][entry])];
      row.*bytes += static_cast<double>(c.sides[side].value[entry]);
      row.*objects += static_cast<double>(c.sides[side].objects[entry]);
      row.entry = entry;
    }
  };
  add(s, &Row::bytes_before, &Row::objects_before);
  add(s + 1, &Row::bytes_after, &Row::objects_after);
  std::vector<Row> out;
  for (std::uint32_t u = 0; u < sums.size(); ++u) {
    Row& row = sums[u];
    if (row.objects_before <= 0 || row.objects_after <= 0) continue;
    row.unit = u;
    out.push_back(row);
  }
  return out;
}

/// How much has to be explained if what `x` held before is what `y` holds now.
double in_count(const Row& x, const Row& y) {
  return std::min(kOtherSize, std::abs(std::log((y.objects_after + kFew) / (x.objects_before + kFew))));
}

/// The same of the sizes of objects, for two rows at once; equal growth of both is one change of a type. Where an
/// allocator rounds sizes up it is not equal any more.
double in_size(double x_before, double x_after, double y_before, double y_after) {
  const double x = std::floor(x_after) - std::floor(x_before), y = std::floor(y_after) - std::floor(y_before);
  if (x == 0 && y == 0) return 0;
  if (x == y && std::abs(x) <= kMostGrown * std::min(x_before, y_before)) return kGrownSize;
  if (x > 0 && y > 0 && x <= kMostGrown * x_before && y <= kMostGrown * y_before) return kOtherSize;
  return (x == 0 ? 0 : kOtherSize) + (y == 0 ? 0 : kOtherSize);
}

/// Whether two rows changed places. `by_size`: only by sizes of objects, which have to be the same.
bool exchanged(const Row& x, const Row& y, bool by_size) {
  const double sizes = in_size(x.size_before(), x.size_after(), y.size_before(), y.size_after());
  const double crossed = in_size(x.size_before(), y.size_after(), y.size_before(), x.size_after());
  if (by_size && (crossed >= kOtherSize || sizes < kOtherSize)) return false;
  const double if_exchanged = crossed + in_count(x, y) + in_count(y, x);
  const double clear = if_exchanged < kNothing ? kClearToNothing : kClear;
  return if_exchanged + clear < sizes + in_count(x, x) + in_count(y, y);
}

/// visit(row, row) for each two of a run of functions, or of a leaf function.
template <class Visit>
void each_two(const std::vector<Row>& rows, const BuildPair& pair, bool by_leaf, Visit visit) {
  struct Keyed {
    std::uint64_t key;
    const Row* row;
  };
  std::vector<Keyed> keyed;
  for (const Row& row : rows) {
    const std::uint64_t key = pair.functions_of(row.entry, by_leaf);
    if (key != 0) keyed.push_back({key, &row});
  }
  std::sort(keyed.begin(), keyed.end(), [](const Keyed& x, const Keyed& y) {
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
  std::vector<Row> both = rows_of_both(c, s, rows), changed;
  std::copy_if(both.begin(), both.end(), std::back_inserter(changed), [](const Row& row) { return row.changed(); });
  ExchangedPlaces places;
  for (const bool by_leaf : {false, true}) {
    each_two(changed, pair, by_leaf, [&](const Row& x, const Row& y) {
      if (!exchanged(x, y, by_leaf)) return;
      join(x, y);
      if (!by_leaf) places.add(pair.places_of(x.entry), pair.places_of(y.entry));
    });
  }
  // The same two places under other callers: they hold too little, or too much the same, to show it themselves.
  if (places.empty()) return;
  std::erase_if(both, [&](Row& row) {
    std::vector<std::uint64_t> own = pair.places_of(row.entry);
    const bool holds = places.holds_any(own);
    if (holds) row.places = std::move(own);
    return !holds;
  });
  each_two(both, pair, false, [&](const Row& x, const Row& y) {
    if (places.differ_only_so(x.places, y.places)) join(x, y);
  });
}

}  // namespace snapdiff::diff::rebuild
