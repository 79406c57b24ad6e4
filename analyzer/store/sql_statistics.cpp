#include <algorithm>
#include <cmath>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "analyzer/store/sql_tables.hpp"
#include "analyzer/store/virtual_table.hpp"

namespace snapdiff::store {
namespace {

/// Both look at every pair of points: 12.5 million of them.
constexpr std::size_t kMostPoints = 5000;

struct Point {
  double x;
  double y;
};
using Points = std::vector<Point>;

/// The points of one group: SQLite zeroes the place for the pointer.
Points*& points_of(sqlite3_context* context) {
  return *static_cast<Points**>(sqlite3_aggregate_context(context, sizeof(Points*)));
}

void fail_with(sqlite3_context* context, int code, const char* message) {
  sqlite3_result_error(context, message, -1);
  sqlite3_result_error_code(context, code);
}

void add_point(sqlite3_context* context, int /*count*/, sqlite3_value** values) {
  if (sqlite3_value_numeric_type(values[0]) == SQLITE_NULL || sqlite3_value_numeric_type(values[1]) == SQLITE_NULL)
    return;
  if (sqlite3_aggregate_context(context, sizeof(Points*)) == nullptr) return sqlite3_result_error_nomem(context);
  const Point point{sqlite3_value_double(values[0]), sqlite3_value_double(values[1])};
  if (!std::isfinite(point.x) || !std::isfinite(point.y)) return;
  try {
    Points*& points = points_of(context);
    if (points == nullptr) points = new Points;
    if (points->size() == kMostPoints)
      return fail_with(context, SQLITE_ERROR, "too many points: expected at most 5000");
    points->push_back(point);
  } catch (const std::bad_alloc&) {
    sqlite3_result_error_nomem(context);
  }
}

/// Takes the points over, by x.
std::unique_ptr<Points> take_points(sqlite3_context* context) {
  void* const place = sqlite3_aggregate_context(context, 0);
  std::unique_ptr<Points> points(place == nullptr ? nullptr : std::exchange(*static_cast<Points**>(place), nullptr));
  if (points != nullptr)
    std::stable_sort(points->begin(), points->end(), [](const Point& a, const Point& b) { return a.x < b.x; });
  return points;
}

/// Median of the slopes between all pairs of points (algorithms.md section 3). NULL without two
/// different x.
void finish_theil_sen(sqlite3_context* context) {
  try {
    const std::unique_ptr<Points> points = take_points(context);
    if (points == nullptr) return;
    std::vector<double> slopes;
    for (std::size_t j = 1; j < points->size(); ++j) {
      for (std::size_t i = 0; i < j; ++i) {
        const double distance = (*points)[j].x - (*points)[i].x;
        if (distance > 0) slopes.push_back(((*points)[j].y - (*points)[i].y) / distance);
      }
    }
    if (slopes.empty()) return;
    const auto middle = slopes.begin() + static_cast<std::ptrdiff_t>(slopes.size() / 2);
    std::nth_element(slopes.begin(), middle, slopes.end());
    double median = *middle;
    if (slopes.size() % 2 == 0) median = (median + *std::max_element(slopes.begin(), middle)) / 2;
    sqlite3_result_double(context, median);
  } catch (const std::bad_alloc&) {
    sqlite3_result_error_nomem(context);
  }
}

/// One-sided p of "y rises with x" by the normal approximation with tied values corrected. NULL below
/// three points. Alone it does not show a leak: a warming cache passes it.
void finish_mann_kendall(sqlite3_context* context) {
  const std::unique_ptr<Points> points = take_points(context);
  if (points == nullptr || points->size() < 3) return;
  std::int64_t s = 0;
  for (std::size_t j = 1; j < points->size(); ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      if ((*points)[j].x > (*points)[i].x)
        s += ((*points)[j].y > (*points)[i].y ? 1 : 0) - ((*points)[j].y < (*points)[i].y ? 1 : 0);
    }
  }
  const auto spread = [](double n) { return n * (n - 1) * (2 * n + 5); };
  std::stable_sort(points->begin(), points->end(), [](const Point& a, const Point& b) { return a.y < b.y; });
  double variance = spread(static_cast<double>(points->size()));
  for (std::size_t i = 0; i < points->size();) {
    std::size_t j = i + 1;
    while (j < points->size() && (*points)[j].y == (*points)[i].y) ++j;
    variance -= spread(static_cast<double>(j - i));
    i = j;
  }
  variance /= 18;
  const double one = s > 0 ? 1 : s < 0 ? -1 : 0;
  const double z = variance > 0 ? (static_cast<double>(s) - one) / std::sqrt(variance) : 0;
  sqlite3_result_double(context, std::erfc(z / std::sqrt(2.0)) / 2);
}

void register_aggregate(sqlite3* db, const char* name, void (*finish)(sqlite3_context*)) {
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  const int code = sqlite3_create_function_v2(db, name, 2, kFlags, nullptr, nullptr, add_point, finish, nullptr);
  if (code != SQLITE_OK) throw Failure{sqlite_error(db, code)};
}

}  // namespace

void register_statistics(sqlite3* db) {
  register_aggregate(db, "theil_sen", finish_theil_sen);
  register_aggregate(db, "mann_kendall", finish_mann_kendall);
}

}  // namespace snapdiff::store
