#pragma once

#include <string>
#include <string_view>

namespace snapdiff::formats {

/// What a file that no importer takes is, by its first bytes: "a PNG image", "a legacy CPU
/// profile"; "" when it is nothing known.
std::string foreign_kind(std::string_view head);

/// What a text is that a log's reader would take for a log, since it holds words and sizes: a process's memory map,
/// the printed output of a tool whose own file is read. "" when it is none of these.
std::string printed_kind(std::string_view head);

/// Whether foreign_kind() knows no more than that this is text: a log may begin like that, and say what
/// it is only later.
bool is_vague(std::string_view kind);

}  // namespace snapdiff::formats
