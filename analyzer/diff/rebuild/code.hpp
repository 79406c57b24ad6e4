#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/diff/arena.hpp"
#include "analyzer/diff/side.hpp"
#include "snapdiff/hash.hpp"

namespace snapdiff::diff::rebuild {

inline constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// A function of one side.
struct Function {
  std::string_view name;  ///< as recorded; "" where only lines are known
  std::string_view file;
  std::string_view plain;    ///< without the place that some agents put into it; a closure without a name of its own
                             ///< also has the name of the function that it is written in
  bool is_numbered = false;  ///< a closure that a number alone tells from others of its function: `plain` is without it
  bool is_closure = false;   ///< without a name of its own: "(anonymous)", "<lambda>"
};

/// The last part of a name, normalised: "put" of "Cache<int>::put(int)".
std::string last_of(std::string_view name);

/// Frames whose "function" only repeats file and line, as tracemalloc's.
bool says_only_lines(std::string_view name, std::string_view file, std::int32_t line);

/// The last `parts` parts of a name that "::" or "." separates, without arguments.
std::string last_parts_of(std::string_view name, int parts);

/// Frames of the language's own library and runtime: they come and go with optimisation and
/// say nothing about the program.
bool is_library_frame(std::string_view function, std::string_view file, std::string_view module);

/// One side as functions and lines. Vectors are per FrameId; `function` is kNone for frames that
/// the matching leaves out: those of the library, those without a name, pseudo frames.
class Code {
 public:
  explicit Code(const Side& side);

  std::vector<Function> functions;
  std::vector<std::uint32_t> function;
  std::vector<std::int32_t> line;

  const Side& side() const { return side_; }
  const Dictionary& dictionary() const { return d_; }

  /// Frames of an entry, leaf first, without those left out. Empty where nothing is left, and where an address of the
  /// program without a name allocates: its function in another build is unknown.
  std::span<const FrameId> frames(std::size_t entry, std::vector<FrameId>& scratch) const;

  /// Whether lines say which call it is: some agents give the line of the function whatever it calls.
  bool lines_tell() const;

 private:
  void name_functions();
  std::uint32_t name_function(std::size_t frame);
  void join_lines();  ///< functions of frames that have lines only
  void name_closures();
  std::string_view keep(std::string_view text);

  const Side& side_;
  const Dictionary& d_;
  std::vector<std::uint8_t> nameless_;                  ///< per FrameId: only file and line are known
  std::vector<std::uint8_t> unresolved_;                ///< per FrameId: an address of the program without a name
  std::unordered_map<Hash128, std::uint32_t> numbers_;  ///< of functions by name and file, while they are named
  bool any_left_out_ = false;
  Arena<char> texts_;  ///< of names
};

/// Both sides at once.
std::pair<Code, Code> read_code(const Side& before, const Side& after);

}  // namespace snapdiff::diff::rebuild
