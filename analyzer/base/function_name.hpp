#pragma once

#include <string>
#include <string_view>

#include "snapdiff/api.hpp"

/// Function names short enough for tables and graphs. Pure text work on one name: linear, no
/// recursion, any bytes. What it can't make sense of comes back as it was.
namespace snapdiff {

/// "DivBackward0" of "torch::autograd::generated::DivBackward0::apply(...)": what PyTorch calls the operation that a
/// node of its backward graph undoes (a tensor's grad_fn); "" for other functions.
SNAPDIFF_API std::string_view autograd_node(std::string_view function);

/// The name without parameters and return type, template arguments beyond depth 1 and arguments
/// that repeat a default left out, without clone suffixes, `[abi:cxx11]` and Rust hashes:
///   "void ns::f<std::vector<int, std::allocator<int> > >(int) [clone .cold]" -> "ns::f<std::vector<…>>"
///   "std::vector<char*, std::allocator<char*> >::push_back(char* const&)" -> "std::vector<char*>::push_back"
///   "foo(int)::{lambda(int)#1}::operator()(int) const" -> "foo::{lambda#1}::operator()"
///   "torch::autograd::generated::DivBackward0::apply(...)" -> "DivBackward0"
/// Go receivers stay: "main.(*Server).serve". Applied to its own result it changes nothing.
SNAPDIFF_API std::string short_function_name(std::string_view function, std::string_view ellipsis = "…");

/// For narrow places: "std::vector<std::string>::push_back" -> "vector<string>::push_back".
SNAPDIFF_API std::string without_std(std::string_view short_name);

/// "std::vector<float>" of "std::vector<float, std::allocator<float> >::push_back": the type whose function a
/// library frame is, else the function, short.
SNAPDIFF_API std::string via_name(std::string_view function);

/// Functions that every stack of a process or thread starts with: they say nothing, so tables drop
/// them from the root end.
SNAPDIFF_API bool is_entry_point(std::string_view function);

}  // namespace snapdiff
