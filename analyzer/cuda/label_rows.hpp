#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "snapdiff/snapshot.hpp"

namespace snapdiff::cuda {

/// Whether the rows of a snapshot have this label; they all have it, or none does.
bool has_label(const Snapshot& snapshot, std::string_view key);

/// The same rows, each with one more label, whose text depends on its stack; `text_of` is asked once for each. They
/// share everything but the dictionary.
Snapshot with_label(const Snapshot& snapshot, std::string_view key, const std::function<std::string(StackId)>& text_of);

}  // namespace snapdiff::cuda
