#include "formats/valgrind/code_location.hpp"

#include <charconv>
#include <system_error>

namespace snapdiff::formats::valgrind {
namespace {

constexpr std::string_view kUnknown = "???";

/// Cuts ":123" off the end of `text`; false when there is none.
bool take_number(std::string_view& text, std::int32_t& out) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == text.size()) return false;
  std::int32_t number = 0;
  const auto [end, failure] = std::from_chars(text.data() + colon + 1, text.data() + text.size(), number);
  if (failure != std::errc{} || end != text.data() + text.size() || number < 0) return false;
  out = number;
  text = text.substr(0, colon);
  return true;
}

void take_address(std::string_view& text, CodeLocation& location) {
  if (text.substr(0, 2) != "0x") return;
  const auto [end, failure] = std::from_chars(text.data() + 2, text.data() + text.size(), location.address, 16);
  const auto length = static_cast<std::size_t>(end - text.data());
  if (failure != std::errc{} || text.substr(length, 2) != ": ") return;
  location.has_address = true;
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
    std::int32_t last = 0;
    if (take_number(place, last)) {
      if (take_number(place, location.line)) {
        location.column = last;
      } else {
        location.line = last;
      }
      location.file = place == kUnknown ? std::string_view() : place;
      text = text.substr(0, open);
    }
  }
  location.function = text == kUnknown ? std::string_view() : text;
  return location;
}

bool is_inlined(const CodeLocation& inner, const CodeLocation& outer) {
  return inner.has_address && outer.has_address && inner.address == outer.address &&
         (inner.function != outer.function || inner.file != outer.file || inner.line != outer.line);
}

FrameId make_frame(const CodeLocation& location, bool inlined, SnapshotBuilder& builder) {
  SnapshotBuilder::FrameSpec spec;
  spec.module = builder.module(location.module, {});
  spec.flags = inlined ? kFrameInlined : std::uint8_t{0};
  if (!location.function.empty()) {
    const StringId name = builder.string(location.function);
    spec.function = builder.function(name, name, builder.string(location.file), 0);
    spec.line = location.line;
    spec.column = location.column;
  } else if (location.module.empty() && location.has_address) {
    spec.offset = location.address;
  }
  return builder.frame(spec);
}

}  // namespace snapdiff::formats::valgrind
