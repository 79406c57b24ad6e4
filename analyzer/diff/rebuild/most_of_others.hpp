#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace snapdiff::diff::rebuild {

/// For each cell of a table, the largest other value in its row and in its column.
class MostOfOthers {
 public:
  template <class ValueOfCell>
  MostOfOthers(std::size_t rows, std::size_t columns, double least, ValueOfCell value)
      : in_row_(rows, Two{least, least}), in_column_(columns, Two{least, least}) {
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < columns; ++j) {
        const double v = value(i * columns + j);
        in_row_[i].add(v, j);
        in_column_[j].add(v, i);
      }
    }
  }

  double beside(std::size_t i, std::size_t j) const { return std::max(in_row_[i].but(j), in_column_[j].but(i)); }

 private:
  struct Two {
    double most = 0, second = 0;
    std::size_t at = std::numeric_limits<std::size_t>::max();

    void add(double value, std::size_t index) {
      if (value > most) {
        second = most;
        most = value;
        at = index;
      } else {
        second = std::max(second, value);
      }
    }
    double but(std::size_t index) const { return index == at ? second : most; }
  };
  std::vector<Two> in_row_, in_column_;
};

}  // namespace snapdiff::diff::rebuild
