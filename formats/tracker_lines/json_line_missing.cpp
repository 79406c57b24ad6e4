#include "formats/tracker_lines/json_line.hpp"

namespace snapdiff::formats::tracker_lines {

/// In a program without simdjson.
struct JsonLine::Parser {};

JsonLine::JsonLine() = default;
JsonLine::~JsonLine() = default;

const char* JsonLine::parse(std::string_view, std::size_t) {
  return "this static program cannot read tracker lines, since simdjson has no static library; install the package "
         "snapdiff";
}

}  // namespace snapdiff::formats::tracker_lines
