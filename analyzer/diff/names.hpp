#pragma once

#include <string>
#include <string_view>

namespace snapdiff::diff {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Id of the rules that normalise() follows; changes whenever a rule does.
inline constexpr std::string_view kRuleSet = "1";

/// The name of a function without what a rebuild changes (tier T4): addresses, clone suffixes,
/// numbers of lambdas and closures, template arguments beyond depth 1, Rust hashes, Go type
/// arguments, Python comprehensions. Rule set kRuleSet.
std::string normalise(std::string_view function);

/// The name as drop_frames expressions see it: no leading '.', cut at the argument list. A view
/// into `function`. Source: google/pprof profile/prune.go, simplifyFunc.
std::string_view without_arguments(std::string_view function);

/// The name without .constprop.N, .isra.N, .part.N, .cold, .lto_priv.N and .llvm.N at its end.
std::string_view without_clone_suffixes(std::string_view function);

/// The name without a Rust hash, `::h` and 16 hex digits.
std::string_view without_rust_hash(std::string_view function);

/// Length of an operator name at the start of `text`, e.g. of "operator<<(int)" without the
/// arguments; 0 when there is none. Brackets in it are no brackets.
std::size_t operator_length(std::string_view text);

/// Template arguments from depth `keep` + 1 on as "...": a<b<c>> is a<b<...>> at depth 1.
std::string collapse_template_arguments(std::string_view function, int keep);

}  // namespace snapdiff::diff
