#include "analyzer/report/renamed.hpp"

#include <algorithm>

#include "analyzer/report/report.hpp"
#include "snapdiff/function_name.hpp"

namespace snapdiff::report {

std::string renamed_note(const std::vector<RenamedFunction>& renamed, bool utf8) {
  constexpr std::size_t kShown = 5;
  std::string text = "renamed: ";
  for (std::size_t i = 0; i < std::min(kShown, renamed.size()); ++i) {
    const RenamedFunction& one = renamed[i];
    text += (i > 0 ? "; " : "") + printable(short_function_name(one.before), utf8) + (utf8 ? " → " : " -> ") +
            printable(short_function_name(one.after), utf8) + ", " + std::to_string(one.stacks) +
            (one.stacks == 1 ? " stack" : " stacks");
  }
  if (renamed.size() > kShown) text += "; " + std::to_string(renamed.size() - kShown) + " others";
  return text;
}

}  // namespace snapdiff::report
