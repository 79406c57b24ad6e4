#pragma once

#include "formats/input/format.hpp"

/// The Format of every reader, by folder. A reader defines it, and registry.cpp lists it.
namespace snapdiff::formats {

extern const Format kPprof, kOtlp;                                                             // pprof
extern const Format kGperftools, kJemalloc, kGoText, kGoHeapDump, kJavaHeapz, kSymbolized;     // heap_text
extern const Format kTorchCuda, kTorchHtml, kTorchJson, kTorchTimeline, kTorchProfile;         // torch_cuda
extern const Format kTrackerLines;                                                             // tracker_lines
extern const Format kHeaptrack, kHeaptrackPrint;                                               // heaptrack
extern const Format kMassif, kMsPrint, kDhat;                                                  // valgrind
extern const Format kTracemalloc, kTracemallocText;                                            // tracemalloc
extern const Format kMetricLog;                                                                // metric_log
extern const Format kMemcheck, kLeakSanitizer, kLeakListing, kUmdh;                            // leak_reports
extern const Format kJvmHistogram, kObjgraphText, kCountLines, kGuppy, kPympler, kDotnetHeap;  // type_counts
extern const Format kBccMemleak;                                                               // bcc
extern const Format kJemallocStats;                                                            // jemalloc_stats
extern const Format kPostgresContexts;                                                         // postgres
extern const Format kTensorflowBfc;                                                            // tensorflow_bfc
extern const Format kMemray, kMemrayCsv, kMemrayGprof2dot, kMemraySpeedscope, kMemrayStats, kMemrayHtml;  // memray
extern const Format kV8, kV8HeapProfile;                                                                  // v8
extern const Format kFoldedStacks;                                           // folded_stacks
extern const Format kPprofText;                                              // pprof_text
extern const Format kGoroutineDump;                                          // goroutine_dump
extern const Format kRubyHeap;                                               // ruby_heap
extern const Format kJsc;                                                    // jsc
extern const Format kScalene;                                                // scalene
extern const Format kHprof;                                                  // hprof
extern const Format kJfr;                                                    // jfr
extern const Format kObjgraphDot;                                            // objgraph_dot
extern const Format kMimallocStats;                                          // mimalloc_stats
extern const Format kProcSmaps, kProcMemory, kKernelOom, kAndroidMemory;     // proc_text
extern const Format kProcessTable;                                           // process_table
extern const Format kPrometheus;                                             // prometheus
extern const Format kErlangMemory, kErlangCrashDump, kNodeReport, kGhcHeap;  // runtime_state
extern const Format kJvmNativeMemory, kJvmMemoryState, kJvmClassLoaders;     // jvm_native
extern const Format kMallocTotals, kPythonMalloc, kRustTotals;               // allocator_totals

}  // namespace snapdiff::formats
