#pragma once

#include <span>
#include <string_view>

/// Style and script of the page, made of assets/ by join_assets.cmake when the project is built.
namespace snapdiff::html::assets {

/// Pieces in order, and the SHA-256 of all of them together in lower-case hex.
extern const std::span<const std::string_view> style;
extern const std::span<const std::string_view> script;
extern const std::span<const std::string_view> overview;  // the style of the page of many series
extern const std::string_view style_sha256;
extern const std::string_view script_sha256;
extern const std::string_view overview_sha256;

}  // namespace snapdiff::html::assets
