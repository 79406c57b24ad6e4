#pragma once

#include <cstddef>
#include <string>

#include "analyzer/report/headline.hpp"
#include "snapdiff/growth.hpp"

namespace snapdiff::report {

/// "another build from snapshot 7 (svc.006.pb.gz) on"; "" where all are of one. `left_out`: snapshots before the first.
std::string releases_text(const SeriesReport& series, std::size_t left_out, bool utf8);

/// The same with how much was matched across them: "...; 97 % of the bytes at both ends matched".
std::string releases_matched(const SeriesReport& series, std::size_t left_out, bool utf8);

/// The head of a series: that of its first and last snapshot, and where another build begins.
std::vector<HeadLine> headline(const SeriesReport& series, const Style& style);

}  // namespace snapdiff::report
