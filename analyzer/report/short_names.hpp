#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace snapdiff::report {

/// Shorter spellings of a name, the longest first, each still a name that a person can search for:
///   Go      "github.com/x/y/cache.(*Map[go.shape.string]).Set", "….(*Map[…]).Set" -> "cache.(*Map[…]).Set"
///   C++, Rust  "a::b::Pool<int, 64>::get" -> "a::b::Pool<…>::get" -> "b::Pool<…>::get" -> "Pool<…>::get"
///   JVM     "org.acme.shop.cart.Store.put" -> "o.a.shop.cart.Store.put" -> "o.a.s.c.Store.put"
///   places  "app/orders/views.py:18" -> "views.py:18"
/// Empty for other names.
std::vector<std::string> shorter_names(std::string_view name, std::string_view ellipsis);

}  // namespace snapdiff::report
