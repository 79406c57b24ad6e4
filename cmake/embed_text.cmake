# A text as string literals of C++ in pieces that every compiler takes, each on a line of its own.
#   from   name of the variable that holds it, other than those that the function sets
#   tag    of the raw literals; must not stand in the text
#   out    name of the variable that gets them
function(snapdiff_literals from tag out)
  string(LENGTH "${${from}}" length)
  set(pieces "")
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${${from}}" ${at} 4000 piece)
    string(APPEND pieces "\n    R\"${tag}~(${piece})${tag}~\"")
    math(EXPR at "${at} + 4000")
  endwhile()
  set(${out} "${pieces}" PARENT_SCOPE)
endfunction()
