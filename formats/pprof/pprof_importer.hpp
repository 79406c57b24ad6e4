#pragma once

#include "formats/input/format.hpp"

namespace snapdiff::formats {

/// Reads profile.proto (google/pprof, proto/profile.proto), whatever its sample types are.
extern const Format kPprof;
/// Reads memory profiles of OpenTelemetry (OTLP, opentelemetry/proto/profiles/v1development/profiles.proto).
extern const Format kOtlp;

}  // namespace snapdiff::formats
