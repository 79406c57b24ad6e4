#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "analyzer/trend/verdict.hpp"
#include "trend/laws.hpp"

int main(int argc, char** argv) {
  using namespace snapdiff;
  const int runs = argc > 1 ? std::atoi(argv[1]) : 400;
  const unsigned seed = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 1;
  constexpr std::array<std::size_t, 5> kLengths = {5, 8, 12, 20, 50};
  std::printf("%-40s %29s   %29s\n", "percent of series", "GROWING at 5  8 12 20 50", "GROWING or RISING");
  for (const bench::Law& law : bench::all_laws()) {
    std::printf("%-40s", law.name.c_str());
    std::array<double, 5> rising{};
    for (std::size_t k = 0; k < kLengths.size(); ++k) {
      bench::Source source(seed * 1000003U + static_cast<unsigned>(k));
      bench::Values values(kLengths[k]);
      int growing = 0, both = 0;
      for (int run = 0; run < runs; ++run) {
        const double variance = law.fill(source, values);
        const Verdict verdict = trend::judge(values, variance, 0);
        growing += verdict.word == "GROWING" ? 1 : 0;
        both += verdict.word == "GROWING" || verdict.word == "RISING" ? 1 : 0;
      }
      std::printf(" %5.1f", 100.0 * growing / runs);
      rising[k] = 100.0 * both / runs;
    }
    std::printf("  ");
    for (const double r : rising) std::printf(" %5.1f", r);
    std::printf("\n");
  }
  return 0;
}
