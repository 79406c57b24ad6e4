#pragma once

#include "formats/tracker_lines/typed_fields.hpp"

namespace snapdiff::formats::tracker_lines {

inline constexpr std::int64_t kVersion = 1;

/// What a header line says of all snapshots up to the next header.
struct RunHeader {
  std::string producer;  ///< with its version
  std::optional<std::int64_t> pid;
  std::string host;
  std::string command_line;
  bool root_first = false;
  bool complete = true;
  bool estimated = false;   ///< bytes are what the tracker thinks, not what it counted
  bool stable_ids = false;  ///< an object keeps its id from one snapshot to the next
  std::vector<std::string> comments;
  bool cut = false;  ///< a text was longer than kMostAttributeBytes
};

/// Reads a header line. Throws LineError (rule 8) for what is no header of this format, Failure (unsupported) for a
/// later version.
RunHeader parse_header(const Fields& fields);

/// Adds "NAME: VALUE" for the members of `attrs` (as "attrs.NAME") and for x_ keys, `x_rows`, at most
/// kMostAttributes of at most kMostAttributeBytes each, and kMostAttributeBytesOfLine in all: each snapshot has a copy.
/// False when some were left out or cut.
bool append_attributes(const Fields& fields, const std::vector<std::uint32_t>& x_rows,
                       std::vector<std::string>& comments);
inline constexpr std::string_view kAttributesCut =
    "texts beyond 1024 bytes are cut; attributes beyond 64 or 4096 bytes of a line are not kept";
inline constexpr std::size_t kMostAttributes = 64;
inline constexpr std::size_t kMostAttributeBytes = 1024;
inline constexpr std::size_t kMostAttributeBytesOfLine = 4096;

}  // namespace snapdiff::formats::tracker_lines
