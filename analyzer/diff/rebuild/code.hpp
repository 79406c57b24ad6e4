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

/// A function of one side, in the eyes of the matching.
struct Function {
  std::string_view name;  ///< as recorded; "" where only lines are known
  std::string_view file;
  std::string_view plain;    ///< the name without the place that some agents put into it
  std::string_view base;     ///< normalised: without clone suffixes, numbers of lambdas, hashes
  std::string_view shorter;  ///< the last two parts of the name without arguments: "Cache::put"
  std::string_view last;     ///< the last part: "put"

  bool is_named_by_place() const { return plain.size() != name.size(); }
};

/// Frames whose "function" only repeats file and line, as tracemalloc's.
bool says_only_lines(std::string_view name, std::string_view file, std::int32_t line);

/// The last `parts` parts of a name that "::" or "." separates, without arguments.
std::string last_parts_of(std::string_view name, int parts);

/// The last `parts` parts of a path.
std::string_view end_of_path(std::string_view path, int parts);

/// Frames of the language's own library and runtime: they come and go with optimisation and
/// say nothing about the program.
bool is_library_frame(std::string_view function, std::string_view file, std::string_view module);

/// One side as functions and lines. Vectors are per FrameId; `function` is kNone for frames that
/// the matching leaves out: those of the library, those without a name, pseudo frames.
class Code {
 public:
  explicit Code(const Side& side);

  std::vector<Function> functions;
  std::vector<FunctionId> functions_of_library;  ///< those of the library that are used, in the dictionary
  std::vector<std::uint32_t> function;
  std::vector<std::int32_t> line;

  const Side& side() const { return side_; }
  const Dictionary& dictionary() const { return d_; }
  std::string_view name(FunctionId f) const { return d_.strings[d_.functions.name[index_of(f)]]; }
  std::string_view file(FunctionId f) const { return d_.strings[d_.functions.file[index_of(f)]]; }

  /// Frames of an entry, leaf first, without those left out, and a clone of a part of a function
  /// and the function as one. Empty where nothing is left, and where what allocates is an address
  /// of the program without a name: of another build nobody knows what is there.
  std::span<const FrameId> frames(std::size_t entry, std::vector<FrameId>& scratch) const;

  /// Names of the library's frames at the leaf as one number: how memory was asked for. 0: directly.
  std::uint32_t way(std::size_t entry) const;

 private:
  enum class Kind : std::uint8_t { whole, left_out, unresolved, part };
  struct Known;

  void name_functions();
  void name_function(Known& known, std::size_t frame);
  void join_lines();  ///< functions of frames that have lines only
  void join_inlined_closures();
  /// `shown`: the short name of `plain`; empty where nobody asked for it yet.
  void set_names(Function& of, std::string_view plain, std::string_view shown);
  std::string_view keep(std::string_view text);

  const Side& side_;
  const Dictionary& d_;
  std::vector<std::uint8_t> nameless_;  ///< per FrameId: only file and line are known
  std::vector<Kind> kind_;              ///< per FrameId: an address of the program without a name, a clone of a part
  std::vector<std::uint32_t> way_;      ///< per FrameId: of a library frame, its name
  std::unordered_map<Hash128, std::uint32_t> numbers_;  ///< of functions by name and file, while they are named
  bool any_left_out_ = false;
  Arena<char> texts_;  ///< of names
};

/// Both sides at once.
std::pair<Code, Code> read_code(const Side& before, const Side& after);

/// Per function the first one of its file and name, numbers of closures apart.
std::vector<std::uint32_t> first_alike(const Code& code);

/// Per function a hash of its name, file and first line: of runs of functions those of least hash are compared, and
/// which these are must not depend on the order of the input, as numbers of functions do.
std::vector<std::uint64_t> hashes_of_functions(const Code& code);

}  // namespace snapdiff::diff::rebuild
