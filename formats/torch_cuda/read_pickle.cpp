#include "formats/torch_cuda/read_pickle.hpp"

#include <utility>

#include "formats/input/read_failure.hpp"
#include "formats/pickle/machine.hpp"
#include "formats/torch_cuda/records.hpp"

namespace snapdiff::formats::torch_cuda {

Result<Snapshot> read_pickle(Input& in, PickleStatistics* statistics) {
  pickle::Pools pools;
  Records records(pools);
  pickle::Machine<Records> machine(in, pools, records);
  return run_reader([&] {
    machine.run();
    if (const std::uint64_t other = machine.drain(); other != 0)
      records.builder().notes().add(Severity::warning, "bytes after the end of the pickle, ignored", machine.offset(),
                                    other);
    if (statistics != nullptr) *statistics = {machine.memo().size(), machine.memo().memory_bytes()};
    return records.finish("pickle protocol " + std::to_string(machine.protocol()));
  });
}

}  // namespace snapdiff::formats::torch_cuda
