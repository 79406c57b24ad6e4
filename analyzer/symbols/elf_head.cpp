#include "analyzer/symbols/elf_head.hpp"

#include <elf.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "analyzer/base/failure.hpp"
#include "analyzer/symbols/file_descriptor.hpp"

namespace snapdiff::symbols {
namespace {

constexpr std::size_t kBlock = 1 << 16;
constexpr int kMaxNotes = 64;                       // real files have two or three
constexpr std::uint64_t kMaxNameBytes = 64U << 20;  // names of sections, all together

std::string hex_text(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    const auto u = static_cast<unsigned char>(c);
    out += kDigits[u >> 4];
    out += kDigits[u & 15];
  }
  return out;
}

struct Section {
  std::uint64_t name = 0, type = 0, flags = 0, offset = 0, size = 0;
};

/// Numbers of either byte order and word size out of a file, by place and length.
class HeadReader {
 public:
  HeadReader(int fd, std::uint64_t size, bool may_be_object) : fd_(fd), size_(size), may_be_object_(may_be_object) {}

  void read(ElfHead& head) {
    std::string ident;
    if (!bytes(0, EI_NIDENT, ident) || std::string_view(ident).substr(0, 4) != std::string_view("\177ELF", 4))
      fail({ErrorCode::malformed, "not an ELF file: " + what_else(), 0});
    wide_ = ident[EI_CLASS] == ELFCLASS64;
    big_ = ident[EI_DATA] == ELFDATA2MSB;
    if ((!wide_ && ident[EI_CLASS] != ELFCLASS32) || (!big_ && ident[EI_DATA] != ELFDATA2LSB))
      fail({ErrorCode::malformed, "damaged ELF header: word size or byte order is not one of the two", EI_CLASS});
    const std::string raw = needed(0, wide_ ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr), "its header");
    const std::uint64_t type = number(raw, 16, 2);
    if (type != ET_EXEC && type != ET_DYN && !(type == ET_REL && may_be_object_))
      fail(ErrorCode::unsupported,
           std::string("not a program or shared object: found ") + (type == ET_REL    ? "an object file"
                                                                    : type == ET_CORE ? "a core dump"
                                                                                      : "another kind of ELF file"));
    const std::uint64_t program_headers = word(raw, 28, 32), section_headers = word(raw, 32, 40);
    std::uint64_t segments = number(raw, wide_ ? 56 : 44, 2);
    std::uint64_t sections = number(raw, wide_ ? 60 : 48, 2);
    std::uint64_t names = number(raw, wide_ ? 62 : 50, 2);
    const std::uint64_t segment_size = number(raw, wide_ ? 54 : 42, 2), section_size = number(raw, wide_ ? 58 : 46, 2);
    const std::uint64_t expected_segment = wide_ ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
    const std::uint64_t expected_section = wide_ ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
    if (section_headers != 0 && section_size == expected_section &&
        (sections == 0 || names == SHN_XINDEX || segments == PN_XNUM)) {
      // Section 0 holds the counts that do not fit.
      const std::string first = needed(section_headers, section_size, "its section headers");
      if (sections == 0) sections = word(first, 20, 32);
      if (names == SHN_XINDEX) names = number(first, wide_ ? 40 : 24, 4);
      if (segments == PN_XNUM) segments = number(first, wide_ ? 44 : 28, 4);
    }
    if (sections > kMaxSections || segments > kMaxSections)
      fail(ErrorCode::unsupported, "too many headers: expected at most " + std::to_string(kMaxSections));
    if ((segments > 0 && segment_size != expected_segment) || (sections > 0 && section_size != expected_section))
      fail(ErrorCode::malformed, "damaged ELF header: sizes of its tables are wrong");
    if (segments > 0) {
      const std::string table = needed(program_headers, segments * segment_size, "its program headers");
      for (std::uint64_t i = 0; i < segments; ++i)
        add_segment(std::string_view(table).substr(i * segment_size, segment_size), head);
    }
    if (sections > 0 && section_headers != 0) {
      head.has_code = false;  // eu-strip leaves the segments of a debug file as they were: its sections decide
      read_sections(needed(section_headers, sections * section_size, "its section headers"), sections, names, head);
    }
  }

 private:
  bool bytes(std::uint64_t offset, std::uint64_t count, std::string& out) const {
    if (offset > size_ || count > size_ - offset) return false;
    out.resize(count);
    std::uint64_t done = 0;
    while (done < count) {
      const ssize_t got = ::pread(fd_, out.data() + done, count - done, static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      done += static_cast<std::uint64_t>(got);
    }
    return true;
  }

  std::uint64_t number(std::string_view raw, std::size_t at, std::size_t width) const {
    std::uint64_t out = 0;
    for (std::size_t i = 0; i < width; ++i) {
      const auto byte = static_cast<unsigned char>(raw[big_ ? at + i : at + width - 1 - i]);
      out = (out << 8) | byte;
    }
    return out;
  }
  std::uint64_t word(std::string_view raw, std::size_t at32, std::size_t at64) const {
    return wide_ ? number(raw, at64, 8) : number(raw, at32, 4);
  }

  [[noreturn]] void fail_truncated(const std::string& what, std::uint64_t end) const {
    fail(ErrorCode::malformed,
         "truncated: " + what + " end at byte " + std::to_string(end) + ", the file at " + std::to_string(size_));
  }
  std::string needed(std::uint64_t offset, std::uint64_t count, const std::string& what) const {
    std::string out;
    if (!bytes(offset, count, out)) fail_truncated(what, offset + count);
    return out;
  }

  std::string what_else() const {
    std::string head;
    if (size_ == 0) return "the file is empty";
    if (!bytes(0, std::min<std::uint64_t>(size_, 512), head)) return "cannot be read";
    const bool text = std::all_of(head.begin(), head.end(), [](char c) {
      return static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\r' || c == '\t';
    });
    if (text) return "found text";
    return head.find_first_not_of('\0') == std::string::npos ? "found zeros" : "found other binary data";
  }

  void add_segment(std::string_view raw, ElfHead& head) {
    const std::uint64_t type = number(raw, 0, 4);
    const std::uint64_t offset = word(raw, 4, 8), file_size = word(raw, 16, 32);
    if (type == PT_LOAD) {
      const std::uint64_t flags = number(raw, wide_ ? 4 : 24, 4);
      head.loads.push_back({offset, file_size, word(raw, 8, 16), word(raw, 20, 40), (flags & PF_X) != 0});
      if ((flags & PF_X) != 0 && file_size > 0) head.has_code = true;
    }
    if (type == PT_NOTE) read_note(offset, file_size, head);
  }

  void read_note(std::uint64_t offset, std::uint64_t size, ElfHead& head) {
    std::string notes;
    if (!head.build_id.empty() || ++notes_read_ > kMaxNotes || size > kMaxNoteBytes || !bytes(offset, size, notes))
      return;
    for (std::size_t at = 0; notes.size() - at >= 12;) {
      const std::uint64_t name_size = number(notes, at, 4), content_size = number(notes, at + 4, 4);
      const std::uint64_t type = number(notes, at + 8, 4);
      const std::uint64_t content = at + 12 + (name_size + 3) / 4 * 4;
      if (content > notes.size() || content_size > notes.size() - content) return;
      if (type == NT_GNU_BUILD_ID && std::string_view(notes).substr(at + 12, 4) == std::string_view("GNU\0", 4) &&
          content_size > 0) {
        head.build_id = hex_text(std::string_view(notes).substr(content, content_size));
        return;
      }
      const std::uint64_t next = content + (content_size + 3) / 4 * 4;
      if (next > notes.size()) return;
      at = next;
    }
  }

  void read_sections(const std::string& table, std::uint64_t count, std::uint64_t names, ElfHead& head) {
    const std::size_t width = wide_ ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
    const auto section = [&](std::uint64_t i) {
      const std::string_view raw = std::string_view(table).substr(i * width, width);
      return Section{number(raw, 0, 4), number(raw, 4, 4), word(raw, 8, 8), word(raw, 16, 24), word(raw, 20, 32)};
    };
    std::string texts;
    if (names < count) {
      const Section s = section(names);
      if (s.type == SHT_STRTAB && s.size <= kMaxNameBytes) texts = needed(s.offset, s.size, "its section names");
    }
    std::uint64_t inflated = 0;
    for (std::uint64_t i = 1; i < count; ++i) {
      const Section s = section(i);
      if (s.type == SHT_NOBITS || s.type == SHT_NULL) continue;
      if (s.offset > size_ || s.size > size_ - s.offset) fail_truncated("one of its sections", s.offset + s.size);
      const std::string_view name =
          s.name < texts.size() ? std::string_view(texts.c_str() + s.name) : std::string_view();
      if ((s.flags & SHF_EXECINSTR) != 0) head.has_code = true;
      if (s.type == SHT_SYMTAB || name == ".gnu_debugdata") head.has_symbols = true;
      if (name == ".debug_info" || name == ".zdebug_info") head.has_dwarf = true;
      if (s.type == SHT_NOTE) read_note(s.offset, s.size, head);
      if (name == ".gnu_debuglink") read_debuglink(s, head);
      if (name == ".gnu_debugaltlink") read_altlink(s, head);
      if ((s.flags & SHF_COMPRESSED) != 0) {
        std::string compressed;
        if (!bytes(s.offset, wide_ ? 24 : 12, compressed)) fail_truncated("a compressed section", s.offset + s.size);
        inflated += std::min(word(compressed, 4, 8), kMaxInflatedBytes + 1);
      }
      if (inflated > kMaxInflatedBytes)
        fail(ErrorCode::unsupported,
             "compressed debug sections are larger than " + std::to_string(kMaxInflatedBytes) + " bytes when inflated");
    }
  }

  void read_debuglink(const Section& s, ElfHead& head) const {
    std::string raw;
    if (s.size > kMaxLinkBytes || !bytes(s.offset, s.size, raw)) return;
    const std::size_t end = raw.find('\0');
    if (end == std::string::npos) return;
    const std::size_t crc = (end + 4) / 4 * 4;
    if (crc + 4 > raw.size()) return;
    head.debuglink = raw.substr(0, end);
    head.debuglink_crc = static_cast<std::uint32_t>(number(raw, crc, 4));
  }

  void read_altlink(const Section& s, ElfHead& head) const {
    std::string raw;
    if (s.size > kMaxLinkBytes || !bytes(s.offset, s.size, raw)) return;
    const std::size_t end = raw.find('\0');
    if (end == std::string::npos) return;
    head.alt_name = raw.substr(0, end);
    head.alt_build_id = hex_text(std::string_view(raw).substr(end + 1));
  }

  int fd_;
  std::uint64_t size_;
  bool may_be_object_;
  bool wide_ = true;
  bool big_ = false;
  int notes_read_ = 0;
};

}  // namespace

Result<ElfHead> read_elf_head(const std::string& path, bool may_be_object) {
  const FileDescriptor file = FileDescriptor::open_to_read(path);
  if (!file) return Error{ErrorCode::io, std::string("cannot be opened: ") + std::strerror(errno), std::nullopt, path};
  struct stat status = {};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return Error{ErrorCode::io, "not an ordinary file", std::nullopt, path};
  ElfHead head;
  head.path = path;
  head.size = static_cast<std::uint64_t>(status.st_size);
  head.modified_ns = static_cast<std::int64_t>(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec;
  head.device = status.st_dev;
  head.inode = status.st_ino;
  if (head.size > kMaxElfBytes) {
    return Error{ErrorCode::unsupported,
                 "too large: " + std::to_string(head.size) + " bytes, expected at most " + std::to_string(kMaxElfBytes),
                 std::nullopt, path};
  }
  HeadReader reader(file.get(), head.size, may_be_object);
  if (Status done = guarded([&] { reader.read(head); }); !done) return std::move(done).error().about(path);
  return head;
}

Result<std::uint32_t> file_crc32(const std::string& path) {
  static const auto table = [] {
    std::array<std::uint32_t, 256> out{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t c = i;
      for (int bit = 0; bit < 8; ++bit) c = (c & 1U) != 0 ? 0xedb88320U ^ (c >> 1) : c >> 1;
      out[i] = c;
    }
    return out;
  }();
  const FileDescriptor file = FileDescriptor::open_to_read(path);
  if (!file) return Error{ErrorCode::io, std::string("cannot be opened: ") + std::strerror(errno), std::nullopt, path};
  std::string block(kBlock, '\0');
  std::uint32_t crc = ~0U;
  for (;;) {
    const ssize_t got = ::read(file.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      return Error{ErrorCode::io, std::string("cannot be read: ") + std::strerror(errno), std::nullopt, path};
    if (got == 0) return ~crc;
    for (ssize_t i = 0; i < got; ++i)
      crc = table[(crc ^ static_cast<unsigned char>(block[static_cast<std::size_t>(i)])) & 255U] ^ (crc >> 8);
  }
}

}  // namespace snapdiff::symbols
