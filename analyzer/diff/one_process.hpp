#pragma once

#include <optional>

#include "analyzer/diff/comparison.hpp"

namespace snapdiff::diff {

/// Whether the first and the last side are two moments of one process, and the variance of its growth by sampling if
/// so. Survivors are the same samples on both sides and cancel. What came since the baseline is at most what was
/// allocated since, and at most what is live at the end; what went is at most what was freed since, and what was live
/// at first:
///   variance = k (min(allocated, live at the end) + min(freed, live at first)),
/// where k (live at first + live at the end) is the variance of two independent sides.
///
/// Empty, so that the variance of both totals holds, unless all of these say one process: both sampled with one period,
/// one producer, pids equal where recorded, the current side not older, and columns of all allocations that fall in no
/// stack (README.md, "Numbers").
std::optional<SinceBaseline> find_since_baseline(const Comparison& comparison);

}  // namespace snapdiff::diff
