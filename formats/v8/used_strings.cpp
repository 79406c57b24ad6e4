#include "formats/v8/used_strings.hpp"

namespace snapdiff::formats::v8 {

void UsedStrings::add_page(std::size_t page) {
  if (page >= pages_.size()) pages_.resize(page + 1);
  pages_[page] = std::make_unique<Page>();
}

}  // namespace snapdiff::formats::v8
