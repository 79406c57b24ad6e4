#include "formats/heaptrack/heap_recording.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "unit/formats/heaptrack/small_recording.hpp"

using namespace snapdiff;
using namespace snapdiff::test;
using formats::heaptrack::fits;

TEST_CASE("heaptrack: patterns of suppressions") {
  const auto [pattern, name, expected] = GENERATE(table<std::string, std::string, bool>({
      {"foo", "a_foo_b", true},
      {"foo", "fo", false},
      {"^foo", "foobar", true},
      {"^foo", "a_foo", false},
      {"foo$", "a_foo", true},
      {"foo$", "foofoo", true},
      {"foo$", "foo_a", false},
      {"^foo$", "foo", true},
      {"^foo$", "foofoo", false},
      {"^leak*Supp$", "leakFooSupp", true},
      {"^leak*Supp$", "leakSupp", true},
      {"^leak*Supp$", "leakFoo", false},
      {"^leak*Supp$", "aleakSupp", false},
      {"a*b*c", "xxaxxbxxcxx", true},
      {"a*b*c", "xxaxxcxxb", false},
      {"*", "anything", true},
      {"lib*.so", "/usr/lib/libx.so.1", true},
      {"a**b", "ab", true},
      {"aba*ba$", "aba", false},
  }));
  CAPTURE(pattern, name);
  CHECK(fits(pattern, name) == expected);
}

TEST_CASE("heaptrack: leaks that the program declares harmless keep their rows and say so") {
  const std::string text =
      "v 10400 3\nS leak:^cache$\nS leak:/lib/x.so\nS thread:f\ns 5 cache\ns 1 f\ns 9 /lib/x.so\n"
      "i 1 0 1\ni 2 0 2\ni 3 3\nt 1 0\nt 2 1\nt 2 0\nt 3 0\na 8 2\na 10 3\na 20 4\n+ 0\n+ 1\n+ 2\n";
  const Snapshot s = recording_ok(text);
  CHECK(rows(s) ==
        std::map<std::string, std::vector<std::int64_t>>{{"f;cache{suppressed=^cache$}", {1, 8, 1, 8, 0}},
                                                         {"f", {1, 16, 1, 16, 0}},
                                                         {"[x.so]{suppressed=/lib/x.so}", {1, 32, 1, 32, 0}}});
  CHECK(counter(s, "suppressed") == 40);
  CHECK(note_count(s, Severity::info, "not of the form leak:PATTERN") == 1);
}
