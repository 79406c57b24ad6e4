#include "fuzz/fuzz_targets.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "formats/registry.hpp"
#include "fuzz/fuzz_format.hpp"

namespace snapdiff::test {
namespace {

using Target = void (*)(const std::uint8_t* data, std::size_t size);

constexpr std::pair<std::string_view, Target> kTargets[] = {
    {"detect", fuzz_detect},
    {"dhat", fuzz_dhat},
    {"heaptrack", fuzz_heaptrack},
    {"hprof", fuzz_hprof},
    {"import", fuzz_import},
    {"metric_log", fuzz_metric_log},
    {"objgraph_dot", fuzz_objgraph_dot},
    {"pickle", fuzz_pickle},
    {"pprof", fuzz_pprof},
    {"store", fuzz_store},
    {"symbols", fuzz_symbols},
    {"torch_cuda", fuzz_torch_cuda},
    {"tracemalloc", fuzz_tracemalloc},
    {"tracker_lines", fuzz_tracker_lines},
    {"v8", fuzz_v8},
};

}  // namespace

void run_target(std::string_view name, const std::uint8_t* data, std::size_t size) {
  const auto* const own = std::find_if(std::begin(kTargets), std::end(kTargets),
                                       [name](const auto& target) { return target.first == name; });
  if (own != std::end(kTargets)) return own->second(data, size);
  std::string format(name);
  std::replace(format.begin(), format.end(), '_', '-');
  const auto called = formats::called(format);
  if (!called) {
    std::fprintf(stderr, "no fuzz target and no format is called %s\n", format.c_str());
    std::exit(2);
  }
  fuzz_format(**called, data, size);
}

}  // namespace snapdiff::test
