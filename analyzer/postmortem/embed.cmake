# cmake -DIN=hints.toml -DOUT=hints_text.cpp -P embed.cmake: the file as a string, in pieces that every compiler takes.
file(READ "${IN}" text)
string(LENGTH "${text}" length)
set(pieces "")
set(at 0)
while(at LESS length)
  string(SUBSTRING "${text}" ${at} 4000 piece)
  string(APPEND pieces "\n    R\"toml~(${piece})toml~\"")
  math(EXPR at "${at} + 4000")
endwhile()
file(WRITE "${OUT}.new" "#include \"analyzer/postmortem/make_postmortem.hpp\"

namespace snapdiff::postmortem {

std::string_view built_in_rules_text() {
  return ${pieces};
}

}  // namespace snapdiff::postmortem
")
file(COPY_FILE "${OUT}.new" "${OUT}" ONLY_IF_DIFFERENT)
