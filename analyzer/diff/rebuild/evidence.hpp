#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/diff/build_match.hpp"

namespace snapdiff::diff::rebuild {

/// What is on one side only, of two that were joined exactly.
struct LeftOver {
  std::vector<std::uint32_t> before, after;  ///< entries
};

/// Kinds of evidence that a side ran another build than the one before it. After `module`: facts that one build has in
/// one way, and two sides that agree or contradict each other in it say how likely it is that they are one.
enum class Evidence : std::uint8_t {
  none,
  module,            ///< a module has another build id, or other code at its offsets
  function_of_line,  ///< the function that a line of a file belongs to
  file_of_function,  ///< the file that a function is in, and the hash in its name; of frames without functions, the
                     ///< folder of a file
  callee_of_line,    ///< the function that a line calls, where it calls one
  way_of_call,       ///< whether a line calls a function itself, or another one that calls it
  way_of_site,       ///< the functions of the library through which a line allocates
  use_of_line,       ///< whether a line allocates or calls
  line_of_function,  ///< where only the line is known that a function begins at, which one that is
  line_of_call,      ///< the line that a function calls another one at
  site_of_few,       ///< the line that a function allocates at, where one side saw one alone
  site_of_many,      ///< the same, where both sides saw several
  stack,             ///< whether something of the above contradicts in a stack that is left over
};
inline constexpr std::size_t kEvidences = 13;

/// Two sides in one of these ways.
struct Observed {
  std::size_t agree = 0, contradict = 0;
  double nats = 0;  ///< weight, a logarithm of how many times likelier this is of two builds
};

/// Whether two sides are of two builds.
struct Estimate {
  std::array<Observed, kEvidences> observed;
  bool settled = false;          ///< one recording, one process or equal modules: one build; or two unrelated programs
  bool is_other_module = false;  ///< settled as well: two builds

  double nats() const;
  /// The strongest of what says so; none for one build, and where too little speaks for another one.
  Evidence kind() const;
  /// "a line belongs to another function: 12 of 40, weight 31".
  std::vector<std::string> text() const;
};

/// c of c + a contradict, and of one build `noise` of them would: the logarithm of how many times likelier that is if
/// their true share is the one seen. 0 where it is no more than the noise.
double weight_of(std::size_t contradict, std::size_t agree, double noise);

std::string_view to_text(Evidence evidence);

/// Looks at the stacks that are left over alone, and at all of a side where they contradict the other one: what a
/// release left as it was says nothing.
Estimate estimate(const Side& before, const Side& after, const BuildFacts& facts_before, const BuildFacts& facts_after,
                  const LeftOver& left);

}  // namespace snapdiff::diff::rebuild
