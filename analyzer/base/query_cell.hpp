#pragma once

#include <optional>
#include <string>

namespace snapdiff {

/// A value that a query returned: nothing for NULL; blobs as x'..'. A number where SQL has one and JSON can hold it.
struct QueryCell {
  std::optional<std::string> text;
  bool is_number = false;
};

}  // namespace snapdiff
