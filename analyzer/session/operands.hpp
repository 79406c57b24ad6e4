#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "snapdiff/result.hpp"

/// What the words after a command mean (product.md section 3, "Operands"). Grammar only; whether a
/// stored snapshot exists is for load.hpp.
namespace snapdiff::session {

/// A file, a directory or "-"; `point` is what stood after the last @ ("first", "peak", "3"), "".
struct PathOperand {
  std::string path;
  std::string point;
  bool is_directory = false;
};
/// @N, or @first, @last, @prev of the newest series (`word`); `point` as of a path: @3@peak.
struct StoredOperand {
  std::int64_t id = 0;
  std::string word;
  std::string point;
};
/// @A..@B: all stored ids from A to B.
struct RangeOperand {
  std::int64_t from = 0;
  std::int64_t to = 0;
};
/// SERIES: all of a series. SERIES#N: the N-th from 1; negative from the end. SERIES#N..#M: all from one to the other.
/// `point` as of a path.
struct SeriesOperand {
  std::string series;
  std::int64_t position = 0;  ///< 0: the whole series
  std::int64_t last = 0;      ///< of a range; 0: none
  std::string point;
};
/// label:K=V: all stored snapshots with that label.
struct LabelOperand {
  std::string key;
  std::string value;
};

struct Operand {
  std::string text;  ///< as the user gave it
  std::variant<PathOperand, StoredOperand, RangeOperand, SeriesOperand, LabelOperand> what;
  bool is_path() const { return std::holds_alternative<PathOperand>(what); }
};

/// Whether it names a series and no place in it. What is neither a path nor a reference is taken for one: only the
/// store knows.
bool is_whole_series(const Operand& operand);

/// "; did you mean heap.0001?" to end a message about a file that is not there with, where its folder holds a name like
/// that; else "".
std::string near_file(const std::string& text);

/// A series by its name, also where a path has the same.
Operand series_operand(const std::string& name);

/// An existing path wins over every other reading. Errors: usage, for what begins like a reference and is not one.
Result<Operand> parse_operand(const std::string& text);

Result<std::vector<Operand>> parse_operands(const std::vector<std::string>& texts);

}  // namespace snapdiff::session
