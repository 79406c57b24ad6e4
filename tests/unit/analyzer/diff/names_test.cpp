#include "analyzer/diff/names.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "analyzer/base/function_name.hpp"

using namespace snapdiff::diff;

TEST_CASE("normalise: what a rebuild changes is gone") {
  const auto [name, expected] = GENERATE(table<std::string, std::string>({
      {"foo", "foo"},
      {"foo+0x1f", "foo"},
      {"foo.constprop.0", "foo"},
      {"foo.isra.0.constprop.3", "foo"},
      {"foo.part.12.cold", "foo"},
      {"foo(int) [clone .constprop.0]", "foo(int)"},
      {"foo(int) [clone .isra.0] [clone .cold]", "foo(int)"},
      {"foo.llvm.1234567890", "foo"},
      {"a<b<c<d> > >::f()", "a<b<...> >::f()"},
      {"a<b>::f()", "a<b>::f()"},
      {"std::operator<< <std::char_traits<char> >(int)", "std::operator<< <std::char_traits<...> >(int)"},
      {"bool operator< <a<b<c>>>(int)", "bool operator< <a<...>>(int)"},
      {"f(int)::{lambda(char)#3}::operator()(char) const", "f(int)::{lambda}::operator()(char) const"},
      {"f()::$_12::operator()()", "f()::$_::operator()()"},
      {"f()::'lambda0'(int)", "f()::{lambda}(int)"},
      {"main.serve.func3", "main.serve.func"},
      {"main.serve.func3.1", "main.serve.func"},
      {"main.Map[go.shape.int,go.shape.string]", "main.Map[...]"},
      {"main.Map[...].Get", "main.Map[...].Get"},
      {"core::ptr::drop_in_place<alloc::vec::Vec<u8>>::h0123456789abcdef",
       "core::ptr::drop_in_place<alloc::vec::Vec<...>>"},
      {"app::run::{closure#3}", "app::run::{closure}"},
      {"module.f.<locals>.<listcomp>", "module.f"},
      {"<module>", "<module>"},
      {"0x7f00", ""},
      {"operator new(unsigned long)", "operator new(unsigned long)"},
      {"a::operator->() const", "a::operator->() const"},
      {"unclosed<a<b", "unclosed<a<..."},
      {"", ""},
  }));
  CHECK(normalise(name) == expected);
}

TEST_CASE("normalise: applied to its own result it changes nothing") {
  for (const std::string name : {"a<b<c<d> > >::f()", "f(int)::{lambda(char)#3}::operator()(char) const",
                                 "main.serve.func3.1", "x.isra.0.cold", "f()::$_12"}) {
    CHECK(normalise(normalise(name)) == normalise(name));
  }
}

TEST_CASE("names without arguments, as drop_frames sees them") {
  const auto [name, expected] = GENERATE(table<std::string, std::string>({
      {"malloc", "malloc"},
      {".malloc", "malloc"},
      {"operator new(unsigned long)", "operator new"},
      {"(anonymous namespace)::f(int)", "(anonymous namespace)::f"},
      {"a::operator()(int) const", "a::operator()"},
      {"std::__new_allocator<int>::allocate(unsigned long, void const*)", "std::__new_allocator<int>::allocate"},
      {"main.(*T).f", "main."},
  }));
  CHECK(without_arguments(name) == expected);
}

TEST_CASE("short names for tables") {
  const auto [name, expected] = GENERATE(table<std::string, std::string>({
      {"alloc_body", "alloc_body"},
      {"alloc_body(unsigned long)", "alloc_body"},
      {"void ns::f<int>(int, char)", "ns::f<int>"},
      {"std::vector<char*, std::allocator<char*> >::push_back(char* const&)", "std::vector<char*>::push_back"},
      {"std::map<int, std::vector<int>>::at(int const&)", "std::map<int, std::vector<…>>::at"},
      {"f[abi:cxx11](int)", "f"},
      {"foo(int) [clone .constprop.0]", "foo"},
      {"foo.isra.0", "foo"},
      {"f(int)::{lambda(char)#1}::operator()(char) const", "f::{lambda#1}::operator()"},
      {"main.(*Server).serve", "main.(*Server).serve"},
      {"alloc::vec::Vec<T>::push::h0123456789abcdef", "alloc::vec::Vec<T>::push"},
      {"operator new(unsigned long)", "operator new"},
      {"Worker.run", "Worker.run"},
      {"<module>", "<module>"},
      {"", ""},
  }));
  CHECK(snapdiff::short_function_name(name) == expected);
}
