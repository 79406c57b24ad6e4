#include "formats/heaptrack/record_fields.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>

namespace snapdiff::formats::heaptrack {

bool Fields::number(std::uint64_t& out) {
  const std::size_t blanks = std::min(rest_.find_first_not_of(' '), rest_.size());
  const char* const end = rest_.data() + rest_.size();
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(rest_.data() + blanks, end, value, 16);
  if (error != std::errc{} || (stop != end && *stop != ' ')) return false;
  rest_.remove_prefix(static_cast<std::size_t>(stop - rest_.data()));
  out = value;
  return true;
}

bool Fields::number(std::uint32_t& out) {
  std::uint64_t wide = 0;
  if (!number(wide) || wide > std::numeric_limits<std::uint32_t>::max()) return false;
  out = static_cast<std::uint32_t>(wide);
  return true;
}

}  // namespace snapdiff::formats::heaptrack
