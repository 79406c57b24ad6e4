#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/diff/rebuild/code.hpp"

namespace snapdiff::diff::rebuild {

/// Dice's coefficient of pairs of letters of names of functions. A name is taken apart once, whatever it is compared
/// with.
class LetterPairs {
 public:
  LetterPairs(const Code& before, const Code& after, std::string_view Function::*name)
      : before_(before),
        after_(after),
        name_(name),
        of_after_(after.functions.size()),
        number_of_(1U << 16U, 0),
        chosen_(1U << 16U, 0) {}

  /// The function of `before` that is compared next.
  void choose(std::uint32_t f) {
    for (const Pair& pair : of_chosen_.pairs) chosen_[pair.number] = 0;
    of_chosen_ = {};
    text_ = before_.functions[f].*name_;
    is_apart_ = false;
  }

  double likeness(std::uint32_t g) {
    const std::string_view other = after_.functions[g].*name_;
    if (text_.empty() || other.empty()) return 0;
    if (text_ == other) return 1;
    if (!is_apart_) take_chosen_apart();
    if (!of_after_[g].known) of_after_[g] = apart(other);
    std::size_t both = 0;
    for (const Pair& pair : of_after_[g].pairs) both += std::min(chosen_[pair.number], pair.times);
    const std::size_t sum = of_chosen_.count + of_after_[g].count;
    return 2.0 * static_cast<double>(both) / static_cast<double>(std::max<std::size_t>(1, sum));
  }

 private:
  /// Letters of a name that are compared: all of nearly every name, of a longer one as many at both ends.
  static constexpr std::size_t kMostLetters = 256;

  struct Pair {
    std::uint16_t number = 0, times = 0;
  };
  struct Pairs {
    std::vector<Pair> pairs;
    std::size_t count = 0;
    bool known = false;
  };

  Pairs apart(std::string_view name) {
    std::array<std::uint16_t, kMostLetters> letters{};
    Pairs out;
    out.known = true;
    const auto add = [&](std::string_view part) {
      for (std::size_t i = 0; i + 1 < part.size(); ++i) {
        letters[out.count++] = static_cast<std::uint16_t>(static_cast<unsigned char>(part[i]) << 8U |
                                                          static_cast<unsigned char>(part[i + 1]));
      }
    };
    add(name.substr(0, name.size() > kMostLetters ? kMostLetters / 2 : name.size()));
    if (name.size() > kMostLetters) add(name.substr(name.size() - kMostLetters / 2));
    std::sort(letters.begin(), letters.begin() + static_cast<std::ptrdiff_t>(out.count));
    for (std::size_t i = 0; i < out.count; ++i) {
      if (i == 0 || letters[i] != letters[i - 1]) out.pairs.push_back({number_of(letters[i]), 0});
      ++out.pairs.back().times;
    }
    return out;
  }

  /// Numbers in the order in which pairs are first seen: those in use lie close together.
  std::uint16_t number_of(std::uint16_t letters) {
    if (number_of_[letters] == 0) number_of_[letters] = ++numbers_;
    return static_cast<std::uint16_t>(number_of_[letters] - 1);
  }

  void take_chosen_apart() {
    is_apart_ = true;
    of_chosen_ = apart(text_);
    for (const Pair& pair : of_chosen_.pairs) chosen_[pair.number] = pair.times;
  }

  const Code& before_;
  const Code& after_;
  std::string_view Function::*name_;
  std::vector<Pairs> of_after_;           ///< per function, where it was compared
  std::vector<std::uint32_t> number_of_;  ///< per pair of letters, from 1 on
  std::uint32_t numbers_ = 0;
  std::vector<std::uint16_t> chosen_;  ///< per number, how often the chosen name has it
  Pairs of_chosen_;
  std::string_view text_;
  bool is_apart_ = false;
};

}  // namespace snapdiff::diff::rebuild
