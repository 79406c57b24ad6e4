#pragma once

#include <catch2/catch.hpp>

#include "unit/analyzer/symbols/symbols_support.hpp"

namespace snapdiff::test {

inline constexpr std::string_view kProgram = R"(
#include <cstdlib>
#include <vector>
static void* volatile sink;
__attribute__((always_inline)) static inline void* inner(unsigned long n) { return std::malloc(n); }
__attribute__((always_inline)) static inline void* middle(unsigned long n) { return inner(n + 1); }
namespace shop {
__attribute__((noinline)) void outer(int n) { sink = middle(static_cast<unsigned long>(n)); sink = nullptr; }
}
int main(int argc, char**) { shop::outer(argc); return 0; }
)";

/// A built program and an address in it, of the inlined malloc call in shop::outer.
class Built {
 public:
  explicit Built(const std::string& options, const std::string& name = "prog") {
    write_file(folder / "prog.cpp", kProgram);
    binary = folder / name;
    const CommandResult built =
        run_command("cd " + folder.path() + " && c++ -O2 -Wl,--build-id " + options + " prog.cpp -o '" + binary + "'");
    INFO(built.output);
    REQUIRE(built.status == 0);
    find_address(binary);
    id = build_id_of(binary);
  }

  void find_address(const std::string& file) {
    const SectionPlace text = section_of(file, ".text");
    const std::uint64_t start = address_of_symbol(file, "shop::outer(int)");
    REQUIRE(start != 0);
    // The call of malloc in it: the return address less one is in the call.
    const std::string listing = run_command("objdump -d --no-show-raw-insn --start-address=" + std::to_string(start) +
                                            " --stop-address=" + std::to_string(start + 64) + " '" + file + "'")
                                    .output;
    const std::size_t call = listing.find("<malloc@plt>");
    REQUIRE(call != std::string::npos);
    const std::size_t line = listing.rfind('\n', call) + 1;
    vaddr = std::strtoull(listing.c_str() + line, nullptr, 16) + 2;
    offset = vaddr - text.address + text.offset;
  }

  symbols::ModuleQuery query(bool with_id) const {
    symbols::ModuleQuery out;
    out.name = "/srv/app/bin/prog";
    if (with_id) out.build_id = id;
    out.offsets = {offset};
    return out;
  }

  TemporaryFolder folder;
  std::string binary;
  std::string id;
  std::uint64_t vaddr = 0, offset = 0;
};

}  // namespace snapdiff::test
