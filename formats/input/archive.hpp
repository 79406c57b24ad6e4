#pragma once

#include <memory>
#include <vector>

#include "snapdiff/result.hpp"

/// Archives (.zip, .tar, compressed .tar) as folders: "bundle.zip/heap.1" means a member. Nothing
/// is written to disk.
namespace snapdiff::formats {

/// Limits of one archive, in bytes of all members and in members: a bundle of an incident has less.
inline constexpr std::uint64_t kMostArchiveBytes = std::uint64_t{1} << 30;
inline constexpr std::size_t kMostMembers = 10'000;

struct ArchiveMember {
  std::string name;        ///< as recorded, with its folders
  std::string_view bytes;  ///< valid as long as the archive
};

class Archive {
 public:
  /// Errors: those of reading the file; malformed, unsupported (encrypted, another method), limit.
  static Result<std::shared_ptr<const Archive>> open(const std::string& path);

  /// Plain files, in the order of their names; hidden ones are left out.
  const std::vector<ArchiveMember>& members() const { return members_; }
  const ArchiveMember* find(std::string_view name) const;

 private:
  friend class ArchiveReader;
  std::string bytes_;                                   // of the file, decompressed
  std::vector<std::unique_ptr<std::string>> inflated_;  // of a zip
  std::vector<ArchiveMember> members_;
};

/// Whether the path is that of a file that is an archive, by its first bytes; a compressed .tar also by its name.
bool is_archive(const std::string& path);

/// "bundle.zip" and "dumps/heap.1" of "bundle.zip/dumps/heap.1", where the first is an archive.
std::optional<std::pair<std::string, std::string>> archive_member(const std::string& path);

}  // namespace snapdiff::formats
