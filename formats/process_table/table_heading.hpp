#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/text/quantity.hpp"

namespace snapdiff::formats::process_table {

/// Metrics of a process, in the order of the columns.
inline constexpr std::array<std::string_view, 4> kMetrics = {"rss", "virtual_size", "shared", "swap"};

/// ps, top, pidstat and free count KiB where no suffix stands.
inline constexpr std::uint64_t kKib = 1024;

/// The words of a line between its blanks.
std::vector<std::string_view> words_of(std::string_view line);

/// A process, or what a tool lists in its stead.
struct Row {
  std::string key;   ///< tells it from all others of a moment: its pid, its whole name
  std::string name;  ///< its command
  std::array<std::optional<text::Quantity>, kMetrics.size()> values;
};

/// The heading of a table of ps, top, pidstat, docker stats or kubectl top: where its columns are.
class Heading {
 public:
  /// Nothing where the line is none.
  static std::optional<Heading> of(std::string_view line);

  std::string_view tool() const { return tool_; }
  /// The column that is judged: `rss`, of containers and pods `memory`.
  std::string_view first_metric() const { return is_of_processes_ ? kMetrics[0] : "memory"; }
  bool has(std::size_t metric) const { return metric_column_[metric] != kNone; }

  /// Nothing where the line does not fit.
  std::optional<Row> row(std::string_view line) const;

 private:
  static constexpr std::size_t kNone = std::string_view::npos;
  static std::optional<Heading> of_containers(std::string_view line);
  static std::optional<Heading> of_pods(const std::vector<std::string_view>& words);
  std::optional<Row> container(std::string_view line) const;

  std::string_view tool_;
  bool is_of_processes_ = true;
  std::size_t columns_ = 0;
  std::size_t pid_ = kNone, name_ = kNone;  // columns, of containers the byte where they begin
  std::array<std::size_t, kMetrics.size()> metric_column_ = {kNone, kNone, kNone, kNone};
};

}  // namespace snapdiff::formats::process_table
