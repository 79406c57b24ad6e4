#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "snapdiff/snapshot_builder.hpp"

namespace snapdiff::formats::valgrind {

/// What Valgrind's tools print for one frame; views into the text it was read from:
///   0x109206: alloc_block(unsigned long) (native_leak.cpp:9)
///   0x484320F: operator new[](unsigned long) (in /usr/libexec/valgrind/vgpreload.so)
///   0x48FB7B9: ??? (in /usr/lib/libstdc++.so.6)
///   0x10ae8441b: app::main (src/main.rs:12:5)           Rust's dhat: with a column
struct CodeLocation {
  std::uint64_t address = 0;
  bool has_address = false;
  std::string_view function;  ///< "" for ???
  std::string_view file;
  std::string_view module;
  std::int32_t line = 0;
  std::int32_t column = 0;
};

/// Never fails: text of another form is a function's name.
CodeLocation parse_location(std::string_view text);

/// Whether `inner` is inlined into `outer`, the next frame root-wards: they share an address and are not the same
/// (a function that calls itself shares it too, and is).
bool is_inlined(const CodeLocation& inner, const CodeLocation& outer);

/// Without a name: the module alone, since the address is not an offset in it; without a module, the address.
FrameId make_frame(const CodeLocation& location, bool inlined, SnapshotBuilder& builder);

}  // namespace snapdiff::formats::valgrind
