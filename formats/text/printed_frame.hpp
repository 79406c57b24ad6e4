#pragma once

#include "analyzer/base/snapshot_builder.hpp"

namespace snapdiff::formats::text {

/// A frame as a tool prints it; views that need not outlive its use. Empty or 0 where not printed.
struct PrintedFrame {
  std::string_view function = {};
  std::string_view file = {};
  std::string_view module = {};
  std::string_view build_id = {};
  std::uint64_t offset = kNoOffset;  ///< in the module; without a module the address
  std::int64_t line = 0;             ///< unknown where it is beyond 32 bits, as the column
  std::int64_t column = 0;
};

FrameId frame_of(SnapshotBuilder& builder, const PrintedFrame& printed, std::uint8_t flags = 0);

/// A line or column of a frame; 0, unknown, where it is not from 1 to 2^31-1.
std::int32_t number_32(std::int64_t value);

/// Cuts ":123" off the end of `text`, which does not begin with it; false where there is none.
bool take_line_number(std::string_view& text, std::int64_t& out);

/// Cuts ":12:5" or ":12" off the end of `text` into the line and column of `out`; false where there is none.
bool take_line_and_column(std::string_view& text, PrintedFrame& out);

/// Where "+0x1f" begins, the offset in a function, after which comes a blank or the end; npos where there is none.
std::size_t offset_begin(std::string_view text);

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
