# cmake -DIN=a.py;b.cjs -DOUT=script_texts.cpp -P embed_scripts.cmake: the files as strings.
include(${CMAKE_CURRENT_LIST_DIR}/../../cmake/embed_text.cmake)
set(entries "")
foreach(path IN LISTS IN)
  get_filename_component(name ${path} NAME)
  file(READ "${path}" text)
  snapdiff_literals(text script pieces)
  string(APPEND entries "  if (name == \"${name}\") return ${pieces};\n")
endforeach()
file(WRITE "${OUT}.new" "#include \"analyzer/capture/script_texts.hpp\"

namespace snapdiff::capture {

std::string_view script_text(std::string_view name) {
${entries}  return {};
}

}  // namespace snapdiff::capture
")
file(COPY_FILE "${OUT}.new" "${OUT}" ONLY_IF_DIFFERENT)
