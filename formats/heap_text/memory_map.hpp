#pragma once

#include "analyzer/base/snapshot_builder.hpp"
#include "formats/text/line_reader.hpp"

namespace snapdiff::formats::heap_text {

using namespace text;

/// One line of a memory map. Views into the line.
struct MapLine {
  std::uint64_t start = 0;
  std::uint64_t limit = 0;
  std::uint64_t offset = 0;
  std::string_view path;  ///< without " (deleted)"; "" for anonymous memory
  std::string_view build_id;
  bool executable = true;  ///< also where the line does not say
  bool deleted = false;
};

/// Reads the forms of /proc/<pid>/maps, of "brief" maps (macOS, Windows, --- Memory map: ---) and
/// of FreeBSD; nothing for any other line. A log prefix ("W1220 … file.cc:123] ") is dropped.
std::optional<MapLine> parse_map_line(std::string_view line);

/// The memory map at the end of a dump: which module an address belongs to.
class MemoryMap {
 public:
  struct Region {
    std::uint64_t start = 0;
    std::uint64_t limit = 0;
    std::uint64_t offset = 0;
    ModuleId module{};
    bool used = false;
  };

  /// True for the line that opens the section. The section reaches to the end of the input.
  static bool opens(std::string_view line);

  /// Reads lines to the end of the input, then cleans up. Lines of no known form are skipped.
  void read(LineReader& lines, SnapshotBuilder& builder);

  bool present() const { return present_; }
  bool mentions(std::string_view part_of_name) const;

  /// The region of `pc`, or null.
  const Region* find(std::uint64_t pc);

  /// Executable regions, and others that find() returned.
  void export_mappings(SnapshotBuilder& builder) const;

 private:
  void add(const MapLine& line, SnapshotBuilder& builder);
  void clean_up(const SnapshotBuilder& builder);
  std::string_view substituted(std::string_view path, std::string& buffer) const;

  bool present_ = false;
  std::vector<Region> executable_;  // by start once cleaned up
  std::vector<Region> other_;       // the same, lines without execute permission
  std::vector<std::string> names_;  // base names of modules, once each
  std::map<std::string, std::string, std::less<>> definitions_;
};

}  // namespace snapdiff::formats::heap_text
