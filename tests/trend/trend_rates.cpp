// How often the verdict is right over series of known law: prints a table, and ends 1 where a rate
// is not the one of rates.txt.
//
// trend_rates RATES [SERIES_PER_CELL [SEED]]

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "analyzer/trend/verdict.hpp"
#include "trend/laws.hpp"

namespace {

using namespace snapdiff;

constexpr std::array<std::size_t, 6> kLengths = {5, 8, 12, 16, 20, 50};

constexpr double kNotGiven = -1;

struct Rates {
  std::array<double, 6> growing{};  // percent; never at 5
  std::array<double, 6> either{};   // GROWING or RISING
};

/// What rates.txt has for a law, by "measured" or "published".
using Expected = std::map<std::string, std::map<std::string, Rates>>;

bool read_expected(const char* path, Expected& expected) {
  std::ifstream file(path);
  std::string law;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    if (line.front() != ' ') {
      law = line;
      continue;
    }
    std::istringstream words(line);
    std::string kind, bar;
    Rates rates;
    words >> kind;
    const auto read = [&](double& rate) {
      std::string word;
      words >> word;
      rate = word == "-" ? kNotGiven : std::strtod(word.c_str(), nullptr);
    };
    for (std::size_t k = 1; k < kLengths.size(); ++k) read(rates.growing[k]);
    words >> bar;
    for (double& rate : rates.either) read(rate);
    if (!words || bar != "|") {
      std::fprintf(stderr, "%s: '%s': expected KIND, 5 rates, |, 6 rates\n", path, line.c_str());
      return false;
    }
    expected[law][kind] = rates;
  }
  return !expected.empty();
}

Rates measure(const bench::Law& law, int series, unsigned seed) {
  Rates rates;
  for (std::size_t k = 0; k < kLengths.size(); ++k) {
    bench::Source source(seed * 1000003U + static_cast<unsigned>(k));
    bench::Values values(kLengths[k]);
    int growing = 0, either = 0;
    for (int i = 0; i < series; ++i) {
      const bench::Known known = law.fill(source, values);
      trend::Points points;
      points.values = values;
      points.error = {known.variance, known.sample};
      const Verdict verdict = trend::judge(points);
      growing += verdict.word == "GROWING" ? 1 : 0;
      either += verdict.word == "GROWING" || verdict.word == "RISING" ? 1 : 0;
    }
    rates.growing[k] = 100.0 * growing / series;
    rates.either[k] = 100.0 * either / series;
  }
  return rates;
}

/// Five standard deviations of the difference of two shares, and what rounding to whole percents hides.
double margin(double percent, double series, double others, double rounding) {
  const double share = std::min(std::max(percent / 100, 1 / series), 1 - 1 / series);
  return 500 * std::sqrt(share * (1 - share) * (1 / series + 1 / others)) + rounding;
}

int compare(const std::string& law, const Rates& found, const std::map<std::string, Rates>& expected, int series) {
  int failed = 0;
  for (const auto& [kind, rates] : expected) {
    const bool published = kind == "published";
    const auto check = [&, name = kind.c_str()](const char* what, std::size_t length, double is, double wanted) {
      if (wanted == kNotGiven) return;
      const double most = margin(wanted, series, published ? 4000 : 20000, published ? 1 : .1);
      if (std::abs(is - wanted) <= most) return;
      std::printf("  %s, %s at %zu values: %.1f %%, %s %.1f, expected within %.1f of it\n", law.c_str(), what, length,
                  is, name, wanted, most);
      ++failed;
    };
    for (std::size_t k = 0; k < kLengths.size(); ++k) {
      check("GROWING", kLengths[k], found.growing[k], rates.growing[k]);
      check("GROWING or RISING", kLengths[k], found.either[k], rates.either[k]);
    }
  }
  return failed;
}

}  // namespace

int main(int argc, char** argv) {
  const int series = argc > 2 ? std::atoi(argv[2]) : 4000;
  const unsigned seed = argc > 3 ? static_cast<unsigned>(std::atoi(argv[3])) : 1;
  Expected expected;
  if (argc < 2 || series < 1 || !read_expected(argv[1], expected)) {
    std::fprintf(stderr, "usage: trend_rates RATES [SERIES_PER_CELL [SEED]]\n");
    return 2;
  }
  std::printf("percent of %d series each, seed %u\n\n%-48s %21s    %s\n", series, seed, "", "GROWING at 8 12 16 20 50",
              "GROWING or RISING at 5 8 12 16 20 50");
  int failed = 0;
  bool leaks = true;
  for (const bench::Law& law : bench::all_laws()) {
    if (law.leaks != leaks) std::printf("%s\n", law.leaks ? "leaks: recall" : "harmless: false alarms");
    leaks = law.leaks;
    const Rates found = measure(law, series, seed);
    std::printf("  %-46s", law.name.c_str());
    for (std::size_t k = 1; k < kLengths.size(); ++k) std::printf(" %5.1f", found.growing[k]);
    std::printf("   ");
    for (const double rate : found.either) std::printf(" %5.1f", rate);
    std::printf("\n");
    if (expected[law.name].empty()) {
      std::printf("  %s: no rates to compare with\n", law.name.c_str());
      ++failed;
    }
    failed += compare(law.name, found, expected[law.name], series);
  }
  std::printf("\n%d rates differ\n", failed);
  return failed == 0 ? 0 : 1;
}
