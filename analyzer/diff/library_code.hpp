#pragma once

#include <string_view>

#include "snapdiff/result.hpp"

/// Own code and library code: which functions, files and modules belong to nobody's own program.
/// The rules are data (library_code.cpp); `--own` and `--library` extend them.
namespace snapdiff::diff {

/// Whether a function of this name is library code whatever file it is in: the standard libraries,
/// runtimes and frameworks whose namespaces or packages say so. `function` as recorded. Types of
/// JVM and .NET histograms are names too: "java.util.HashMap$Node", "[B".
bool is_library_name(std::string_view function);

/// Whether a type, or a frame of which nothing but a name is recorded, is made by a runtime on behalf of others:
/// "(string)", "dict", "Object", "(root)".
bool is_runtime_type(std::string_view name);

/// Whether a source file is of a library or a runtime, by where it is or what it is called.
bool is_library_file(std::string_view file);

/// Whether `function` of `file` is in the package that the path of `file` names, among Go's own: "net/http.Get"
/// in ".../src/net/http/client.go".
bool is_go_library(std::string_view function, std::string_view file);

/// Whether a module (path as recorded) is a shared library of the system, not of the program.
bool is_library_module(std::string_view module);

/// Functions that every stack of a process or thread starts with: to name one helps nobody.
bool is_entry_function(std::string_view function);

}  // namespace snapdiff::diff
