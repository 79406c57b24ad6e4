#include "formats/text/printed_frame.hpp"

#include "formats/text/scan.hpp"

namespace snapdiff::formats::text {
namespace {

constexpr std::string_view kUnknown = "???";

void take_address(std::string_view& text, CodeLocation& location) {
  if (text.substr(0, 2) != "0x") return;
  std::uint64_t address = 0;
  const auto [end, failure] = std::from_chars(text.data() + 2, text.data() + text.size(), address, 16);
  const auto length = static_cast<std::size_t>(end - text.data());
  if (failure != std::errc{} || text.substr(length, 2) != ": ") return;
  location.address = address;
  text.remove_prefix(length + 2);
}

}  // namespace

std::int32_t number_32(std::int64_t value) {
  return value > 0 && value <= std::numeric_limits<std::int32_t>::max() ? static_cast<std::int32_t>(value) : 0;
}

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

CodeLocation parse_location(std::string_view text) {
  constexpr std::string_view kIn = " (in ";
  CodeLocation location;
  take_address(text, location);
  const bool has_place = !text.empty() && text.back() == ')';
  const std::size_t in = has_place ? text.rfind(kIn) : std::string_view::npos;
  const std::size_t open = has_place ? text.rfind(" (") : std::string_view::npos;
  if (in != std::string_view::npos) {  // a path may have brackets: "/l/a.so (deleted)"
    location.module = text.substr(in + kIn.size(), text.size() - in - kIn.size() - 1);
    text = text.substr(0, in);
  } else if (open != std::string_view::npos) {
    std::string_view place = text.substr(open + 2, text.size() - open - 3);
    if (take_line_and_column(place, location)) {
      location.file = place == kUnknown ? std::string_view() : place;
      text = text.substr(0, open);
    }
  }
  location.function = text == kUnknown ? std::string_view() : text;
  if (location.function.empty() && location.module.empty()) location.offset = location.address;
  return location;
}

bool is_inlined(const CodeLocation& inner, const CodeLocation& outer) {
  return inner.address != kNoOffset && inner.address == outer.address &&
         (inner.function != outer.function || inner.file != outer.file || inner.line != outer.line);
}

}  // namespace snapdiff::formats::text
