#pragma once

#include <string>
#include <string_view>

#include "analyzer/base/number_text.hpp"
#include "snapdiff/growth.hpp"

namespace snapdiff {

/// A frame that no input recorded, such as "[unattributed]"; `name` must live as long.
inline FrameView made_frame(std::string_view name, bool pseudo = true) {
  FrameView frame;
  frame.function = name;
  frame.pseudo = pseudo;
  return frame;
}

/// What a frame without a function is called: "module+0x1234" (base name), "0x1234" outside every
/// module, "[unknown in module]" or "[unknown]" without an address. Not escaped.
inline std::string address_text(const FrameView& frame) {
  const std::string_view module = base_name(frame.module);
  std::string text;
  if (frame.offset == kNoOffset) {
    if (module.empty()) return "[unknown]";
    return text.append("[unknown in ").append(module).append("]");
  }
  if (!module.empty()) text.append(module).append("+");
  return text.append(hex_text(frame.offset));
}

/// The function as recorded, else address_text(). Not escaped. (The library's frame_text() shortens it.)
inline std::string recorded_frame_text(const FrameView& frame) {
  return frame.function.empty() ? address_text(frame) : std::string(frame.function);
}

/// "svc_cache.cc:24", or "" when the frame has no file. Not escaped.
inline std::string site_text(const FrameView& frame) {
  std::string text(base_name(frame.file));
  if (!frame.file.empty() && frame.line > 0) text.append(":").append(std::to_string(frame.line));
  return text;
}

}  // namespace snapdiff
