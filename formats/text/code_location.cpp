#include "formats/text/code_location.hpp"

#include <charconv>
#include <system_error>

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
