#include "formats/text/printed_frame.hpp"

#include <limits>

#include "formats/text/scan.hpp"

namespace snapdiff::formats::text {
namespace {

std::int32_t number_32(std::int64_t value) {
  return value > 0 && value <= std::numeric_limits<std::int32_t>::max() ? static_cast<std::int32_t>(value) : 0;
}

}  // namespace

FrameId frame_of(SnapshotBuilder& builder, const PrintedFrame& printed, std::uint8_t flags) {
  FrameSpec spec;
  const std::size_t modules = builder.dictionary().modules.size();
  spec.module = builder.module(printed.module, printed.build_id);
  // Says which build this process ran. A named frame does not: in a store it keeps the module with which it came first.
  if (!printed.build_id.empty() && builder.dictionary().modules.size() > modules)
    builder.add_mapping({0, 0, 0, spec.module});
  spec.offset = printed.offset;
  spec.flags = flags;
  if (!printed.function.empty()) {
    spec.function = builder.function(printed.function, printed.file);
    spec.line = number_32(printed.line);
    spec.column = number_32(printed.column);
  }
  return builder.frame(spec);
}

bool take_line_number(std::string_view& text, std::int64_t& out) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const std::optional<std::int64_t> number = whole_number(text.substr(colon + 1));
  if (!number) return false;
  out = *number;
  text = text.substr(0, colon);
  return true;
}

bool take_line_and_column(std::string_view& text, PrintedFrame& out) {
  std::int64_t last = 0;
  if (!take_line_number(text, last)) return false;
  const bool has_column = take_line_number(text, out.line);
  (has_column ? out.column : out.line) = last;
  return true;
}

std::size_t offset_begin(std::string_view text) {
  for (std::size_t plus = text.find("+0x"); plus != std::string_view::npos; plus = text.find("+0x", plus + 1)) {
    std::size_t end = plus + 3;
    while (end < text.size() && is_hex(text[end])) ++end;
    if (end > plus + 3 && (end == text.size() || is_blank(text[end]))) return plus;
  }
  return std::string_view::npos;
}

}  // namespace snapdiff::formats::text
