#include <string_view>
#include <unordered_map>

#include "analyzer/symbols/demangle.hpp"

namespace snapdiff::symbols {
namespace {

/// Hostile names make long ones out of short ones; the others then stay as they are.
constexpr std::uint64_t kMostWritten = std::uint64_t{64} << 20;

bool is_mangled(std::string_view name) {
  return name.starts_with("_Z") || name.starts_with("__Z") || name.starts_with("_R") || name.starts_with("__R");
}

}  // namespace

std::shared_ptr<const Dictionary> demangle_names(const std::shared_ptr<const Dictionary>& dictionary, Demangle how) {
  if (how == Demangle::none) return dictionary;
  const Dictionary& before = *dictionary;
  std::shared_ptr<Dictionary> after;
  std::unordered_map<std::string, StringId> made;
  std::uint64_t written = 0;
  for (std::size_t row = 1; row < before.functions.size() && written < kMostWritten; ++row) {
    const std::string_view name = before.strings[before.functions.name[row]];
    if (!is_mangled(name)) continue;
    std::string readable = demangle(name, how, written);
    if (readable == name) continue;
    if (after == nullptr) after = std::make_shared<Dictionary>(before);
    const auto [place, is_new] = made.try_emplace(std::move(readable));
    if (is_new) place->second = after->strings.append(place->first);
    after->functions.name[row] = place->second;
  }
  if (after == nullptr) return dictionary;
  return after;
}

}  // namespace snapdiff::symbols
