#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "snapdiff/result.hpp"

/// Reads the headers of an ELF file with checks of its own, before elfutils sees the file.
namespace snapdiff::symbols {

inline constexpr std::uint64_t kMaxElfBytes = std::uint64_t{16} << 30;      ///< the largest debug files are near 10 GiB
inline constexpr std::uint64_t kMaxInflatedBytes = std::uint64_t{8} << 30;  ///< compressed debug sections, together
inline constexpr std::uint64_t kMaxSections = 1U << 20;                     ///< -ffunction-sections makes 100 000s
inline constexpr std::uint64_t kMaxNoteBytes = 1U << 20;                    ///< build id notes are 36 bytes
inline constexpr std::uint64_t kMaxLinkBytes = 4096 + 64;                   ///< a path and an id or checksum
inline constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t page_down(std::uint64_t x) { return x / kPage * kPage; }

struct Segment {
  std::uint64_t offset = 0;
  std::uint64_t file_size = 0;
  std::uint64_t vaddr = 0;
  std::uint64_t memory_size = 0;
  bool executable = false;
};

struct ElfHead {
  std::string path;
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;
  std::uint64_t device = 0, inode = 0;
  std::vector<Segment> loads;
  std::string build_id;   ///< lower-case hex, "" when it has none
  std::string debuglink;  ///< .gnu_debuglink: base name of the debug file
  std::uint32_t debuglink_crc = 0;
  std::string alt_name;  ///< .gnu_debugaltlink: path of what dwz moved out
  std::string alt_build_id;
  bool has_code = false;  ///< false for separate debug files
  bool has_dwarf = false;
  bool has_symbols = false;  ///< a .symtab, or the small one in .gnu_debugdata
  bool split_dwarf = false;  ///< part of the debug information lies in .dwo files
};

/// Errors: io (cannot be opened, or not an ordinary file), malformed (no ELF file, truncated),
/// unsupported (a core, too large, an object file: only what dwz wrote may be one).
Result<ElfHead> read_elf_head(const std::string& path, bool may_be_object = false);

/// CRC-32 of a whole file as .gnu_debuglink has it.
Result<std::uint32_t> file_crc32(const std::string& path);

}  // namespace snapdiff::symbols
