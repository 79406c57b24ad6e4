#pragma once

#include <string>
#include <string_view>

/// Lines that are JSON but for bytes that are no UTF-8 (a tracker in C that writes Latin-1 file names) and escapes of
/// half a surrogate pair (Python's json.dumps of a name with such bytes: "\udcff").
namespace snapdiff::formats::tracker_lines {

/// The line with a private code point (U+10FF00 + byte) for each such byte, "" when there is none. Where the line has
/// such code points itself, U+FFFD stands for the byte.
std::string repair_text(std::string_view line);

/// Appends `text` of a repaired line with the bytes put back.
void append_original(std::string_view text, std::string& out);

}  // namespace snapdiff::formats::tracker_lines
