#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Rust linker names. Both decoders give nothing for a name that is not of their scheme.
namespace snapdiff::symbols {

inline constexpr std::size_t kMaxRustDepth = 256;  ///< types and paths inside each other; rustc's own limit is 128
inline constexpr std::size_t kMaxRustOutput = 1U << 16;  ///< back references can double a name at each step

/// "_ZN4core3fmt5write17h0123456789abcdefE" -> "core::fmt::write". The scheme before 2020, and
/// rustc's default for stable releases since; the hash is left out.
std::optional<std::string> demangle_rust_legacy(std::string_view name);

/// "_RNvNtCs1234_7mycrate3foo3bar" -> "mycrate::foo::bar": RFC 2603. Crate hashes are left out.
/// `written`, also where a name fails: the characters and steps that it took are added, which hostile names make many.
std::optional<std::string> demangle_rust_v0(std::string_view name, std::uint64_t& written);

}  // namespace snapdiff::symbols
