#pragma once

#include <memory>

#include "snapdiff/importer.hpp"

namespace snapdiff::formats {

/// Class histograms of the JVM: jmap -histo, jcmd GC.class_histogram.
std::unique_ptr<Importer> make_jvm_histogram_importer();
/// Types on the .NET heap: dotnet-gcdump report, dumpheap -stat.
std::unique_ptr<Importer> make_dotnet_heap_importer();
/// Lists of objgraph: show_growth(), show_most_common_types().
std::unique_ptr<Importer> make_objgraph_text_importer();

}  // namespace snapdiff::formats
