#pragma once

#include <string>

#include "formats/json/json_scanner.hpp"

namespace snapdiff::formats::pprof {

/// The next ProfilesData of a text in protobuf's JSON form, as the bytes of its binary form; members of no known name
/// are left out. False where only blanks are left. Throws Failure.
bool next_json_message(json::JsonScanner& json, std::string& out);

}  // namespace snapdiff::formats::pprof
