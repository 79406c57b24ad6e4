#include "analyzer/diff/grouping.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "analyzer/base/free_memory.hpp"
#include "analyzer/base/large_pages.hpp"
#include "analyzer/base/parallel.hpp"
#include "analyzer/diff/frame_keys.hpp"
#include "analyzer/diff/frame_order.hpp"
#include "analyzer/diff/row_order.hpp"
#include "snapdiff/keyed_hash.hpp"
#include "snapdiff/trend.hpp"

namespace snapdiff::diff {
namespace {

constexpr std::uint32_t kNoUnit = std::numeric_limits<std::uint32_t>::max();

/// A share of one row (of stacks) that falls to one key.
struct Part {
  std::uint32_t row;
  std::uint32_t key;
  Change value;
  Change objects;
  double variance = 0;
};

void merge_parts(std::vector<Part>& parts, Adder& adder) {
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Part& a, const Part& b) { return a.row != b.row ? a.row < b.row : a.key < b.key; });
  std::size_t out = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (out > 0 && parts[out - 1].row == parts[i].row && parts[out - 1].key == parts[i].key) {
      Part& sum = parts[out - 1];
      adder.add(sum.value, parts[i].value);
      adder.add(sum.objects, parts[i].objects);
      sum.variance += parts[i].variance;
    } else {
      parts[out++] = parts[i];
    }
  }
  parts.resize(out);
}

void weaken(MatchTier& tier, MatchTier other) {
  if (other == MatchTier::none) return;
  tier = tier == MatchTier::none ? other : std::max(tier, other);
}

MatchTier tier_of(const Comparison& c, std::uint32_t row, std::size_t u) {
  return !c.coarse_tier.empty() && c.coarse_tier[row] != MatchTier::none ? c.coarse_tier[row] : c.tier[u];
}

std::vector<std::uint8_t> in_large_rows(const Comparison& c) {
  if (c.row_of_unit.empty()) return {};
  std::vector<std::uint8_t> large(c.unit_count(), 0);
  for (std::size_t u = 0; u < large.size(); ++u) {
    if (c.row_of_unit[u] != u) large[c.row_of_unit[u]] = 1;
  }
  return large;
}

std::size_t known_values(const Comparison& c) {
  std::size_t known = 0;
  for (const auto& entries : c.unit_of_entry) known += entries.size();
  return known;
}

bool any_unlisted(const Comparison& c) {
  return std::any_of(c.sides.begin(), c.sides.end(), [](const Side& side) { return side.unlisted > 0; });
}

void resize(Grouped& g, std::size_t rows, const Comparison& c, bool with_series, bool keyed) {
  resize_on_all_cores(g.rows, rows);
  if (keyed) g.cumulative.resize(rows);
  for_each_block(rows, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) g.rows[r].key = static_cast<std::uint32_t>(r);
  });
  if (!with_series) return;
  g.series_length = c.sides.size();
  g.series = SeriesValues(rows, g.series_length, known_values(c), any_unlisted(c));
  if (c.bridged > 0 || c.held > 0) g.series.allow_unknown();
  if (!keyed || !c.has_objects) return;
  g.object_series = SeriesValues(rows, g.series_length, known_values(c));
  g.object_place.resize(rows);
  for (std::size_t r = 0; r < rows; ++r) g.object_place[r] = static_cast<std::uint32_t>(r);
}

/// Leaves the rows alone for which is_kept(row), with all that is known of them.
template <class IsKept>
void keep_rows(Grouped& g, IsKept is_kept) {
  std::size_t rows = 0;
  for (std::size_t k = 0; k < g.rows.size(); ++k) {
    if (!is_kept(k)) continue;
    g.rows[rows] = g.rows[k];
    g.rows[rows].key = static_cast<std::uint32_t>(rows);
    g.cumulative[rows] = g.cumulative[k];
    if (rows != k) g.keys[rows] = std::move(g.keys[k]);
    for (SeriesValues* series : {&g.series, &g.object_series}) {
      if (!series->empty()) series->move_row(k, rows);
    }
    ++rows;
  }
  g.rows.resize(rows);
  g.cumulative.resize(rows);
  g.keys.resize(rows);
  if (!g.object_series.empty()) g.object_place.resize(rows);
  for (SeriesValues* series : {&g.series, &g.object_series}) {
    if (!series->empty()) series->cut(rows);
  }
}

/// Rows by stack whose objects are kept.
void choose_objects(Grouped& g, const Comparison& c, std::optional<double> wanted) {
  double largest = 0, most_objects = 0;
  for (const Side& side : c.sides) {
    largest = std::max(largest, std::abs(static_cast<double>(side.total)));
    most_objects = std::max(most_objects, std::abs(static_cast<double>(side.total_objects)));
  }
  const double floor = wanted ? *wanted : kFloorShare * largest;
  g.object_place.assign(g.rows.size(), GrowthReport::kNoPlace);
  std::uint32_t places = 0;
  for (std::size_t r = 0; r < g.rows.size(); ++r) {
    const auto [low, high] = g.series.range(r);
    const double range = static_cast<double>(high) - static_cast<double>(low);
    // Many small objects weigh little and say much: types of an object graph are known by their number.
    const double objects = std::abs(static_cast<double>(g.rows[r].objects.growth()));
    const bool counts = objects > 0 && objects >= kFloorShare * most_objects;
    if (range >= floor || counts) g.object_place[r] = places++;
  }
  g.object_series = SeriesValues(places, g.series_length, known_values(c));
}

/// Calls fill(adder, s) for each side, in turn or, where rows are kept whole, for several at once: they write to
/// different places. Once more where the series asks for it.
template <class Fill>
void fill_series(const Comparison& c, SeriesValues& series, Adder& adder, Fill fill) {
  constexpr std::size_t kTogether = 8;  // values of a row that share a line of the cache
  series.fill_by([&] {
    const std::size_t block_size = series.takes_any_order() ? kTogether : c.sides.size();
    std::vector<Adder> adders((c.sides.size() + block_size - 1) / block_size);
    for_each_parallel(adders.size(), known_values(c), [&](std::size_t block) {
      Adder own;
      const std::size_t end = std::min(c.sides.size(), (block + 1) * block_size);
      for (std::size_t s = block * block_size; s < end; ++s) fill(own, s);
      adders[block] = own;
    });
    for (const Adder& other : adders) adder.join(other);
  });
}

/// One row for each unit, in this order.
void add_units(const Comparison& c, std::span<const std::uint32_t> order, Grouped& g, Adder& adder) {
  std::vector<Adder> adders(blocks_of(g.rows.size()));
  for_each_block(g.rows.size(), [&](std::size_t block, std::size_t begin, std::size_t end) {
    Adder& own = adders[block];
    for (std::size_t r = begin; r < end; ++r) {
      const std::uint32_t u = order[r];
      GrowthRow& row = g.rows[r];
      row.key = u;
      row.value = c.values[u].value;
      row.objects = c.values[u].objects;
      row.error = c.variance_of(u);
      row.sample = c.values[u].variance;
      row.tier = c.tier[u];
      own.add_growth(row.grew, row.shrank, row.value);
      own.check(row.objects);
    }
  });
  for (const Adder& other : adders) adder.join(other);
}

/// Rows of several units each.
void add_merged_units(const Comparison& c, std::span<const std::uint32_t> row_of_unit, Grouped& g, Adder& adder) {
  for (std::size_t u = 0; u < c.unit_count(); ++u) {
    GrowthRow& row = g.rows[row_of_unit[u]];
    const UnitValue& value = c.values[u];
    adder.add(row.value, value.value);
    adder.add(row.objects, value.objects);
    row.error += c.variance_of(u);
    row.sample += value.variance;
    weaken(row.tier, tier_of(c, c.row_of(u), u));
  }
  for (GrowthRow& row : g.rows) {
    adder.add_growth(row.grew, row.shrank, row.value);
    adder.check(row.objects);
  }
}

std::vector<std::uint32_t> order_units(const Comparison& c) {
  RowKeys keys;
  keys.resize(c.options.sort, c.unit_count());
  for_each_block(c.unit_count(), [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t u = begin; u < end; ++u) {
      Adder own;  // growth that does not fit has no key; add_units() refuses it
      own.check(c.values[u].value);
      own.check(c.values[u].objects);
      if (own.fits()) keys.set(c.options.sort, u, c.values[u].value, c.values[u].objects);
    }
  });
  return order_stacks(c, keys, c.frames);
}

Grouped by_stack(const Comparison& c, const SeriesOf& series, Adder& adder) {
  Grouped g;
  g.sorted = c.row_of_unit.empty();
  std::vector<std::uint32_t> order, row_of_unit;
  if (g.sorted) {
    g.unit.resize(c.unit_count());
    std::iota(g.unit.begin(), g.unit.end(), 0U);
    order = order_units(c);
  } else {
    row_of_unit.resize(c.unit_count());
    for (std::uint32_t u = 0; u < c.unit_count(); ++u) {
      if (c.row_of(u) != u) continue;
      row_of_unit[u] = static_cast<std::uint32_t>(g.unit.size());
      g.unit.push_back(u);
    }
  }
  if (g.unit.size() >= kParallelStacks) give_free_memory_back();  // of the sorting, and of how the sides were joined
  resize(g, g.unit.size(), c, series.wanted, false);
  if (g.sorted) {
    add_units(c, order, g, adder);
  } else {
    for (std::size_t u = 0; u < c.unit_count(); ++u) row_of_unit[u] = row_of_unit[c.row_of(u)];
    add_merged_units(c, row_of_unit, g, adder);
  }
  if (!series.wanted) return g;
  if (g.sorted) {
    row_of_unit.resize(c.unit_count());
    for (std::uint32_t r = 0; r < order.size(); ++r) row_of_unit[order[r]] = r;
  }
  const auto row_of = [&](std::size_t u) { return row_of_unit[u]; };
  fill_series(c, g.series, adder, [&](Adder& own, std::size_t s) {
    for (std::size_t entry = 0; entry < c.unit_of_entry[s].size(); ++entry) {
      const std::size_t row = row_of(c.unit_of_entry[s][entry]);
      own.add(g.series, row, s, c.sides[s].value[entry]);
      if (entry >= c.sides[s].stack.size()) g.series.mark_unknown(row, s);
    }
  });
  if (!c.has_objects) return g;
  choose_objects(g, c, series.object_floor);
  fill_series(c, g.object_series, adder, [&](Adder& own, std::size_t s) {
    for (std::size_t entry = 0; entry < c.unit_of_entry[s].size(); ++entry) {
      const std::uint32_t place = g.object_place[row_of(c.unit_of_entry[s][entry])];
      if (place == GrowthReport::kNoPlace) continue;
      own.add(g.object_series, place, s, c.sides[s].objects[entry]);
    }
  });
  return g;
}

/// By what a frame says: flat to the leaf's key, cumulative once per stack and key.
Grouped by_frame(const Comparison& c, GroupBy by, bool with_series, Adder& adder) {
  FrameKeys keys(c.dictionaries, by);
  if (by == GroupBy::function) keys.rename(c.renamed);
  Grouped g;
  resize(g, keys.size(), c, with_series, true);
  const std::vector<std::uint8_t> large = in_large_rows(c);
  std::vector<Part> flat, cumulative;  // of rows of several units, whose growth is a net over them
  std::vector<std::uint32_t> last_seen(keys.size(), kNoUnit);
  std::vector<std::uint32_t> leaf(c.unit_count(), kNoUnit);
  for (std::size_t u = 0; u < c.unit_count(); ++u) {
    const VisibleFrames& frames = c.frames[u];
    if (frames.size == 0) continue;
    const UnitValue& unit = c.values[u];
    const std::uint32_t row = c.row_of(u);
    const bool alone = large.empty() || large[row] == 0;
    leaf[u] = keys.key(frames.dictionary, frames.data[0]);
    GrowthRow& at_leaf = g.rows[leaf[u]];
    adder.add(at_leaf.value, unit.value);
    adder.add(at_leaf.objects, unit.objects);
    at_leaf.error += c.variance_of(u);
    at_leaf.sample += unit.variance;
    weaken(at_leaf.tier, tier_of(c, row, u));
    if (alone) {
      adder.add_growth(at_leaf.grew, at_leaf.shrank, unit.value);
    } else {
      flat.push_back({row, leaf[u], unit.value, unit.objects});
    }
    for (const FrameId frame : frames.frames()) {
      const std::uint32_t key = keys.key(frames.dictionary, frame);
      if (last_seen[key] == u) continue;
      last_seen[key] = static_cast<std::uint32_t>(u);
      CumulativeChange& sum = g.cumulative[key];
      adder.add(sum.value, unit.value);
      adder.add(sum.objects, unit.objects);
      if (alone) {
        adder.add_growth(sum.grew, sum.shrank, unit.value);
      } else {
        cumulative.push_back({row, key, unit.value, unit.objects});
      }
    }
  }
  merge_parts(flat, adder);
  for (const Part& part : flat) adder.add_growth(g.rows[part.key].grew, g.rows[part.key].shrank, part.value);
  merge_parts(cumulative, adder);
  for (const Part& part : cumulative) {
    adder.add_growth(g.cumulative[part.key].grew, g.cumulative[part.key].shrank, part.value);
  }
  for (std::size_t k = 0; k < g.rows.size(); ++k) {
    adder.check(g.rows[k].objects);
    adder.check(g.cumulative[k].objects);
  }
  if (with_series) {
    fill_series(c, g.series, adder, [&](Adder& own, std::size_t s) {
      for (std::size_t entry = 0; entry < c.unit_of_entry[s].size(); ++entry) {
        const std::uint32_t key = leaf[c.unit_of_entry[s][entry]];
        own.add(g.series, key, s, c.sides[s].value[entry]);
        if (entry >= c.sides[s].stack.size()) g.series.mark_unknown(key, s);
      }
    });
  }
  if (with_series && c.has_objects) {
    fill_series(c, g.object_series, adder, [&](Adder& own, std::size_t s) {
      for (std::size_t entry = 0; entry < c.unit_of_entry[s].size(); ++entry)
        own.add(g.object_series, leaf[c.unit_of_entry[s][entry]], s, c.sides[s].objects[entry]);
    });
  }

  // Keys of frames that no visible stack of these snapshots holds are no rows.
  const auto is_seen = [&](std::size_t k) { return last_seen[k] != kNoUnit; };
  g.keys.resize(keys.size());
  for (std::uint32_t k = 0; k < keys.size(); ++k) {
    if (is_seen(k)) g.keys[k] = keys.text(k);
  }
  keep_rows(g, is_seen);
  return g;
}

/// The key of each label set of a dictionary: the values of one label, or what says that it is missing.
std::vector<std::uint32_t> label_keys(const Dictionary& d, const std::string& label,
                                      std::unordered_map<std::string, std::uint32_t, KeyedHash>& known,
                                      std::vector<std::string>& texts) {
  std::vector<std::uint32_t> keys;
  for (std::size_t set = 0; set < d.labels.size(); ++set) {
    const std::string text = label_text(d, LabelSetId{static_cast<std::uint32_t>(set)}, label);
    const auto [entry, added] = known.try_emplace(text, static_cast<std::uint32_t>(texts.size()));
    if (added) texts.push_back(text);
    keys.push_back(entry->second);
  }
  return keys;
}

Grouped by_label(const Comparison& c, const std::string& label, bool with_series, Adder& adder) {
  std::unordered_map<std::string, std::uint32_t, KeyedHash> known;
  Grouped g;
  std::vector<std::vector<std::uint32_t>> keys;
  for (const auto& dictionary : c.dictionaries)
    keys.push_back(label_keys(dictionary->dictionary(), label, known, g.keys));
  resize(g, g.keys.size(), c, with_series, true);
  std::vector<Part> parts;
  std::vector<std::uint8_t> used(g.keys.size(), 0);
  // visit(row, key, value, objects) for each row of a side that is not empty.
  const auto for_each_row = [&](std::size_t s, auto visit) {
    const Side& side = c.sides[s];
    for (std::size_t r = 0; r < side.entry_of_row.size(); ++r) {
      if (side.entry_of_row[r] == Side::kNoEntry) continue;
      const std::int64_t value = side.columns.value->value[r];
      const std::int64_t objects = side.columns.objects != nullptr ? side.columns.objects->value[r] : 0;
      if (value != 0 || objects != 0)
        visit(r, keys[side.dictionary][index_of(side.ref.snapshot->samples.labels[r])], value, objects);
    }
  };
  for (std::size_t s = 0; s < c.sides.size(); ++s) {
    const Side& side = c.sides[s];
    const bool first = s == 0;
    const bool last = s + 1 == c.sides.size();
    for_each_row(s, [&](std::size_t r, std::uint32_t key, std::int64_t value, std::int64_t objects) {
      const std::uint32_t u = c.unit_of_entry[s][side.entry_of_row[r]];
      Part part{c.row_of(u), key, {}, {}, 0};
      if (first) part.value.baseline = value, part.objects.baseline = objects;
      if (last) part.value.current = value, part.objects.current = objects;
      if (first || last) part.variance = row_variance(side, r);
      used[key] = 1;
      weaken(g.rows[key].tier, tier_of(c, part.row, u));
      if (first || last) parts.push_back(part);
    });
  }
  if (with_series) {
    fill_series(c, g.series, adder, [&](Adder& own, std::size_t s) {
      for_each_row(s, [&](std::size_t, std::uint32_t key, std::int64_t value, std::int64_t) {
        own.add(g.series, key, s, value);
      });
    });
  }
  if (with_series && c.has_objects) {
    fill_series(c, g.object_series, adder, [&](Adder& own, std::size_t s) {
      for_each_row(s, [&](std::size_t, std::uint32_t key, std::int64_t, std::int64_t objects) {
        own.add(g.object_series, key, s, objects);
      });
    });
  }
  merge_parts(parts, adder);
  for (const Part& part : parts) {
    GrowthRow& row = g.rows[part.key];
    adder.add(row.value, part.value);
    adder.add(row.objects, part.objects);
    adder.add_growth(row.grew, row.shrank, part.value);
    row.error += part.variance;
    row.sample += part.variance;
  }
  for (std::size_t k = 0; k < g.rows.size(); ++k) {
    const GrowthRow& row = g.rows[k];
    adder.check(row.objects);
    g.cumulative[k] = {row.value, row.objects, row.grew, row.shrank};
  }
  keep_rows(g, [&](std::size_t k) { return used[k] != 0; });
  return g;
}

/// An absent value is unknown where the list may leave out as much as its neighbours hold. Beside larger ones it is 0:
/// the rows came or went, whatever is left of them.
void mark_unlisted(const Comparison& c, SeriesValues& series) {
  if (!any_unlisted(c) || series.sparse()) return;
  if (!series.has_unknown()) series.allow_unknown();
  const std::size_t length = series.length();
  std::vector<std::int64_t> next(length + 1);  // the value listed at or after each step; 0: none
  for (std::size_t row = 0; row < series.rows(); ++row) {
    for (std::size_t s = length; s-- > 0;) {
      const std::int64_t value = series.at(row, s);
      next[s] = value != 0 ? value : next[s + 1];
    }
    std::int64_t before = 0;
    for (std::size_t s = 0; s < length; ++s) {
      const std::int64_t most = c.sides[s].unlisted;
      const auto is_hidden = [&](std::int64_t neighbour) { return neighbour != 0 && neighbour <= most; };
      const std::int64_t value = series.at(row, s);
      if (value != 0) {
        before = value;
      } else if (is_hidden(before) || is_hidden(next[s])) {
        series.mark_unknown(row, s);
      }
    }
  }
}

RowClass class_of(const Change& value) {
  if (value.baseline == value.current) return RowClass::same;
  if (value.baseline == 0) return RowClass::added;
  if (value.current == 0) return RowClass::gone;
  return value.current > value.baseline ? RowClass::grew : RowClass::shrank;
}

}  // namespace

std::vector<std::uint32_t> order_stacks(const Comparison& c, const RowKeys& keys,
                                        std::span<const VisibleFrames> stacks) {
  std::once_flag once;
  std::optional<FrameOrder> by_text;
  return order_rows(keys, [&](std::span<std::uint32_t> ties) {
    std::call_once(once, [&] { by_text.emplace(c.dictionaries); });
    by_text->sort(ties, stacks);
  });
}

Result<Grouped> group(const Comparison& c, GroupBy by, const SeriesOf& series) {
  const bool with_series = series.wanted;
  Adder adder;
  Grouped g;
  switch (by) {
    case GroupBy::stack: g = by_stack(c, series, adder); break;
    case GroupBy::type: g = by_label(c, "type", with_series, adder); break;
    case GroupBy::label: g = by_label(c, c.options.label_key, with_series, adder); break;
    default: g = by_frame(c, by, with_series, adder); break;
  }
  if (Status fits = adder.status(c); !fits) return std::move(fits).error();
  for_each_block(g.rows.size(), [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) g.rows[r].row_class = class_of(g.rows[r].value);
  });
  for (GrowthRow& row : g.rows) {
    if (c.sides.front().unlisted == 0 && c.sides.back().unlisted == 0) break;
    const auto add_unlisted = [&](std::int64_t value, const Side& side) {
      const auto most = static_cast<double>(side.unlisted);
      if (value == 0) row.error += most * most;
    };
    add_unlisted(row.value.baseline, c.sides.front());
    add_unlisted(row.value.current, c.sides.back());
  }
  if (with_series) mark_unlisted(c, g.series);
  return g;
}

}  // namespace snapdiff::diff
