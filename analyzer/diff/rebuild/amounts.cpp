#include "analyzer/diff/rebuild/amounts.hpp"

#include <algorithm>
#include <cmath>

namespace snapdiff::diff::rebuild {
namespace {

constexpr double kOtherSize = 2;          // objects of another size weigh as much as seven times as many
constexpr double kGrownSize = 0.3;        // of both rows by the same amount: a type that has new members
constexpr double kMostGrown = 0.25;       // of the smaller size
constexpr double kClear = 0.6;            // by which the exchange explains more
constexpr double kNothing = 0.15;         // an exchange that leaves less to be explained
constexpr double kClearToNothing = 0.35;  // has to explain this much more
constexpr double kChanged = 0.2;          // of the number of objects: less needs no explanation
constexpr double kMoved = 0.1;            // unless others that changed with it need one
constexpr double kFew = 2;                // objects: as many more or less say little
constexpr double kAsBefore = 0.25;        // of the logarithm of the number of objects: between two runs as many
constexpr double kClearVote = 0.25;       // by which one explanation leaves more than the other
constexpr double kSameBytes = 0.7;        // of the logarithm of the bytes

/// How much the number of objects changed: the absolute value of a logarithm.
double change(double before, double after) { return std::abs(std::log((after + kFew) / (before + kFew))); }

/// How much has to be explained if what `x` held before is what `y` holds now.
double in_count(const Amounts& x, const Amounts& y) {
  return std::min(kOtherSize, std::abs(std::log((y.objects_after + kFew) / (x.objects_before + kFew))));
}

bool grew_little(double before, double after) {
  return std::abs(std::floor(after) - std::floor(before)) <= kMostGrown * std::min(before, after);
}

/// The same of the size of its objects.
double in_size(const Amounts& x, const Amounts& y) {
  if (std::floor(x.size_before()) == std::floor(y.size_after())) return 0;
  return grew_little(x.size_before(), y.size_after()) ? kGrownSize : kOtherSize;
}

/// The same of the sizes of objects, for two rows at once; equal growth of both is one change of a type. Where an
/// allocator rounds sizes up it is not equal any more.
double in_size(double x_before, double x_after, double y_before, double y_after) {
  const double x = std::floor(x_after) - std::floor(x_before), y = std::floor(y_after) - std::floor(y_before);
  if (x == 0 && y == 0) return 0;
  const bool little = grew_little(x_before, x_after) && grew_little(y_before, y_after);
  if (x == y && little) return kGrownSize;
  if (x != 0 && y != 0 && little) return kOtherSize;
  return (x == 0 ? 0 : kOtherSize) + (y == 0 ? 0 : kOtherSize);
}

/// Whether what `x` alone held before may be what `y` alone holds now.
bool continues(const Amounts& x, const Amounts& y) {
  return x.objects_before > 0 && y.objects_after > 0 && in_size(x, y) < kOtherSize && in_count(x, y) <= kAsBefore;
}

/// Whether an entry rather than another one stands for its row: the heavier one, whatever the order of the input.
bool stands_better(const Side& side, std::uint32_t entry, std::uint32_t other) {
  const auto weight = [&side](std::uint32_t one) { return std::abs(static_cast<double>(side.value[one])); };
  if (weight(entry) != weight(other)) return weight(entry) > weight(other);
  return side.identity(entry) < side.identity(other);
}

}  // namespace

double Amounts::moved() const { return change(objects_before, objects_after); }

bool Amounts::changed() const { return std::floor(size_before()) != std::floor(size_after()) || moved() > kChanged; }

bool Amounts::perhaps_changed() const { return changed() || moved() > kMoved; }

std::vector<RowAmounts> amounts_of_rows(const Comparison& c, std::size_t s, const RowUnion& rows) {
  std::vector<RowAmounts> sums(c.unit_count());
  for (const bool after : {false, true}) {
    const Side& side = c.sides[s + (after ? 1 : 0)];
    for (std::uint32_t entry = 0; entry < side.stack.size(); ++entry) {
      RowAmounts& row = sums[rows.find(c.unit_of_entry[s + (after ? 1 : 0)][entry])];
      row.add(after, static_cast<double>(side.value[entry]), static_cast<double>(side.objects[entry]));
      std::uint32_t& stands_for = after ? row.entry_after : row.entry_before;
      if (stands_for == kNone || stands_better(side, entry, stands_for)) stands_for = entry;
    }
  }
  for (std::uint32_t u = 0; u < sums.size(); ++u) sums[u].unit = u;
  std::erase_if(sums, [](const RowAmounts& row) { return row.objects_before <= 0 && row.objects_after <= 0; });
  return sums;
}

bool heavier(const RowAmounts& x, const RowAmounts& y) {
  const double of_x = x.bytes_before + x.bytes_after, of_y = y.bytes_before + y.bytes_after;
  return of_x != of_y ? of_x > of_y : x.unit < y.unit;
}

Exchange explain(const Amounts& x, const Amounts& y) {
  double sizes = in_size(x.size_before(), x.size_after(), y.size_before(), y.size_after());
  double crossed = in_size(x.size_before(), y.size_after(), y.size_before(), x.size_after());
  if ((x.of_sites || y.of_sites) && crossed >= kOtherSize) sizes = crossed = 0;
  return {sizes + in_count(x, x) + in_count(y, y), crossed + in_count(x, y) + in_count(y, x)};
}

bool Exchange::clear() const { return exchanged + (exchanged < kNothing ? kClearToNothing : kClear) < stayed; }

bool Exchange::clearly_stayed() const { return stayed + kClear < exchanged; }

bool exchanged(const Amounts& x, const Amounts& y) { return explain(x, y).clear(); }

bool exchanged_sizes(const Amounts& x, const Amounts& y) {
  return in_size(x.size_before(), y.size_after(), y.size_before(), x.size_after()) < kOtherSize &&
         in_size(x.size_before(), x.size_after(), y.size_before(), y.size_after()) >= kOtherSize && exchanged(x, y);
}

bool went_on_alone(const Amounts& x, const Amounts& y) {
  return y.objects_before == 0 && continues(x, y) &&
         in_size(x, y) + in_count(x, y) + kClear < in_size(x, x) + in_count(x, x);
}

bool went_on_in_part(const Amounts& x, const Amounts& y) {
  return y.objects_before == 0 && y.objects_after > 0 && in_size(x, y) < kOtherSize &&
         (x.stacks_before > x.stacks_after || went_on(x, y) == Vote::yes);
}

bool went_apart(const Amounts& x, const Amounts& from, const Amounts& to) {
  const auto left = [](const Amounts& a, const Amounts& b) { return in_size(a, b) + in_count(a, b); };
  if (from.objects_after != 0 || to.objects_before != 0 || !continues(x, to) || !continues(from, x)) return false;
  if (left(x, to) + left(from, x) + kClearVote < left(x, x)) return true;
  Amounts other = to;  // what would be left over is a row too
  other.bytes_before = from.bytes_before;
  other.objects_before = from.objects_before;
  return exchanged(x, other);
}

Vote went_on(const Amounts& x, const Amounts& y) {
  if (x.on_both_sides() && y.on_both_sides()) {
    if (exchanged(x, y)) return Vote::yes;
    return !x.changed() && !y.changed() ? Vote::no : Vote::none;
  }
  if (!x.on_both_sides() && !y.on_both_sides()) return continues(x, y) || continues(y, x) ? Vote::yes : Vote::none;
  const double together = change(x.objects_before + y.objects_before, x.objects_after + y.objects_after);
  const double apart = x.on_both_sides() ? x.moved() : y.moved();
  const bool bytes = change(x.bytes_before + y.bytes_before, x.bytes_after + y.bytes_after) <= kSameBytes;
  if (bytes && together <= kAsBefore && together + kClearVote <= apart) return Vote::yes;
  return apart + kClearVote <= together ? Vote::no : Vote::none;
}

}  // namespace snapdiff::diff::rebuild
