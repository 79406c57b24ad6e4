#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

/// The fuzz targets of one program. A target is called as its seeds are: tests/fuzz/corpus/NAME.tar.xz. Each one aborts
/// where a reader breaks its promise; a refused input is a good end.
namespace snapdiff::test {

void fuzz_detect(const std::uint8_t* data, std::size_t size);
void fuzz_dhat(const std::uint8_t* data, std::size_t size);
void fuzz_heaptrack(const std::uint8_t* data, std::size_t size);
void fuzz_hprof(const std::uint8_t* data, std::size_t size);
void fuzz_import(const std::uint8_t* data, std::size_t size);
void fuzz_metric_log(const std::uint8_t* data, std::size_t size);
void fuzz_objgraph_dot(const std::uint8_t* data, std::size_t size);
void fuzz_pickle(const std::uint8_t* data, std::size_t size);
void fuzz_pprof(const std::uint8_t* data, std::size_t size);
void fuzz_store(const std::uint8_t* data, std::size_t size);
void fuzz_symbols(const std::uint8_t* data, std::size_t size);
void fuzz_torch_cuda(const std::uint8_t* data, std::size_t size);
void fuzz_tracemalloc(const std::uint8_t* data, std::size_t size);
void fuzz_tracker_lines(const std::uint8_t* data, std::size_t size);
void fuzz_v8(const std::uint8_t* data, std::size_t size);

/// Runs the target `name`: one of those above, else any bytes through the format of that name, with "-" for "_". Ends
/// the program with a line on stderr where there is neither.
void run_target(std::string_view name, const std::uint8_t* data, std::size_t size);

}  // namespace snapdiff::test
