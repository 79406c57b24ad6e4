#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/symbols/interval_map.hpp"
#include "snapdiff/result.hpp"

namespace snapdiff::symbols {

inline constexpr std::uint64_t kMaxPerfMapBytes = std::uint64_t{256}
                                                  << 20;  ///< a large node or JVM process writes some 10 MiB
inline constexpr std::size_t kMaxPerfMapLines = 4'000'000;

/// Code that a process made at run time: lines "START SIZE name", START and SIZE hexadecimal, as
/// tools/perf/Documentation/jit-interface.txt of the Linux kernel has them. Later lines replace
/// earlier ones, since the memory is used again.
class PerfMap {
 public:
  /// Errors: io, limit, malformed (not one line of that form).
  static Result<PerfMap> read(const std::string& path);

  /// "" where no line covers the address.
  std::string_view find(std::uint64_t pc) const;
  std::uint64_t bad_lines() const { return bad_lines_; }

 private:
  std::string text_;
  std::vector<std::string_view> names_;
  IntervalMap at_;
  std::uint64_t bad_lines_ = 0;
};

}  // namespace snapdiff::symbols
