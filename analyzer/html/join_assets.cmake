# cmake -DOUTPUT=assets.cpp -DFOLDER=assets -DSTYLE=a.css;b.css -DSCRIPT=a.js;b.js -DOVERVIEW=a.css -P join_assets.cmake
# Writes C++ with the files' bytes. One literal a file: longer ones than 65 536 bytes compilers need not take.
function(pieces name kind files out)
  set(all "")
  set(code "")
  foreach(file IN LISTS files)
    file(READ "${FOLDER}/${file}" text)
    if(text MATCHES "\\)snapdiff\"" OR text MATCHES "[<]/[a-z]")
      message(FATAL_ERROR "${file}: holds what would end the element or the literal it stands in")
    endif()
    string(LENGTH "${text}" length)
    if(length GREATER 60000)
      message(FATAL_ERROR "${file}: ${length} bytes, expected at most 60000: split it")
    endif()
    string(APPEND all "${text}")
    string(APPEND code "    std::string_view(R\"snapdiff(${text})snapdiff\", ${length}),\n")
  endforeach()
  string(SHA256 hash "${all}")
  set(${out} "constexpr std::string_view k${kind}[] = {\n${code}};\n" PARENT_SCOPE)
  set(${out}_hash "${hash}" PARENT_SCOPE)
endfunction()
pieces(style Style "${STYLE}" style_code)
pieces(script Script "${SCRIPT}" script_code)
pieces(overview Overview "${OVERVIEW}" overview_code)
file(WRITE "${OUTPUT}" "// Made by join_assets.cmake of ${SCRIPT} ${STYLE}
#include \"analyzer/html/assets.hpp\"

namespace snapdiff::html::assets {
namespace {
${style_code}
${script_code}
${overview_code}
}  // namespace
const std::span<const std::string_view> style = kStyle;
const std::span<const std::string_view> script = kScript;
const std::span<const std::string_view> overview = kOverview;
const std::string_view overview_sha256 = \"${overview_code_hash}\";
const std::string_view style_sha256 = \"${style_code_hash}\";
const std::string_view script_sha256 = \"${script_code_hash}\";
}  // namespace snapdiff::html::assets
")
