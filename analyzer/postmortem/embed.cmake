# cmake -DIN=hints.toml -DOUT=hints_text.cpp -P embed.cmake: the file as a string.
include(${CMAKE_CURRENT_LIST_DIR}/../../cmake/embed_text.cmake)
file(READ "${IN}" text)
snapdiff_literals(text toml pieces)
file(WRITE "${OUT}.new" "#include \"analyzer/postmortem/make_postmortem.hpp\"

namespace snapdiff::postmortem {

std::string_view built_in_rules_text() {
  return ${pieces};
}

}  // namespace snapdiff::postmortem
")
file(COPY_FILE "${OUT}.new" "${OUT}" ONLY_IF_DIFFERENT)
