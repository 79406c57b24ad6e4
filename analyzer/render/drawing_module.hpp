#pragma once

#include "analyzer/render/drawing.hpp"

/// The agreement of the module and the program that opens it. Nothing else of the module is visible.
///   snapdiff_drawing_stamp      kDrawingStamp of the module, to be compared before anything of it is called
///   snapdiff_drawing_functions  its functions
namespace snapdiff::render {

/// Two builds must share this to exchange C++ objects: version, compiler, and every header that describes them.
extern const char* const kDrawingStamp;

inline constexpr const char* kStampSymbol = "snapdiff_drawing_stamp";
inline constexpr const char* kFunctionsSymbol = "snapdiff_drawing_functions";
using StampFunction = const char* (*)();
using FunctionsFunction = const Drawing* (*)();

}  // namespace snapdiff::render
