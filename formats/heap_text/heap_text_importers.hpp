#pragma once

#include <memory>

#include "snapdiff/importer.hpp"

/// The door of the heap_text room: heap dumps that are lines of text. README.md has the layouts.
namespace snapdiff::formats {

/// "gperftools": `heap profile: … @ heapprofile`, `heap_v2/R`, `growth`, … as tcmalloc, old jemalloc and their kin
/// write.
std::unique_ptr<Importer> make_gperftools_importer();
/// "go-text": `heap profile: … @ heap/P`, what Go serves under /debug/pprof/heap?debug=1.
std::unique_ptr<Importer> make_go_text_importer();
/// "jemalloc": `heap_v2/R` with one block per stack, jemalloc 4.0 and later.
std::unique_ptr<Importer> make_jemalloc_importer();
/// "java-heapz": `--- heapz 1 ---`.
std::unique_ptr<Importer> make_java_heapz_importer();
/// "symbolized": `--- symbol`, names for addresses in front of a gperftools, jemalloc or Go dump.
std::unique_ptr<Importer> make_symbolized_importer();

}  // namespace snapdiff::formats
