#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/diff/rebuild/code.hpp"

namespace snapdiff::diff::rebuild {

/// What stacks have in common that are one but for a line.
enum class Like : std::uint8_t {
  size,     ///< of their objects; then several have to have moved
  as_many,  ///< also their number, about: one is enough, or several that moved as far and grew by as much
};

/// Whether half of `some_*` is on the other side too but for the line of one frame, with objects of the same size
/// or of sizes that grew by as much wherever that line moved so: so does a program into which lines were put or whose
/// lines changed places, and none that only did other work. `some_*`: entries that the other side has not, or with
/// other sizes.
bool differ_by_a_line(const Code& before, const Code& after, const std::vector<std::uint32_t>& some_before,
                      const std::vector<std::uint32_t>& some_after, Like like = Like::size);

/// Whether a fifth of `some_*`, entries with objects of another size on the other side, exchanged these with another
/// one that differs in one line: sites that changed places while every line stayed one.
bool lines_exchanged(const Code& before, const Code& after, const std::vector<std::uint32_t>& some_before,
                     const std::vector<std::uint32_t>& some_after);

/// Whether half of `some_*` is on the other side too but for one frame, in whose place another function of its file
/// is that one side alone has: a part that was split off and is jumped to. Or half of what goes through functions of
/// one side alone, where the same line of a file is that the other side alone has: a file was renamed. `some_*`:
/// entries that the other side has not.
bool functions_replaced(const Code& before, const Code& after, const std::vector<std::uint32_t>& some_before,
                        const std::vector<std::uint32_t>& some_after);

}  // namespace snapdiff::diff::rebuild
