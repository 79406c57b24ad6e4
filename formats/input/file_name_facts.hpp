#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace snapdiff::formats {

/// What the name of a profile file says.
///   sequence  number of the snapshot within its series: svc.0007.heap -> 7
///   pid       process, where the name follows a pattern that states it
///   stem      the name without number and extensions; equal for the files of one series and, as
///             far as the pattern tells, different for different processes
struct FileNameFacts {
  std::optional<std::int64_t> sequence;
  std::optional<std::int64_t> pid;
  std::string stem;
  std::optional<std::int64_t> rank =
      std::nullopt;  ///< of a process among several: snap_rank3.pickle -> 3; stays in the stem
  friend bool operator==(const FileNameFacts&, const FileNameFacts&) = default;
};

/// Patterns, tried in this order on the last part of `path`, without its extensions:
///   PREFIX.PID.SEQ.{i,m,u,f}N.heap     jemalloc (src/prof_sys.c); PREFIX.NS.PID.SEQ... as well
///   PREFIX_PID.NNNN.heap               gperftools, child process (src/heap-profiler.cc)
///   PREFIX.NNNN.heap                   gperftools
///   PREFIX-YYYYMMDD-HHMMSS.EXT         time of day; the sequence is the number YYYYMMDDHHMMSS
///   PREFIX[.-_]N.EXT, PREFIXN.EXT      anything numbered, but for the number of a rank
///   PREFIXN.WORD.EXT                   the same with a word behind the number, which stays in the stem
/// A rank is the word "rank" with a number, "rank3", "rank_3" or "rank-3", anywhere in the name.
FileNameFacts file_name_facts(std::string_view path);

}  // namespace snapdiff::formats
