#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/diff/rebuild/code.hpp"
#include "analyzer/diff/rebuild/row_union.hpp"

namespace snapdiff::diff::rebuild {

/// What a row holds on both sides, in bytes and objects; 0 where a side does not have it.
struct Amounts {
  double bytes_before = 0, bytes_after = 0;
  double objects_before = 0, objects_after = 0;
  std::uint32_t stacks_before = 0, stacks_after = 0;
  bool of_sites = false;  ///< of several sites that no line distinguishes: a mean size is that of none of them

  /// One more stack.
  void add(bool after, double bytes, double objects) {
    (after ? bytes_after : bytes_before) += bytes;
    (after ? objects_after : objects_before) += objects;
    ++(after ? stacks_after : stacks_before);
  }
  Amounts mirrored() const {
    return {bytes_after, bytes_before, objects_after, objects_before, stacks_after, stacks_before, of_sites};
  }
  bool on_both_sides() const { return objects_before > 0 && objects_after > 0; }
  /// Of a row that both sides have.
  double size_before() const { return bytes_before / objects_before; }
  double size_after() const { return bytes_after / objects_after; }
  /// How much the number of objects changed: the absolute value of a logarithm.
  double moved() const;
  /// Whether the objects have another size now, or their number changed so much that it needs an explanation.
  bool changed() const;
  /// The same where several rows together may need one.
  bool perhaps_changed() const;
};

/// A row, and on each side the heaviest of its entries; kNone where the side does not have the row.
struct RowAmounts : Amounts {
  std::uint32_t unit = 0;
  std::uint32_t entry_before = kNone, entry_after = kNone;
};

/// The rows of the sides `s` and `s` + 1 that hold objects, by unit. Asks for counts of objects on both.
std::vector<RowAmounts> amounts_of_rows(const Comparison& c, std::size_t s, const RowUnion& rows);

/// The order of rows by what they hold on both sides, the heaviest first.
bool heavier(const RowAmounts& x, const RowAmounts& y);

/// How much of two rows that both sides have is left to be explained: if each is what it was, and if each holds now
/// what the other one held. The same backwards in time.
struct Exchange {
  double stayed = 0, exchanged = 0;
  bool clear() const;           ///< they changed places
  bool clearly_stayed() const;  ///< they did not
  Exchange& operator+=(const Exchange& other) {
    stayed += other.stayed;
    exchanged += other.exchanged;
    return *this;
  }
};
Exchange explain(const Amounts& x, const Amounts& y);

/// Whether two rows that both sides have changed places; of the second one by the sizes of their objects alone, which
/// have to be the same.
bool exchanged(const Amounts& x, const Amounts& y);
bool exchanged_sizes(const Amounts& x, const Amounts& y);

/// Whether what `x` held before is what `y` holds now, which only the newer side has, far rather than what `x` itself
/// holds now: about as many objects of that size, or of one that grew a little.
bool went_on_alone(const Amounts& x, const Amounts& y);

/// Whether what `x` held before is what `to` holds now, which only the newer side has, and what it holds now is what
/// `from` held before, which only the older side has: far rather than that it is one row.
bool went_apart(const Amounts& x, const Amounts& from, const Amounts& to);

/// Whether stacks of one of two rows went on in the other: they changed places, or both together hold about as many
/// objects as before while the one that both sides have does not. Of a row of each side alone: they hold as much.
enum class Vote : std::uint8_t { none, yes, no };
Vote went_on(const Amounts& x, const Amounts& y);

/// Whether a part of what `x` held before, a row of several stacks, may be what `y` holds now, which only the newer
/// side has: objects of about that size, where `x` has lost a stack, or both together hold about as many as before.
bool went_on_in_part(const Amounts& x, const Amounts& y);

}  // namespace snapdiff::diff::rebuild
