# cmake -DIN=a.schema.json;b.schema.json -DOUT=schema_texts.cpp -P embed_schemas.cmake: the files as strings.
include(${CMAKE_CURRENT_LIST_DIR}/../../cmake/embed_text.cmake)
set(entries "")
foreach(path IN LISTS IN)
  get_filename_component(name ${path} NAME)
  string(REPLACE ".schema.json" "" name "${name}")
  file(READ "${path}" text)
  snapdiff_literals(text json pieces)
  string(APPEND entries "    {\"${name}\",${pieces}},\n")
endforeach()
file(WRITE "${OUT}.new" "#include <array>

#include \"analyzer/mcp/resources.hpp\"

namespace snapdiff::mcp {

std::span<const SchemaText> schema_texts() {
  static constexpr auto kTexts = std::to_array<SchemaText>({
${entries}  });
  return kTexts;
}

}  // namespace snapdiff::mcp
")
file(COPY_FILE "${OUT}.new" "${OUT}" ONLY_IF_DIFFERENT)
