#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "snapdiff/series_values.hpp"

namespace snapdiff {
namespace {

constexpr std::size_t kRows = 3400;
constexpr std::size_t kLength = 2900;

/// The same values in three forms: kept whole, as changes, and sparse.
struct Forms {
  SeriesValues whole{kRows, kLength, kRows* kLength, true};
  SeriesValues changes{kRows, kLength, kRows* kLength};
  SeriesValues sparse{kRows, kLength, 0};
  std::array<SeriesValues*, 3> all() { return {&whole, &changes, &sparse}; }
};

void fill(SeriesValues& table) {
  table.allow_unknown();
  table.fill_by([&] {
    std::mt19937 random(5);
    const auto below = [&](std::size_t end) { return std::uniform_int_distribution<std::size_t>(0, end - 1)(random); };
    for (std::size_t step = 0; step < kLength; ++step) {
      for (int i = 0; i < 4; ++i) {
        const std::size_t row = below(4) == 0 ? below(kRows) : below(5);  // some rows have many values, most have few
        const std::int64_t value = static_cast<std::int64_t>(below(2000)) - 1000;
        const bool unknown = below(5) == 0;
        REQUIRE(table.add(row, step, value));
        if (unknown) table.mark_unknown(row, step);
      }
      REQUIRE(table.add(kRows - 1, step, static_cast<std::int64_t>(step / 100)));  // seldom changes
    }
  });
}

void check_equal(const SeriesValues& a, const SeriesValues& b) {
  REQUIRE(a.rows() == b.rows());
  REQUIRE(a.length() == b.length());
  std::vector<std::int64_t> scratch_a, scratch_b;
  std::vector<std::uint8_t> known_a, known_b;
  std::size_t different = 0;
  for (std::size_t row = 0; row < a.rows(); ++row) {
    const auto x = a.row(row, scratch_a);
    const auto y = b.row(row, scratch_b);
    a.known_row(row, known_a);
    b.known_row(row, known_b);
    const auto range_a = a.range(row), range_b = b.range(row);
    const bool equal = std::equal(x.begin(), x.end(), y.begin(), y.end()) && known_a == known_b &&
                       range_a.least == range_b.least && range_a.most == range_b.most;
    different += equal ? 0U : 1U;
  }
  CHECK(different == 0);
  for (const std::size_t row : {std::size_t{0}, std::size_t{2}, a.rows() - 1}) {
    for (std::size_t step = 0; step < a.length(); ++step) {
      REQUIRE(a.at(row, step) == b.at(row, step));
      REQUIRE(a.known(row, step) == b.known(row, step));
    }
  }
}

}  // namespace

TEST_CASE("series values: all forms hold the same, through moves, cuts and another order") {
  Forms forms;
  for (SeriesValues* table : forms.all()) fill(*table);
  REQUIRE_FALSE(forms.whole.keeps_changes());
  REQUIRE(forms.changes.keeps_changes());
  REQUIRE_FALSE(forms.changes.sparse());
  REQUIRE(forms.sparse.sparse());
  CHECK(forms.whole.whole_rows() == kRows);
  CHECK(forms.changes.whole_rows() == kRows);
  CHECK(forms.sparse.whole_rows() < kRows);
  CHECK(forms.sparse.whole_rows() * kLength >= SeriesValues::kFree);
  const auto check_all = [&] {
    check_equal(forms.whole, forms.changes);
    check_equal(forms.whole, forms.sparse);
  };
  check_all();

  std::vector<std::uint32_t> order(kRows);
  std::iota(order.begin(), order.end(), 0U);
  std::shuffle(order.begin(), order.end(), std::mt19937(7));
  const std::vector<std::int64_t> first = forms.whole.values(order[0]);
  for (SeriesValues* table : forms.all()) {
    table->permute(order);
    CHECK(table->values(0) == first);
    table->move_row(17, 2);
    table->cut(1000);
  }
  check_all();
  const std::vector<std::uint32_t> some = {2, 900, 2};
  check_equal(forms.whole.only(some), forms.changes.only(some));
  CHECK(forms.changes.only(some).values(1) == forms.whole.values(900));
  std::vector<std::int64_t> sums(kLength, 0), of_changes(kLength, 0);
  forms.whole.sum_up(some, sums);
  forms.changes.sum_up(some, of_changes);
  CHECK(sums == of_changes);
}

TEST_CASE("series values: rows are kept whole where changes would take more") {
  SeriesValues table(kRows, kLength, kRows * kLength);
  table.fill_by([&] {
    for (std::size_t step = 0; step < kLength; ++step) {
      for (std::size_t row = 0; row < kRows; ++row)
        (void)table.add(row, step, static_cast<std::int64_t>(step * kRows + row));
    }
  });
  REQUIRE_FALSE(table.keeps_changes());
  CHECK(table.at(7, 5) == 5 * kRows + 7);
}

TEST_CASE("series values: sums of rows, and what does not fit") {
  SeriesValues sparse(kRows, kLength, 0);
  sparse.fill_by([&] {
    REQUIRE(sparse.add(1, 0, 5));
    REQUIRE(sparse.add(2, 0, 7));
    REQUIRE(sparse.add(1, 2899, -1));
  });
  std::vector<double> sums(kLength, 0);
  for (const std::size_t row : {1U, 2U}) sparse.add_to(sums, row);
  CHECK(sums[0] == 12);
  CHECK(sums[1] == 0);
  CHECK(sums[2899] == -1);
  CHECK(sparse.range(1).least == -1);
  CHECK(sparse.range(2).least == 0);  // not there at most snapshots

  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  SeriesValues whole(1, 2, 2), counted(kRows, kLength, 0);
  for (SeriesValues* table : {&whole, &counted}) {
    CHECK(table->add(0, 1, kMost));
    CHECK_FALSE(table->add(0, 1, 1));
  }
}

}  // namespace snapdiff
