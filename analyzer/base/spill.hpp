#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

/// Memory of a process up to a limit; what passes it lies in a file without a name, of which the system keeps as much
/// in memory as there is room for. Of large blocks alone: columns of a graph of objects, rows of samples. A program
/// uses it by replacing operator new and delete (analyzer/cli/process_memory.cpp). Any number of threads at once.
namespace snapdiff::spill {

/// Bytes. Smaller blocks always are memory: columns grow with an input, the number of blocks does not.
inline constexpr std::size_t kLarge = std::size_t{1} << 20;

/// Large blocks beyond `bytes`, together, lie in the file. Without a call: most_of_free().
void set_limit(std::size_t bytes);

/// Where the file is made; where it cannot be, in TMPDIR, else /var/tmp, else /tmp. Without effect once there is a
/// file.
void set_folder(std::string_view folder);

/// 70 % of what the machine and the control groups of the process (cgroups 1 and 2) have free.
std::size_t most_of_free();

/// A block of at least kLarge bytes. Throws std::bad_alloc, and Failure where the file has no room.
void* take(std::size_t size);

/// Call it for each block of at least kLarge bytes, and of those of unknown size, before it goes back to malloc.
/// True: it was part of the file and is gone.
bool give_back(void* memory) noexcept;

/// The most that was used so far.
struct Used {
  std::uint64_t file_bytes = 0;  ///< 0: everything was in memory
  std::size_t limit = 0;
  std::string_view folder;
};
Used most_used();

}  // namespace snapdiff::spill
