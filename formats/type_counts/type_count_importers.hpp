#pragma once

#include "formats/input/format.hpp"

namespace snapdiff::formats {

/// Class histograms of the JVM: jmap -histo, jcmd GC.class_histogram.
extern const Format kJvmHistogram;
/// Types on the .NET heap: dotnet-gcdump report, dumpheap -stat.
extern const Format kDotnetHeap;
/// Lists of objgraph: show_growth(), show_most_common_types().
extern const Format kObjgraphText;
/// A Python Counter of types, its most_common(); ObjectSpace.count_objects of Ruby.
extern const Format kCountLines;
/// Partitions of guppy (heapy): hpy().heap(), .hpy.
extern const Format kGuppy;
/// Tables of pympler: summary, SummaryTracker.
extern const Format kPympler;

}  // namespace snapdiff::formats
