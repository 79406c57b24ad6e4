#pragma once

#include <cstdint>
#include <string_view>

#include "formats/text/printed_frame.hpp"

namespace snapdiff::formats::text {

/// What Valgrind's tools print for one frame; views into the text it was read from:
///   0x109206: alloc_block(unsigned long) (native_leak.cpp:9)
///   0x484320F: operator new[](unsigned long) (in /usr/libexec/valgrind/vgpreload.so)
///   0x48FB7B9: ??? (in /usr/lib/libstdc++.so.6)
///   0x10ae8441b: app::main (src/main.rs:12:5)           Rust's dhat: with a column
/// Without a name, "???", it has the module alone, since the address is not an offset in it; without a module, the
/// address.
struct CodeLocation : PrintedFrame {
  std::uint64_t address = kNoOffset;
};

/// Never fails: text of another form is a function's name.
CodeLocation parse_location(std::string_view text);

/// Whether `inner` is inlined into `outer`, the next frame root-wards: they share an address and are not the same
/// (a function that calls itself shares it too, and is).
bool is_inlined(const CodeLocation& inner, const CodeLocation& outer);

}  // namespace snapdiff::formats::text
