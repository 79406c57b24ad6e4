// Any bytes in the place of a binary: the reader gives names or notes, in bounded time and memory.
// The first two bytes choose the addresses, the rest is the file.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "analyzer/symbols/symbols.hpp"
#include "fuzz/fuzz_targets.hpp"

using namespace snapdiff;

void snapdiff::test::fuzz_symbols(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return;
  static const int file = ::memfd_create("symbols_fuzz", 0);
  if (file < 0) return;
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, data + 2, size - 2, 0) != static_cast<ssize_t>(size - 2)) return;

  symbols::ModuleQuery query;
  query.name = "/proc/self/fd/" + std::to_string(file);
  const std::uint64_t start = data[0] * 64ULL;
  for (std::uint64_t i = 0; i < 24; ++i) query.offsets.push_back(start + i * (1 + data[1]));
  query.mappings = {{0x400000, 0x500000, 0, {}}};
  if ((data[1] & 1) != 0) query.mappings = {{0, ~std::uint64_t{0}, 0, {}}};
  symbols::SymbolOptions options;
  options.threads = 1;
  options.demangle = static_cast<symbols::Demangle>(data[0] % 3);
  const symbols::Resolution out = symbols::resolve(std::span(&query, 1), options);
  const symbols::ModuleSymbols& module = out.modules.at(0);
  if (module.begin.size() != query.offsets.size() + 1 || module.begin.back() != module.frames.size()) std::abort();
  std::uint64_t unnamed = 0;
  for (std::size_t i = 0; i < query.offsets.size(); ++i) {
    const auto frames = module.of(i);
    if (frames.empty()) ++unnamed;
    for (std::size_t j = 0; j < frames.size(); ++j) {
      if (frames[j].name == StringId{} || frames[j].line < 0 || frames[j].inlined != (j + 1 < frames.size()))
        std::abort();
    }
  }
  if (unnamed != module.unnamed) std::abort();
}
