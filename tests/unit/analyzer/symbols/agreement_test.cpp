#include <catch2/catch.hpp>

#include <map>
#include <random>

#include "unit/analyzer/symbols/symbols_support.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

constexpr std::size_t kSamples = 1000;

constexpr std::string_view kTemplateProgram = R"(
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <regex>
#include <string>
#include <vector>
namespace shop {
template <class Key, class Value>
class Shelf {
 public:
  void put(Key key, Value value) { rows_[std::move(key)].push_back(std::move(value)); }
  template <class Visit> void each(Visit visit) const { for (const auto& [k, v] : rows_) for (const auto& x : v) visit(k, x); }
 private:
  std::map<Key, std::vector<Value>> rows_;
};
struct Item { std::string name; double price; };
namespace { int hidden(int n) { return n > 1 ? n * hidden(n - 1) : 1; } }
static inline double total(const Shelf<std::string, Item>& shelf) {
  double sum = 0;
  shelf.each([&](const std::string&, const Item& item) { sum += item.price; });
  return sum;
}
}
int main(int argc, char**) {
  shop::Shelf<std::string, shop::Item> shelf;
  for (int i = 0; i < 100 * argc; ++i) shelf.put("k" + std::to_string(i % 7), {"item" + std::to_string(i), i * 1.5});
  struct Local { static int twice(int x) { return std::abs(x) * 2 + std::rand(); } };
  std::vector<std::function<int(int)>> calls{[](int x) { return x + 1; }, Local::twice, shop::hidden};
  std::regex words("k[0-9]+");
  int sum = 0;
  for (auto& call : calls) sum += call(argc);
  std::vector<std::shared_ptr<shop::Item>> items;
  shelf.each([&](const std::string& k, const shop::Item& item) { if (std::regex_match(k, words)) items.push_back(std::make_shared<shop::Item>(item)); });
  std::sort(items.begin(), items.end(), [](const auto& a, const auto& b) { return a->price > b->price; });
  std::printf("%d %f %zu\n", sum, shop::total(shelf), items.size());
}
)";

/// libc gives one function several names: swapcontext, __swapcontext, __GI___swapcontext.
std::string bare(std::string name) {
  for (const std::string prefix : {"__GI_", "_", "_", "_"}) {
    if (name.starts_with(prefix)) name.erase(0, prefix.size());
  }
  return name;
}

/// "f" of "f<int>".
std::string plain(const std::string& name) { return name.substr(0, name.find('<')); }

/// What stands before a lambda, which one program spells 'lambda'(int) and another one {lambda(int)#1}.
std::string before_lambda(const std::string& name) {
  const std::size_t at = name.find("lambda");
  return at == std::string::npos || at == 0 ? name : name.substr(0, at - 1);
}

bool same(const std::vector<TrueFrame>& a, const std::vector<TrueFrame>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].line != b[i].line || base_name(a[i].file) != base_name(b[i].file)) return false;
    const std::string x = before_lambda(a[i].function), y = before_lambda(b[i].function);
    if (x.find(plain(y)) == std::string::npos && y.find(plain(x)) == std::string::npos) return false;
  }
  return true;
}

/// Why two answers differ, in the words of the table that the test prints.
std::string explain(const std::vector<TrueFrame>& theirs, const std::vector<TrueFrame>& ours) {
  const bool they_know = !theirs.empty() && !theirs.back().function.empty();
  if (ours.empty() && !they_know) return "";
  if (ours.empty() && theirs.size() == 1 && theirs[0].line == 0)
    return "addr2line takes the nearest symbol before, though that function ends before the address";
  if (ours.empty()) return "DIFFERENT: not found by us";
  if (!they_know && theirs.size() == 1 && ours.size() == 1 && ours[0].file.empty()) return "addr2line does not name it";
  if (theirs.size() == 1 && ours.size() == 1 && ours[0].file.empty() && !theirs[0].file.empty() &&
      theirs[0].line == 0 && theirs[0].function == ours[0].function)
    return "no line information: addr2line gives the base name of the object's source";
  if (theirs.size() == 1 && ours.size() == 1 && ours[0].file.empty() && theirs[0].line == 0 &&
      theirs[0].function != ours[0].function)
    return "another symbol of the same code";
  if (theirs.size() != ours.size()) return "DIFFERENT: number of inlined calls";
  std::string why;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const TrueFrame& a = theirs[i];
    const TrueFrame& b = ours[i];
    if (a.line != b.line) return "DIFFERENT: line";
    if (normal_path(a.file) != normal_path(b.file)) {
      if (base_name(a.file) != base_name(b.file)) return "DIFFERENT: file";
      why = "same file, its folder is written otherwise";
    }
    if (a.function != b.function) {
      const auto names = [](const TrueFrame& full, const TrueFrame& short_one) {
        const std::string name = plain(short_one.function);
        return name.find("::") == std::string::npos && name.find('.') == std::string::npos &&
               full.function.find(name) != std::string::npos;
      };
      if (names(a, b) || names(b, a)) {
        why = "one gives the plain name of the debug information, the other the full one of the symbol table";
        continue;
      }
      if (a.function.starts_with("_Z") || a.function.starts_with("_R") || b.function.starts_with("_Z"))
        return "one of the two does not decode the name";
      if (a.function.find('<') != std::string::npos || a.function.find('(') != std::string::npos)
        return "DIFFERENT: decoded otherwise";
      // Assembly gives code several names, too: memcpy and memmove.
      if (bare(a.function) == bare(b.function) || (a.file.ends_with(".S") && a.file == b.file)) {
        why = "another name of the same function";
        continue;
      }
      return "DIFFERENT: function";
    }
  }
  return why;
}

struct Reason {
  std::size_t count = 0;
  std::string example;
};

struct Agreement {
  std::size_t asked = 0, same = 0, named = 0, with_lines = 0, inlined = 0, different = 0;
  std::map<std::string, Reason> reasons;
};

Agreement compare(const std::string& binary, std::size_t samples) {
  Agreement out;
  const SectionPlace text = section_of(binary, ".text");
  if (text.size == 0) return out;
  std::mt19937_64 random(20240501);
  std::vector<std::uint64_t> offsets;
  for (std::size_t i = 0; i < samples; ++i) offsets.push_back(text.offset + random() % text.size);
  std::sort(offsets.begin(), offsets.end());
  offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
  std::vector<std::uint64_t> vaddrs;
  for (const std::uint64_t offset : offsets) vaddrs.push_back(offset - text.offset + text.address);
  symbols::ModuleQuery query;
  query.name = binary;
  query.offsets = offsets;
  const symbols::Resolution resolution = symbols::resolve(std::span(&query, 1), {});
  const auto ours = our_frames(resolution.modules[0], offsets.size());
  const auto theirs = ask_addr2line(binary, vaddrs);
  if (theirs.size() != ours.size()) return out;
  std::vector<std::vector<TrueFrame>> third;
  if (has_program("llvm-symbolizer")) third = ask_addr2line(binary, vaddrs, "llvm-symbolizer --output-style=GNU");
  for (std::size_t i = 0; i < ours.size(); ++i) {
    ++out.asked;
    if (!ours[i].empty()) ++out.named;
    if (!ours[i].empty() && !ours[i].front().file.empty()) ++out.with_lines;
    if (ours[i].size() > 1) ++out.inlined;
    std::string why = explain(theirs[i], ours[i]);
    if (ours[i].empty() && third.size() == ours.size() && third[i].size() == 1 && third[i][0].function.empty() &&
        !why.empty())
      why = "between two functions: addr2line takes the one before, llvm-symbolizer none";
    if (why.starts_with("DIFFERENT") && third.size() == ours.size() && same(third[i], ours[i]))
      why = "addr2line alone says so, llvm-symbolizer as we do (" + why.substr(11) + ")";
    if (why.empty()) {
      ++out.same;
    } else {
      if (why.starts_with("DIFFERENT")) ++out.different;
      Reason& reason = out.reasons[why];
      if (++reason.count == 1) {
        std::ostringstream example;
        example << "0x" << std::hex << vaddrs[i] << "\n        addr2line: " << text_of(theirs[i])
                << "\n        we:        " << text_of(ours[i]);
        reason.example = example.str();
      }
    }
  }
  return out;
}

void show(const std::string& name, const Agreement& a) {
  std::string text = name + ": " + std::to_string(a.same) + " of " + std::to_string(a.asked) +
                     " addresses agree in every frame (" + std::to_string(a.named) + " named, " +
                     std::to_string(a.with_lines) + " with lines, " + std::to_string(a.inlined) +
                     " with inlined calls)";
  for (const auto& [why, reason] : a.reasons)
    text += "\n  " + std::to_string(reason.count) + " x " + why + ", e.g. at " + reason.example;
  std::printf("%s\n", text.c_str());
}

/// Shares below are what the listed reasons leave; a rise of DIFFERENT is a defect of ours.
void check(const std::string& name, const std::string& binary, double fewest) {
  if (!has_program("llvm-symbolizer")) {
    WARN("skipped: no llvm-symbolizer to say who is right where addr2line differs");
    return;
  }
  if (!has_program("addr2line") || !has_program("readelf") || binary.empty() || !std::filesystem::exists(binary)) {
    WARN("skipped: " << name << ": no such binary, or no binutils");
    return;
  }
  const Agreement a = compare(binary, kSamples);
  show(name, a);
  REQUIRE(a.asked > 0);
  CHECK(static_cast<double>(a.different) <= (1 - fewest) * static_cast<double>(a.asked));
}

}  // namespace

TEST_CASE("agreement with addr2line: this test program") {
  check("this test program", std::filesystem::read_symlink("/proc/self/exe").string(), 0.99);
}

TEST_CASE("agreement with addr2line: cmake, sqlite3, libc and libstdc++ as they are installed") {
  check("cmake", program_path("cmake"), 0.99);
  check("sqlite3", program_path("sqlite3"), 0.99);
  check("libstdc++", program_path("/usr/lib/x86_64-linux-gnu/libstdc++.so.6"), 0.99);
  check("libc", program_path("/usr/lib/x86_64-linux-gnu/libc.so.6"), 0.97);
}

TEST_CASE("agreement with addr2line: the program of the shared series") {
  check("svc_cache", std::string(SNAPDIFF_SHARED_DATA) + "/pprof/series/bin/svc_cache", 1.0);
}

TEST_CASE("agreement with addr2line: a C++ program with templates and inlining") {
  if (!has_program("c++")) {
    WARN("skipped: no c++");
    return;
  }
  const TemporaryFolder folder;
  write_file(folder / "main.cpp", kTemplateProgram);
  for (const std::string options : {"-O2 -g", "-O2 -g -gdwarf-4", "-O3 -g -flto", "-O1 -g -no-pie -fno-pie"}) {
    const CommandResult built =
        run_command("cd " + folder.path() + " && c++ -std=c++17 " + options + " main.cpp -o main");
    INFO(built.output);
    REQUIRE(built.status == 0);
    check("c++ " + options, folder / "main", 0.995);
  }
  if (!has_program("clang++")) {
    WARN("skipped: no clang++");
    return;
  }
  const CommandResult built = run_command("cd " + folder.path() + " && clang++ -std=c++17 -O2 -g main.cpp -o main");
  INFO(built.output);
  REQUIRE(built.status == 0);
  check("clang++ -O2 -g", folder / "main", 0.995);
}

TEST_CASE("agreement with addr2line: a Go program") {
  if (!has_program("go")) {
    WARN("skipped: no go");
    return;
  }
  const TemporaryFolder folder;
  write_file(folder / "main.go", R"(
package main

import (
	"fmt"
	"os"
	"sort"
	"strings"
)

type item struct{ name string; size int }

func grow(n int) []item {
	out := []item{}
	for i := 0; i < n; i++ { out = append(out, item{strings.Repeat("x", i%9), i}) }
	sort.Slice(out, func(a, b int) bool { return out[a].size > out[b].size })
	return out
}

func main() { fmt.Println(len(grow(len(os.Args)*1000))) }
)");
  const CommandResult built =
      run_command("cd " + folder.path() + " && GOPROXY=off GO111MODULE=off GOCACHE=" + (folder / "cache") +
                  " HOME=" + folder.path() + " go build -o main main.go");
  INFO(built.output);
  REQUIRE(built.status == 0);
  check("go", folder / "main", 0.97);
}

TEST_CASE("agreement with addr2line: a Rust program") {
  if (!has_program("rustc")) {
    WARN("skipped: no rustc");
    return;
  }
  const TemporaryFolder folder;
  write_file(folder / "main.rs", R"(
use std::collections::{BTreeMap, HashMap};
trait Shape { fn area(&self) -> f64; }
struct Square(f64);
impl Shape for Square { fn area(&self) -> f64 { self.0 * self.0 } }
fn apply<F: Fn(u64) -> u64>(f: F, n: u64) -> u64 { (0..n).map(|x| f(x)).filter(|x| x % 3 == 0).sum() }
fn main() {
    let n = std::env::args().count() as u64;
    let shapes: Vec<Box<dyn Shape>> = (0..n).map(|i| Box::new(Square(i as f64)) as Box<dyn Shape>).collect();
    let mut by_name: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for i in 0..1000 * n { by_name.entry(format!("{}", i % 7)).or_default().push(i); }
    let counts: HashMap<_, _> = by_name.iter().map(|(k, v)| (k.clone(), v.len())).collect();
    println!("{} {:?} {}", shapes.iter().map(|s| s.area()).sum::<f64>(), counts, apply(|x| x * n, 100));
}
)");
  for (const std::string scheme : {"legacy", "v0"}) {
    const CommandResult built =
        run_command("cd " + folder.path() +
                    " && RUSTC_BOOTSTRAP=1 rustc -O -g -Z unstable-options -C symbol-mangling-version=" + scheme +
                    " main.rs -o " + scheme);
    INFO(built.output);
    REQUIRE(built.status == 0);
    check("rust, " + scheme + " names", folder / scheme, 0.95);
  }
}
