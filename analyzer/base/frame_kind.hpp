#pragma once

#include <cstdint>
#include <string_view>

#include "snapdiff/api.hpp"

/// Whose code a frame is, and what it does in every stack: the one place that knows this of each language. The rules
/// are data (frame_rules.hpp); `--own` and `--library` outweigh them. Pure text work, linear in the length of a name.
namespace snapdiff {

/// From the frames that may name a leak to those that say nothing. A stack is named by its frames of the first kind
/// that it has.
///   own         the program's own code, and everything that no rule knows
///   start       own code that most stacks of a process begin with: main, the top level of a script
///   dependency  a package that somebody else wrote
///   library     standard library, runtime, framework, generated code
///   plumbing    parts of these that allocate or call on behalf of others: containers, constructors, dispatchers
///   loop        event loops, executors and servers: own code above them only starts the program
///   root        what a process or a thread begins with
///   unknown     a placeholder for an unknown name
enum class FrameKind : std::uint8_t { own, start, dependency, library, plumbing, loop, root, unknown };

/// Of a function and its file, both as recorded, either may be empty. Types of JVM and .NET histograms are names too:
/// "java.util.HashMap$Node", "[B".
SNAPDIFF_API FrameKind frame_kind(std::string_view function, std::string_view file);

/// Of a shared library or program, by its path.
SNAPDIFF_API FrameKind module_kind(std::string_view module);

/// Whether a type, or a frame of which nothing but a name is recorded, is made by a runtime on behalf of others:
/// "(string)", "dict", "Object", "(root)".
SNAPDIFF_API bool is_runtime_type(std::string_view name);

/// Whether PyTorch's recorder, its allocator or what asks it for an operator's output: below every allocation.
SNAPDIFF_API bool is_tensor_plumbing(std::string_view function);

/// Whether a stack through this frame is memory of the profiler itself, which a run without it would not have.
SNAPDIFF_API bool is_profiler(std::string_view function, std::string_view file);

/// Whether a compiler wrote the file while the program ran: torch.compile's cache, eval.
SNAPDIFF_API bool is_generated_file(std::string_view file);

}  // namespace snapdiff
