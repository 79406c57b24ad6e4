#pragma once

/// What libsnapdiff.so lets other programs call.
#define SNAPDIFF_API __attribute__((visibility("default")))
