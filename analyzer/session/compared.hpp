#pragma once

#include <string>
#include <vector>

#include "analyzer/session/load.hpp"
#include "snapdiff/growth.hpp"

/// Which snapshots are compared when operands are given or not.
namespace snapdiff::session {

struct Compared {
  Loaded loaded;
  DiffOptions options;
};

/// Without operands: what was last compared.
///   snapshots  alone, unless a series was imported since: then the newest series
///   with_view  with its view, where none is asked for
enum class Fallback { snapshots, with_view };

/// What to do where one operand gathers the snapshots of several series.
enum class Several { refuse, keep };

/// The snapshots and the view to compare. One operand that is a file with several snapshots, a directory or a series
/// gives all of them, as long as they are of one series (series_identity.hpp); among several operands each stands for
/// its last one, a directory too. Without operands Request::series, else `fallback`, which Loaded::chosen says.
/// `parts`: of stored snapshots.
Result<Compared> load_compared(const std::vector<std::string>& operands, const DiffOptions& view,
                               const Request& request, Fallback fallback, store::Parts parts = store::Parts::rows,
                               Several several = Several::refuse);

}  // namespace snapdiff::session
