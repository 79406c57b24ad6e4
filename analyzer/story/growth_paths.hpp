#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/base/inlined_functions.hpp"
#include "snapdiff/growth.hpp"

namespace snapdiff::story {

/// All rows whose stacks run through the same functions of the user's own code: what a library does inside, at which
/// line a call is made, and how deep it recurses make no difference.
struct GrowthPath {
  std::uint32_t first_function = 0, functions = 0;  ///< into GrowthPaths::function
  std::uint32_t first_row = 0, rows = 0;            ///< into GrowthPaths::row
  std::int64_t growth = 0;                          ///< net, of the metric
  double current = 0;                               ///< at the end
  double peak = 0;                                  ///< the most that each of its rows ever held, added up
  double variance = 0;                              ///< of the growth, by sampling; 0 where unknown
};

/// The rows of a report by stack, as paths of own functions: those on which anything changed.
class GrowthPaths {
 public:
  explicit GrowthPaths(const GrowthReport& report);

  const GrowthReport& report() const { return *report_; }
  const std::vector<GrowthPath>& all() const { return paths_; }
  std::size_t size() const { return paths_.size(); }
  const GrowthPath& operator[](std::size_t p) const { return paths_[p]; }

  /// Root first, each once; never empty.
  std::span<const std::uint32_t> functions(const GrowthPath& path) const {
    return {functions_.data() + path.first_function, path.functions};
  }
  bool runs_through(std::uint32_t path, std::uint32_t function) const {
    const auto own = functions(paths_[path]);
    return std::find(own.begin(), own.end(), function) != own.end();
  }

  /// The row's stack lacks this function, which V8 inlined.
  bool is_inlined(std::uint32_t row, std::uint32_t function) const;

  /// A series may end below a high first value and climb all the same: its growth is then its fitted rise.
  void take_rise(std::size_t p, double rise);

  /// Rows of the report, ascending.
  std::span<const std::uint32_t> rows(const GrowthPath& path) const {
    return {rows_.data() + path.first_row, path.rows};
  }

  /// The rows of several paths.
  std::vector<std::uint32_t> rows(std::span<const std::uint32_t> some) const {
    std::vector<std::uint32_t> out;
    for (const std::uint32_t p : some) {
      const auto own = rows(paths_[p]);
      out.insert(out.end(), own.begin(), own.end());
    }
    return out;
  }
  /// Most rows are types or size classes: one frame each, of which a name is all that is known.
  bool are_types() const { return types_; }

  std::size_t function_count() const { return function_count_; }
  /// What went through a function on paths where nothing ever changed, in the metric's unit.
  double level_through(std::uint32_t function) const { return level_[function]; }

 private:
  struct Parted;
  static void part(const GrowthReport& report, Parted& out);
  void read_changed(Parted& parted, std::vector<std::uint32_t>& path_of_row);
  void read_level(const Parted& parted, std::vector<std::uint32_t>& path_of_row);
  void add_up(std::span<const std::uint32_t> path_of_row);

  const GrowthReport* report_;
  std::vector<GrowthPath> paths_;
  std::vector<std::uint32_t> functions_;  ///< in the order of paths, in which they are looked at
  std::vector<std::uint32_t> rows_;
  std::vector<double> level_;  ///< per function
  OwnPaths inlined_;
  std::size_t function_count_ = 0;
  bool types_ = false;
};

}  // namespace snapdiff::story
