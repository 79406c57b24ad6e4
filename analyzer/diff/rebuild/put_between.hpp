#pragma once

#include "analyzer/diff/rebuild/code.hpp"
#include "analyzer/diff/rebuild/evidence.hpp"

namespace snapdiff::diff::rebuild {

/// Whether several stacks that one side alone has, without the functions that it alone has, are stacks of both sides
/// that hold less by as much: something was put between two functions, or is gone from there. Without counts of objects
/// nobody knows.
bool is_put_between(const Code& before, const Code& after, const LeftOver& left);

}  // namespace snapdiff::diff::rebuild
