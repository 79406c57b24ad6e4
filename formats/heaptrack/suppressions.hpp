#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace snapdiff::formats::heaptrack {

/// Leaks that the program itself declares harmless, in LeakSanitizer's syntax: `leak:PATTERN`, where ^ and $
/// tie the pattern to the ends of a name and * stands for anything.
class Suppressions {
 public:
  /// More are not kept: each is tried on every name.
  static constexpr std::size_t kMost = 1000;

  /// One line of them; false where it is none, or one too many.
  bool add(std::string_view line);
  bool empty() const { return patterns_.empty(); }
  /// The first pattern that fits `name` (of a function, a file or a module), or "".
  std::string_view match(std::string_view name) const;

 private:
  std::vector<std::string> patterns_;
};

/// Whether `pattern` fits somewhere in `name`.
bool fits(std::string_view pattern, std::string_view name);

}  // namespace snapdiff::formats::heaptrack
