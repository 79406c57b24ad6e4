#pragma once

#include <string_view>

#include "snapdiff/allocator_state.hpp"
#include "snapdiff/snapshot.hpp"

namespace snapdiff::formats::torch_cuda {

/// What kind of device a snapshot is of, as functions and files of its stacks and the names of its settings say: "xpu",
/// "mtia", "rocm" or "cuda"; "" where nothing says so. The pickle is the same for all of them and names none.
std::string_view device_kind(const Dictionary& dictionary, const AllocatorState& state);

}  // namespace snapdiff::formats::torch_cuda
