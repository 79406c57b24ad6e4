#pragma once

#include <string>
#include <string_view>

namespace snapdiff::formats {

/// What a file that no importer takes is, by its first bytes: "a PNG image", "a legacy CPU
/// profile"; "" when it is nothing known.
std::string foreign_kind(std::string_view head);

/// What a file is that an importer would take for its own: a process's memory map and the printed output of a tool hold
/// words and sizes as a log does, a perfetto trace begins as a profile.proto does. "" when it is not one of these.
std::string mistaken_kind(std::string_view head);

/// Whether foreign_kind() knows no more than that this is text: a log may begin like that, and say what
/// it is only later.
bool is_vague(std::string_view kind);
bool is_json(std::string_view kind);

}  // namespace snapdiff::formats
