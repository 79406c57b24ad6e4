#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "snapdiff/hash.hpp"

/// The one place where a value becomes a part of a statement.
namespace snapdiff::fleet {

/// A literal: letters and digits as they are, every other byte as \xNN, so that no text ends it.
std::string literal(std::string_view text);
std::string literal(const Hash128& hash);

/// `name` between backticks. Only what is_name() lets through comes here.
std::string identifier(std::string_view name);
/// Letters, digits and underscores, beginning with no digit.
bool is_name(std::string_view name);

std::string list_of(std::span<const std::uint64_t> numbers);
std::string list_of(std::span<const std::string> texts);
std::string list_of(std::span<const Hash128> hashes);

}  // namespace snapdiff::fleet
