# cmake -DOUT=drawing_stamp.cpp -DVERSION=0.1.0 -DHEADERS="a.hpp;b.hpp" -P stamp.cmake: the hash of the headers as a source.
set(hashes "")
foreach(header IN LISTS HEADERS)
  file(SHA256 "${header}" hash)
  string(APPEND hashes "${hash}\n")
endforeach()
string(SHA256 hash "${hashes}")
string(SUBSTRING "${hash}" 0 16 hash)
file(WRITE "${OUT}.new" "#include \"analyzer/render/drawing_module.hpp\"

namespace snapdiff::render {

const char* const kDrawingStamp = \"snapdiff ${VERSION}, headers ${hash}, compiler \" __VERSION__;

}  // namespace snapdiff::render
")
file(COPY_FILE "${OUT}.new" "${OUT}" ONLY_IF_DIFFERENT)
