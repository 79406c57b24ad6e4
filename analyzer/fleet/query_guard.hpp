#pragma once

#include <string_view>

#include "snapdiff/result.hpp"

namespace snapdiff::fleet {

/// Whether a user's query reads nothing but tables of `database` and of the system. Servers can read addresses, files
/// and other servers by table functions (url, file, remote, ...): of these numbers() alone is let through.
/// Errors: usage, with what is not allowed.
Status check_query(std::string_view query, std::string_view database);

}  // namespace snapdiff::fleet
