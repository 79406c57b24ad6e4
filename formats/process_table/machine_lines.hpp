#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/process_table/table_heading.hpp"
#include "snapdiff/snapshot.hpp"

namespace snapdiff::formats::process_table {

/// Lines about the whole machine, or about one process without a name: free, top's summary, nvidia-smi,
/// psrecord, jstat -gc.
class MachineLines {
 public:
  /// Counters and rows of a line. Both are empty for a line of another tool.
  struct Found {
    std::vector<Counter> counters;
    std::vector<Row> rows;  ///< processes of a GPU; their memory is the first value
    std::string_view tool;
    bool is_heading = false;  ///< nothing but the beginning of a table
  };
  Found read(std::string_view line);

 private:
  Found jvm_line(const std::vector<std::string_view>& words);
  Found free_line(std::string_view line, const std::vector<std::string_view>& words);
  Found gpu_line(std::string_view line);

  std::vector<std::string> free_columns_, jvm_columns_;
  bool in_gpu_table_ = false, in_record_ = false, has_unit_ = true;
  std::string gpu_;  // of the row above
};

}  // namespace snapdiff::formats::process_table
