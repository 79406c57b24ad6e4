#include "analyzer/report/renamed.hpp"

#include <algorithm>

#include "analyzer/report/report.hpp"
#include "snapdiff/function_name.hpp"
#include "snapdiff/words.hpp"

namespace snapdiff::report {

std::string renamed_note(const std::vector<RenamedFunction>& renamed, bool utf8) {
  constexpr std::size_t kShown = 5;
  std::string text = "renamed: ";
  for (std::size_t i = 0; i < std::min(kShown, renamed.size()); ++i) {
    const RenamedFunction& one = renamed[i];
    std::string before = short_function_name(one.before), after = short_function_name(one.after);
    if (before == after) {  // other arguments
      before = one.before;
      after = one.after;
    }
    text += (i > 0 ? "; " : "") + printable(before, utf8) + (utf8 ? " → " : " -> ") + printable(after, utf8) + ", " +
            counted(one.stacks, "stack");
  }
  if (renamed.size() > kShown) text += "; " + std::to_string(renamed.size() - kShown) + " others";
  return text;
}

}  // namespace snapdiff::report
