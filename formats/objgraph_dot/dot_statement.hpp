#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace snapdiff::formats::objgraph_dot {

/// One line of objgraph's output.
struct Statement {
  enum class What : std::uint8_t {
    broken,
    nothing,    ///< defaults, colours, marks that objgraph draws beside objects
    node,       ///< `from` with a label
    mention,    ///< `from` without one
    edge,       ///< from -> to, label may be empty
    more_here,  ///< objgraph left references out
    end         ///< }
  };
  What what = What::broken;
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::string label;  ///< escapes undone; lines end with \n
};

/// Reads a line without its end into `out`. Grammar: README.md.
void read_statement(std::string_view line, Statement& out);

}  // namespace snapdiff::formats::objgraph_dot
