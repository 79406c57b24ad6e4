#include "analyzer/base/function_name.hpp"
#include "analyzer/base/frame_kind.hpp"

#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace snapdiff;

TEST_CASE("function names: parameters, return types, deep templates and suffixes go") {
  const auto [name, expected] = GENERATE(table<const char*, const char*>(
      {{"main", "main"},
       {"", ""},
       {"foo(int, char const*)", "foo"},
       {"ns::foo(int) const", "ns::foo"},
       {"ns::foo(int) const &", "ns::foo"},
       {"void ns::f<int>(int)", "ns::f<int>"},
       {"std::vector<char*, std::allocator<char*> >::push_back(char* const&)", "std::vector<char*>::push_back"},
       {"std::vector<std::vector<int, std::allocator<int> >, std::allocator<std::vector<int, std::allocator<int> > > "
        ">::f()",
        "std::vector<std::vector<…>>::f"},
       {"std::map<int, Foo<Bar<int> >, std::less<int>, std::allocator<std::pair<int const, Foo<Bar<int> > > > "
        ">::at(int const&)",
        "std::map<int, Foo<…>>::at"},
       {"std::vector<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, "
        "std::allocator<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > > "
        ">::resize(unsigned long)",
        "std::vector<std::string>::resize"},
       {"torch::autograd::generated::DivBackward0::apply(std::vector<at::Tensor, std::allocator<at::Tensor> >&&)",
        "DivBackward0"},
       {"torch::autograd::AccumulateGrad::apply(std::vector<at::Tensor>&&)", "AccumulateGrad"},
       {"torch::autograd::Node::apply(int)", "torch::autograd::Node::apply"},
       {"mine::autograd::DivBackward0::apply(int)", "mine::autograd::DivBackward0::apply"},
       {"f[abi:cxx11](int)", "f"},
       {"f(int) [clone .constprop.0]", "f"},
       {"f(int) [clone .isra.0] [clone .cold]", "f"},
       {"f.constprop.0.isra.1", "f"},
       {"f.llvm.1234567", "f"},
       {"f.part.0", "f"},
       {"f.cold", "f"},
       {"foo(int)::{lambda(int)#1}::operator()(int) const", "foo::{lambda#1}::operator()"},
       {"operator new(unsigned long)", "operator new"},
       {"operator delete[](void*)", "operator delete[]"},
       {"ns::operator<<(std::ostream&, int)", "ns::operator<<"},
       {"Foo::operator bool() const", "Foo::operator bool"},
       {"bool operator< <int>(A const&)", "operator< <int>"},
       {"Foo::operator()(int)", "Foo::operator()"},
       {"Foo::operator->()", "Foo::operator->"},
       {"(anonymous namespace)::f(int)", "(anonymous namespace)::f"},
       {"ns::(anonymous namespace)::f(int)", "ns::(anonymous namespace)::f"},
       {"std::unique_ptr<Foo, std::default_delete<Foo> >::reset(Foo*)", "std::unique_ptr<Foo>::reset"},
       {"main.(*Server).serve", "main.(*Server).serve"},
       {"main.main.func1", "main.main.func1"},
       {"runtime.mapassign_faststr", "runtime.mapassign_faststr"},
       {"slices.Sort[go.shape.int]", "slices.Sort[go.shape.int]"},
       {"alloc::vec::Vec<T,A>::push::h0123456789abcdef", "alloc::vec::Vec<T,A>::push"},
       {"alloc[7f9b1c2d3e4f5a6b]::vec::from_elem", "alloc::vec::from_elem"},
       {"<alloc::vec::Vec<T,A> as core::ops::drop::Drop>::drop", "<alloc::vec::Vec<…> as core::ops::drop::Drop>::drop"},
       {"<listcomp>", "<listcomp>"},
       {"<module>", "<module>"},
       {"Array.<anonymous>", "Array.<anonymous>"},
       {"-[NSObject alloc]", "-[NSObject alloc]"},
       {"get foo", "get foo"}}));
  CHECK(short_function_name(name) == expected);
  CHECK(short_function_name(short_function_name(name)) == expected);
}

TEST_CASE("function names: what makes no sense stays as it is") {
  for (const char* name :
       {"f(", "f<", "a<b(c>d)", "{lambda(", "((((", "<<<<", "f<a<b>", "x)", ">", "operator", "[", "[clone ", "::h"}) {
    CHECK_NOTHROW(short_function_name(name));
  }
  CHECK(short_function_name("f<int(") == "f<int(");
  const std::string deep = "f" + std::string(100000, '<');
  CHECK(short_function_name(deep) == deep);
  const std::string groups = "f" + std::string(100000, '(') + std::string(100000, ')');
  CHECK(short_function_name(groups) == "f");
  std::string ops;
  for (int i = 0; i < 20000; ++i) ops += "operator<";
  CHECK_NOTHROW(short_function_name(ops));
  std::string many;
  for (int i = 0; i < 20000; ++i) many += "[deadbeef";
  CHECK_NOTHROW(short_function_name(many));
}

TEST_CASE("function names: std:: is left out in narrow places, elsewhere in a name it stays") {
  CHECK(without_std("std::vector<std::string>::push_back") == "vector<string>::push_back");
  CHECK(without_std("mystd::vector") == "mystd::vector");
  CHECK(without_std("a::std::b") == "a::std::b");
  CHECK(without_std("std::") == "std::");
}

TEST_CASE("function names: entry points are known with their symbol versions") {
  CHECK(is_entry_point("main"));
  CHECK(is_entry_point("__libc_start_main@@GLIBC_2.34"));
  CHECK(is_entry_point("runtime.goexit"));
  CHECK_FALSE(is_entry_point("domain"));
  CHECK_FALSE(is_entry_point(""));
}

TEST_CASE("function names: an argument that is empty has nothing to leave out") {
  CHECK(short_function_name("<, >") == "<, >");
  CHECK(short_function_name("f<, >") == "f<, >");
  CHECK(short_function_name("f<int, >()") == "f<int, >");
  CHECK(short_function_name("f< >") == "f<>");
}

TEST_CASE("function names: no run of brackets, blanks and words is too odd to be shortened") {
  const std::vector<std::string> pieces{"<",
                                        ">",
                                        "(",
                                        ")",
                                        "{",
                                        "}",
                                        "[",
                                        "]",
                                        " ",
                                        ",",
                                        ", ",
                                        "->",
                                        "*",
                                        "::",
                                        "operator",
                                        "std::less<",
                                        "std::hash<int>",
                                        "f"};
  std::mt19937 random(20261125);
  for (int round = 0; round < 50'000; ++round) {
    std::string name;
    for (std::size_t n = 1 + random() % 9; n > 0; --n) name += pieces[random() % pieces.size()];
    CAPTURE(name);
    REQUIRE_NOTHROW(short_function_name(name));
    REQUIRE(short_function_name(name).size() <= 4 * name.size() + 4);
  }
}

TEST_CASE("function names: a lambda of the JVM has no address in its name") {
  CHECK(short_function_name("org.acme.Limiter$$Lambda$37/0x00000008000c82a0") == "org.acme.Limiter \u03bb37");
  CHECK(short_function_name("org.acme.Limiter$$Lambda$37/0x00000008000c82a0.run") == "org.acme.Limiter \u03bb37.run");
  CHECK(short_function_name("org.acme.Limiter$$Lambda+0x00000001000c82a0") == "org.acme.Limiter \u03bbc82a0");
  CHECK(short_function_name("$$Lambda") == "$$Lambda");
}
