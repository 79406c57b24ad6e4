#include <catch2/catch.hpp>

#include <chrono>

#include "unit/analyzer/symbols/symbols_support.hpp"

using namespace snapdiff;
using namespace snapdiff::test;
using symbols::Demangle;
using symbols::demangle;

TEST_CASE("demangle: C++ names, none, simple and full") {
  CHECK(demangle("_ZN2ns1fIiEEvT_", Demangle::none) == "_ZN2ns1fIiEEvT_");
  CHECK(demangle("_ZN2ns1fIiEEvT_", Demangle::full) == "void ns::f<int>(int)");
  CHECK(demangle("_ZN2ns1fIiEEvT_", Demangle::simple) == "ns::f");
  CHECK(demangle("_ZNSt6vectorIPcSaIS0_EE9push_backERKS0_", Demangle::simple) == "std::vector::push_back");
  CHECK(demangle("_ZN12_GLOBAL__N_16hiddenEi", Demangle::simple) == "(anonymous namespace)::hidden");
  CHECK(demangle("_ZlsRSoRK4Item", Demangle::simple) == "operator<<");
  CHECK(demangle("_ZltRK4ItemS1_", Demangle::simple) == "operator<");
  CHECK(demangle("_ZNK3BoxIiEcvT_IlEEv", Demangle::none) == "_ZNK3BoxIiEcvT_IlEEv");
  CHECK(demangle("_Znwm", Demangle::simple) == "operator new");
  CHECK(demangle("_Z3foov.constprop.0", Demangle::full) == "foo() [clone .constprop.0]");
  CHECK(demangle("_Z3foov.constprop.0", Demangle::simple) == "foo");
}

TEST_CASE("demangle: what is no linker name stays") {
  for (const std::string name :
       {"", "main", "_Z", "_ZZ", "_R", "_RNv", "__Z", "malloc@plt", "main.(*Server).serve", "\xff\xfe"}) {
    CAPTURE(name);
    CHECK(demangle(name, Demangle::full) == name);
    CHECK(demangle(name, Demangle::none) == name);
  }
}

// The pairs are those of RFC 2603 and of the rustc book's page on symbol mangling, and what
// c++filt of binutils says of names that rustc wrote.
TEST_CASE("demangle: Rust, legacy scheme") {
  CHECK(demangle("_ZN4core3fmt5write17h0123456789abcdefE", Demangle::full) == "core::fmt::write");
  CHECK(demangle("_ZN60_$LT$alloc..string..String$u20$as$u20$core..fmt..Display$GT$3fmt17h0123456789abcdefE",
                 Demangle::full) == "<alloc::string::String as core::fmt::Display>::fmt");
  CHECK(demangle("_ZN4main28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE.llvm.123", Demangle::full) ==
        "main::{{closure}}");
  // A C++ function of that shape has no hash with digits enough.
  CHECK(demangle("_ZN3foo17h0000000000000000Ev", Demangle::full) == "foo::h0000000000000000()");
}

TEST_CASE("demangle: Rust, v0 scheme") {
  CHECK(demangle("_RNvCs1234_7mycrate3foo", Demangle::full) == "mycrate::foo");
  CHECK(demangle("_RNvNtCs1234_7mycrate3foo3bar", Demangle::full) == "mycrate::foo::bar");
  CHECK(demangle("_RNCNvCs1234_7mycrate4main0", Demangle::full) == "mycrate::main::{closure#0}");
  CHECK(demangle("_RINvNtC3std3mem8align_ofdE", Demangle::full) == "std::mem::align_of::<f64>");
  CHECK(demangle("_RNvMsr_NtCs3ssYzQotkvD_3std4pathNtB5_7PathBuf3newCs15kBYyAo9fc_7mycrate", Demangle::full) ==
        "<std::path::PathBuf>::new");
  CHECK(demangle("_RNvXs1g_NtCs1234_7mycrate3fooNtB6_3BarNtNtC4core5clone5Clone5clone", Demangle::full) ==
        "<mycrate::foo::Bar as core::clone::Clone>::clone");
  CHECK(demangle("_RNvCs1234_7mycrateu8gdel_5qa", Demangle::full) ==
        "mycrate::g\xc3\xb6"
        "del");
  CHECK(demangle("_RINvC3foo3barRShE", Demangle::full) == "foo::bar::<&[u8]>");
  CHECK(demangle("_RINvC3foo3barAhj4_E", Demangle::full) == "foo::bar::<[u8; 4]>");
  CHECK(demangle("_RINvC3foo3barFEuE", Demangle::full) == "foo::bar::<fn()>");
  CHECK(demangle("_RINvC3foo3barDNtC4core4SendEL_E", Demangle::full) == "foo::bar::<dyn core::Send>");
  CHECK(demangle("_RINvC3foo3barTlbEE", Demangle::full) == "foo::bar::<(i32, bool)>");
  CHECK(demangle("_RINvC3foo3barKj7b_E", Demangle::full) == "foo::bar::<123>");
  CHECK(demangle("_RINvC3foo3barKlna_E", Demangle::full) == "foo::bar::<-10>");
  CHECK(demangle("_RINvC3foo3barKb1_E", Demangle::full) == "foo::bar::<true>");
  CHECK(demangle("_RINvC3foo3barKc61_E", Demangle::full) == "foo::bar::<'a'>");
  CHECK(demangle("_RINvNtC3std3mem8align_ofdE", Demangle::simple) == "std::mem::align_of");
}

TEST_CASE("demangle: Rust names that c++filt of binutils decodes, too") {
  if (!has_program("c++filt")) {
    WARN("skipped: no c++filt");
    return;
  }
  const std::vector<std::string> names{
      "_RNvMNtCs4fqI2P2rA04_13const_genericINtB2_8UnsignedKhb_E1fB4_",
      "_RINvNtNtCs1234_4core3ptr13drop_in_placeINtNtCs1234_5alloc3vec3VecNtNtB12_6string6StringEECs1234_3foo",
      "_RNvYNtC3foo3BarNtC4core5Clone5clone",
      "_RNvXINICs4fqI2P2rA04_13const_generics_0pE3FooINtB5_3BarpE5clone",
  };
  for (const std::string& name : names) {
    CAPTURE(name);
    std::string truth = run_command("c++filt '" + name + "'").output;
    while (!truth.empty() && truth.back() == '\n') truth.pop_back();
    // c++filt prints the hashes of crates, too.
    for (std::size_t at = 0; (at = truth.find('[', at)) != std::string::npos;) {
      const std::size_t end = truth.find_first_not_of("0123456789abcdef", at + 1);
      if (end != std::string::npos && truth[end] == ']')
        truth.erase(at, end + 1 - at);
      else
        ++at;
    }
    CHECK(demangle(name, Demangle::full) == truth);
  }
}

TEST_CASE("demangle: hostile names cost little and give something") {
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::string> names;
  // Each argument names the one before twice: 2^60 characters if it were written out.
  std::string doubling = "_Z1f1AIiiE";
  constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  for (std::size_t i = 0; i < 35; ++i) doubling += std::string("S_IS") + kDigits[i] + "_S" + kDigits[i] + "_E";
  names.push_back(doubling);
  names.push_back("_Z1f" + std::string(1'000'000, 'P') + "i");
  names.push_back("_ZN" + std::string(100'000, 'N'));
  names.push_back("_R" + std::string(100'000, 'N'));
  names.push_back("_RINvC3foo3bar" + std::string(100'000, 'R') + "uE");
  names.push_back("_RINvC3foo3bar" + std::string(50'000, 'T') + std::string(50'000, 'E') + "E");
  names.push_back("_ZN99999999999999999999a17h0123456789abcdefE");
  names.push_back("_RNvC99999999999999999999999a");
  std::string rust = "_RINvC1f1gTuuE";  // tuples of two back references, each to the tuple before
  const auto base62 = [](std::size_t n) {
    constexpr std::string_view kAll = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    if (n == 0) return std::string("_");
    std::string out;
    for (n -= 1;; n /= 62) {
      out.insert(out.begin(), kAll[n % 62]);
      if (n < 62) break;
    }
    return out + "_";
  };
  std::size_t last = 8;
  for (int i = 0; i < 60; ++i) {
    const std::string again = "B" + base62(last);
    last = rust.size() - 2;
    rust += "T" + again + again + "E";
  }
  names.push_back(rust + "E");
  for (const std::string& name : names) {
    for (const Demangle how : {Demangle::full, Demangle::simple})
      CHECK(demangle(name, how).size() <= std::max<std::size_t>(name.size(), 1U << 16));
  }
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
}
