#pragma once

#include <cmath>

#include "formats/json/json_scanner.hpp"
#include "formats/text/scan.hpp"

namespace snapdiff::formats::torch_cuda {

/// Consumes a number, whole or not, and rounds it down. Throws Failure for another value, and beyond 2^63.
inline std::int64_t floored_number(json::JsonScanner& json) {
  if (json.kind() != json::Kind::number) json.unexpected("a number");
  const std::uint64_t start = json.offset();
  const std::string_view text = json.number_text();
  std::int64_t value = 0;
  if (text::parse_whole(text, value)) return value;
  double real = 0;
  if (!text::parse_whole(text, real) || !(std::fabs(real) < 9e18))
    fail_malformed("'" + std::string(text) + "' is no number below 2^63", start);
  return static_cast<std::int64_t>(std::floor(real));
}

/// At most so many snapshots of one timeline: the fullest moment of each stretch, and the last.
inline constexpr std::size_t kMostTimelinePoints = 2000;

/// Times below are no dates: microseconds since 1970 that late are after 2001.
inline constexpr std::int64_t kFirstDateUs = 1'000'000'000'000'000;

/// Keeps the fullest moment of each stretch; stretches double when there are too many. Points have `number` (of the
/// moment) and `total`.
template <class Point>
class Thinner {
 public:
  /// Keeps at most `most` moments, 2 or more.
  explicit Thinner(std::size_t most = kMostTimelinePoints) : most_(most) {}

  void add(const Point& point) {
    last_ = point;
    ++count_;
    if (!points_.empty() && in_stretch_ < stretch_) {
      if (point.total > points_.back().total) points_.back() = point;
      ++in_stretch_;
      return;
    }
    if (points_.size() == 2 * most_) {
      for (std::size_t i = 0; i < most_; ++i) {
        Point& a = points_[2 * i];
        Point& b = points_[2 * i + 1];
        points_[i] = Point(b.total > a.total ? b : a);
      }
      points_.resize(most_);
      stretch_ *= 2;
    }
    points_.push_back(point);
    in_stretch_ = 1;
  }
  std::uint64_t count() const { return count_; }
  /// The last moment among them.
  std::vector<Point> finish() {
    while (points_.size() > most_ - 1) {
      std::vector<Point> half;
      for (std::size_t i = 0; i < points_.size(); i += 2)
        half.push_back(i + 1 < points_.size() && points_[i + 1].total > points_[i].total ? points_[i + 1] : points_[i]);
      points_ = std::move(half);
    }
    if (last_ && (points_.empty() || points_.back().number != last_->number)) points_.push_back(*last_);
    return std::move(points_);
  }

 private:
  std::size_t most_;
  std::vector<Point> points_;
  std::optional<Point> last_;
  std::uint64_t count_ = 0;
  std::uint64_t stretch_ = 1;
  std::uint64_t in_stretch_ = 0;
};

}  // namespace snapdiff::formats::torch_cuda
