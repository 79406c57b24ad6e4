#include "formats/input/archive.hpp"

#include <libdeflate.h>

#include <filesystem>
#include <fstream>
#include <mutex>
#include <system_error>

#include "formats/input/open_input.hpp"
#include "formats/input/read_failure.hpp"

namespace snapdiff::formats {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kZip = "PK\x03\x04", kEmptyZip = "PK\x05\x06", kUstar = "ustar";
constexpr std::size_t kTarBlock = 512, kUstarAt = 257;

std::uint64_t little_endian(std::string_view bytes, std::size_t at, std::size_t count) {
  std::uint64_t out = 0;
  for (std::size_t i = count; i > 0; --i) out = out << 8 | static_cast<unsigned char>(bytes[at + i - 1]);
  return out;
}

/// Editors and macOS add such files; the user packed none of them.
bool is_hidden(std::string_view name) {
  if (name.starts_with("__MACOSX/")) return true;
  for (std::size_t begin = 0; begin < name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    if (part.size() > 1 && part.front() == '.') return true;
    begin = end + 1;
  }
  return false;
}

}  // namespace

/// Fills one archive. Throws Failure.
class ArchiveReader {
 public:
  static std::shared_ptr<const Archive> read(const std::string& path) {
    auto out = std::make_shared<Archive>();
    InputOptions options;
    options.max_input_bytes = kMostArchiveBytes;
    const std::unique_ptr<OpenedInput> opened = value_or_throw(OpenedInput::open_path(path, options));
    Input& body = *value_or_throw(opened->body());
    for (;;) {
      const std::string_view view = value_or_throw(body.peek(kTarBlock));
      if (view.empty()) break;
      out->bytes_ += view;
      body.consume(view.size());
    }
    ArchiveReader reader(*out);
    out->bytes_.starts_with(kZip) ? reader.zip() : reader.tar();
    auto& members = out->members_;
    std::erase_if(members, [](const ArchiveMember& one) { return is_hidden(one.name); });
    std::stable_sort(members.begin(), members.end(),
                     [](const ArchiveMember& a, const ArchiveMember& b) { return a.name < b.name; });
    return out;
  }

 private:
  explicit ArchiveReader(Archive& out) : out_(out), bytes_(out.bytes_) {}

  void add(std::string name, std::string_view bytes, std::uint64_t offset) {
    if (out_.members_.size() == kMostMembers) fail(ErrorCode::limit, "archive with more than 10000 files", offset);
    while (name.starts_with("./")) name.erase(0, 2);
    if (!name.empty() && !name.ends_with('/')) out_.members_.push_back({std::move(name), bytes});
  }

  [[noreturn]] static void cut(std::uint64_t offset) { fail_malformed("archive is cut: expected more bytes", offset); }

  /// The directory at the end says where the members are. Source: PKWARE APPNOTE 6.3.
  void zip() {
    constexpr std::size_t kEnd = 22, kLongestComment = 65535, kEntry = 46;
    std::size_t end = bytes_.size() < kEnd ? std::string_view::npos : bytes_.rfind(kEmptyZip);
    if (end == std::string_view::npos || bytes_.size() - end > kEnd + kLongestComment || bytes_.size() - end < kEnd)
      fail_malformed("zip archive is cut: expected its directory at the end", bytes_.size());
    std::size_t at = static_cast<std::size_t>(little_endian(bytes_, end + 16, 4));
    const std::uint64_t count = little_endian(bytes_, end + 10, 2);
    for (std::uint64_t i = 0; i < count; ++i) {
      if (at > bytes_.size() || bytes_.size() - at < kEntry || bytes_.substr(at, 4) != "PK\x01\x02") cut(at);
      const auto field = [&](std::size_t offset, std::size_t size) { return little_endian(bytes_, at + offset, size); };
      const auto name_bytes = static_cast<std::size_t>(field(28, 2));
      if (bytes_.size() - at - kEntry < name_bytes) cut(at);
      const std::string name(bytes_.substr(at + kEntry, name_bytes));
      if ((field(8, 2) & 1) != 0) fail(ErrorCode::unsupported, "encrypted zip archive: unpack it first", at);
      if (!name.ends_with('/'))
        zip_member(name, field(42, 4), field(20, 4), field(24, 4), field(10, 2),
                   static_cast<std::uint32_t>(field(16, 4)));
      at += kEntry + name_bytes + static_cast<std::size_t>(field(30, 2) + field(32, 2));
    }
  }

  void zip_member(const std::string& name, std::uint64_t offset, std::uint64_t packed, std::uint64_t size,
                  std::uint64_t method, std::uint32_t crc) {
    constexpr std::uint64_t kLocalHead = 30, kDeflateRatio = 1032;  // deflate cannot pass it
    if (offset > bytes_.size() || bytes_.size() - offset < kLocalHead) cut(offset);
    const auto head = static_cast<std::size_t>(offset);
    const std::uint64_t begin =
        offset + kLocalHead + little_endian(bytes_, head + 26, 2) + little_endian(bytes_, head + 28, 2);
    if (begin > bytes_.size() || bytes_.size() - begin < packed) cut(offset);
    const std::string_view data = bytes_.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(packed));
    if (method == 0) return add(name, data, offset);
    if (method != 8)
      fail(ErrorCode::unsupported, "zip archive with a method other than deflate: unpack it first", offset);
    unpacked_ += size;
    if (unpacked_ > kMostArchiveBytes || size > packed * kDeflateRatio)
      fail(ErrorCode::limit, "zip archive unpacks to more than 1 GiB", offset);
    auto inflated = std::make_unique<std::string>(static_cast<std::size_t>(size), '\0');
    const std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)> inflate(
        libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
    std::size_t got = 0;
    if (inflate == nullptr ||
        libdeflate_deflate_decompress(inflate.get(), data.data(), data.size(), inflated->data(), inflated->size(),
                                      &got) != LIBDEFLATE_SUCCESS ||
        got != size || libdeflate_crc32(0, inflated->data(), inflated->size()) != crc)
      fail_malformed("damaged member of a zip archive: " + name, offset);
    add(name, *inflated, offset);
    out_.inflated_.push_back(std::move(inflated));
  }

  /// Blocks of 512 bytes: a head, then the file. Source: POSIX pax, GNU tar's manual.
  void tar() {
    std::string long_name;
    for (std::size_t at = 0; bytes_.size() - at >= kTarBlock;) {
      const std::string_view head = bytes_.substr(at, kTarBlock);
      if (head.find_first_not_of('\0') == std::string_view::npos) return;
      if (head.substr(kUstarAt, kUstar.size()) != kUstar) fail_malformed("damaged tar archive: expected ustar", at);
      const std::uint64_t size = octal(head.substr(124, 12), at);
      const std::size_t begin = at + kTarBlock;
      if (size > bytes_.size() - begin) cut(at);
      const std::string_view data = bytes_.substr(begin, static_cast<std::size_t>(size));
      switch (head[156]) {
        case 'L': long_name = std::string(data.substr(0, data.find('\0'))); break;
        case 'x': long_name = pax_path(data); break;
        case '0':
        case '7':
        case '\0': add(long_name.empty() ? name_of(head) : long_name, data, at); [[fallthrough]];
        default: long_name.clear();
      }
      at = begin + (static_cast<std::size_t>(size) + kTarBlock - 1) / kTarBlock * kTarBlock;
      if (at > bytes_.size()) return;
    }
  }

  static std::string text_of(std::string_view field) { return std::string(field.substr(0, field.find('\0'))); }
  static std::string name_of(std::string_view head) {
    const std::string prefix = head[kUstarAt + 5] == '\0' ? text_of(head.substr(345, 155)) : std::string();
    return prefix.empty() ? text_of(head.substr(0, 100)) : prefix + '/' + text_of(head.substr(0, 100));
  }
  static std::uint64_t octal(std::string_view field, std::uint64_t offset) {
    std::uint64_t out = 0;
    for (const char c : field) {
      if (c == ' ' || c == '\0') continue;
      if (c < '0' || c > '7') fail_malformed("damaged tar archive: expected a size in octal digits", offset);
      out = out << 3 | static_cast<std::uint64_t>(c - '0');
    }
    return out;
  }
  /// "30 path=dumps/heap.1\n" among other records.
  static std::string pax_path(std::string_view records) {
    const std::size_t found = records.find(" path=");
    if (found == std::string_view::npos) return {};
    const std::string_view value = records.substr(found + 6);
    return std::string(value.substr(0, value.find('\n')));
  }

  Archive& out_;
  std::string_view bytes_;
  std::uint64_t unpacked_ = 0;
};

Result<std::shared_ptr<const Archive>> Archive::open(const std::string& path) {
  // All members of one archive are read after each other.
  static std::mutex mutex;
  static std::string last_path;
  static fs::file_time_type last_time;
  static std::shared_ptr<const Archive> last;
  const std::lock_guard<std::mutex> hold(mutex);
  std::error_code failure;
  const fs::file_time_type time = fs::last_write_time(path, failure);
  if (last != nullptr && last_path == path && last_time == time) return last;
  std::shared_ptr<const Archive> made;
  Status read = run_reader([&] { made = ArchiveReader::read(path); });
  if (!read) return std::move(read).error().about(path);
  last = made;
  last_path = path;
  last_time = time;
  return made;
}

const ArchiveMember* Archive::find(std::string_view name) const {
  const auto found =
      std::lower_bound(members_.begin(), members_.end(), name,
                       [](const ArchiveMember& one, std::string_view wanted) { return one.name < wanted; });
  return found != members_.end() && found->name == name ? &*found : nullptr;
}

bool is_archive(const std::string& path) {
  std::error_code failure;
  if (!fs::is_regular_file(path, failure)) return false;
  std::ifstream file(path, std::ios::binary);
  std::string head(kTarBlock, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  if (head.starts_with(kZip)) return true;
  if (head.size() == kTarBlock && head.compare(kUstarAt, kUstar.size(), kUstar) == 0) return true;
  // A compressed file would have to be decompressed to know it: the name must say so, too.
  const std::string name = fs::path(path).filename().string();
  const bool is_named = name.ends_with(".tgz") || name.ends_with(".txz") || name.find(".tar.") != std::string::npos;
  return is_named && (head.starts_with("\x1f\x8b") ||
                      head.starts_with("\xfd"
                                       "7zXZ") ||
                      head.starts_with("\x28\xb5\x2f\xfd"));
}

std::optional<std::pair<std::string, std::string>> archive_member(const std::string& path) {
  std::error_code failure;
  if (fs::exists(path, failure)) return std::nullopt;
  for (std::size_t slash = path.rfind('/'); slash != std::string::npos && slash > 0;
       slash = path.rfind('/', slash - 1)) {
    const std::string front = path.substr(0, slash);
    if (fs::is_regular_file(front, failure))
      return is_archive(front) ? std::optional(std::pair(front, path.substr(slash + 1))) : std::nullopt;
    if (fs::is_directory(front, failure)) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace snapdiff::formats
