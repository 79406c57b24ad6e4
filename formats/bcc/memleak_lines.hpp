#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "formats/text/printed_frame.hpp"

/// Lines of memleak's reports.
namespace snapdiff::formats::bcc {

/// "[11:16:33] Top 2 stacks with outstanding allocations:" -> "11:16:33"
std::optional<std::string_view> heading_time(std::string_view line);

enum class RowLine : std::uint8_t { none, ok, unreadable };
struct Row {
  std::int64_t bytes = 0;
  std::int64_t count = 0;
};
/// "	80 bytes in 5 allocations from stack"; unreadable where the numbers are beyond 2^63-1.
RowLine row_line(std::string_view line, Row& out);

/// "main+0x6d [allocs]", "0x0000559b4789639f	zmalloc+0x2f [redis-server]",
/// "3 [<000055e1b2a3f1b5>] main+0x2d prog.c:12", "3 [<000055e1b2a3f1b5>] <null sym>"; a view into the line. The
/// offset in the function is left out; the address stays where there is neither a function nor a module.
text::PrintedFrame stack_line(std::string_view line);

/// "Attaching to pid 5193, Ctrl+C to quit." -> 5193; -1 for the kernel, nothing for any other line.
std::optional<std::int64_t> attached_to(std::string_view line);

}  // namespace snapdiff::formats::bcc
