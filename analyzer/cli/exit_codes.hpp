#pragma once

#include "snapdiff/result.hpp"

namespace snapdiff::cli {

/// product.md section 3. 0 also covers a partial answer, unless --strict was given.
inline constexpr int kExitDone = 0;
inline constexpr int kExitGateBreached = 1;
inline constexpr int kExitBadInput = 2;
inline constexpr int kExitInternal = 3;

constexpr int exit_code_of(ErrorCode code) { return code == ErrorCode::internal ? kExitInternal : kExitBadInput; }

}  // namespace snapdiff::cli
