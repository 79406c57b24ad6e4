#include "formats/input/decoder.hpp"

#include <algorithm>
#include <cstring>

namespace snapdiff::formats {
namespace {

class RawSource final : public ByteSource {
 public:
  RawSource(RawBytes& raw, DecodeBudget& budget) : raw_(raw), budget_(budget) {}
  Result<std::size_t> read(char* out, std::size_t capacity) override {
    Result<std::size_t> got = raw_.read_at(offset_, out, capacity);
    if (!got) return got;
    offset_ += *got;
    budget_.raw_bytes_read = std::max(budget_.raw_bytes_read, offset_);
    if (offset_ > budget_.max_output_bytes) {
      return Error{ErrorCode::limit, "input is too large: more than " + std::to_string(budget_.max_output_bytes) +
                                         " bytes, expected at most that (--max-input)"};
    }
    return got;
  }

 private:
  RawBytes& raw_;
  DecodeBudget& budget_;
  std::uint64_t offset_ = 0;
};

bool starts_with(std::string_view head, std::string_view magic) { return head.substr(0, magic.size()) == magic; }

/// A byte order mark, and then at least one character of ASCII among the next few: two bytes alone may
/// begin anything.
bool is_utf16(std::string_view head) {
  const bool little = starts_with(head, "\xff\xfe");
  if (!little && !starts_with(head, "\xfe\xff")) return false;
  for (std::size_t i = 2; i + 1 < head.size(); i += 2) {
    const auto low = static_cast<unsigned char>(head[little ? i : i + 1]);
    if (head[little ? i + 1 : i] == 0 && low >= 9 && low < 0x7f) return true;
  }
  return false;
}

}  // namespace

std::string_view to_text(Compression compression) {
  constexpr std::string_view kNames[] = {"", "gzip", "zstd", "xz", "lz4", "utf-16"};
  return kNames[static_cast<std::size_t>(compression)];
}

Compression compression_of(std::string_view head) {
  if (starts_with(head, "\x1f\x8b")) return Compression::gzip;
  if (starts_with(head, "\x28\xb5\x2f\xfd")) return Compression::zstd;
  // A skippable frame, 0x184d2a50 to 5f: parallel zstd compressors put one in front.
  if (head.size() >= 4 && (head[0] & 0xf0) == 0x50 && head.substr(1, 3) == "\x2a\x4d\x18") return Compression::zstd;
  if (starts_with(head, std::string_view("\xfd\x37\x7a\x58\x5a\x00", 6))) return Compression::xz;
  if (starts_with(head, "\x04\x22\x4d\x18")) return Compression::lz4;
  if (is_utf16(head)) return Compression::utf16;
  return Compression::none;
}

std::unique_ptr<ByteSource> make_raw_source(RawBytes& raw, DecodeBudget& budget) {
  return std::make_unique<RawSource>(raw, budget);
}

Result<std::string_view> Decoder::input(std::size_t wanted) {
  if (end_ - begin_ < wanted) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    before_ += begin_;
    end_ -= begin_;
    begin_ = 0;
    while (end_ < wanted) {
      Result<std::size_t> got = upstream_->read(buffer_.get() + end_, kBufferBytes - end_);
      if (!got) return std::move(got).error();
      if (*got == 0) break;
      end_ += *got;
    }
  }
  return std::string_view(buffer_.get() + begin_, end_ - begin_);
}

Status Decoder::produced(std::size_t count) {
  output_ += count;
  if (output_ > budget_.max_output_bytes) {
    return Error{ErrorCode::limit,
                 "decompressed data is too large: more than " + std::to_string(budget_.max_output_bytes) +
                     " bytes, expected at most that (--max-input)",
                 position()};
  }
  for (const RatioLimit& limit : kRatioLimits) {
    if (output_ <= limit.free_bytes || output_ / limit.most <= budget_.raw_bytes_read) continue;
    return Error{ErrorCode::limit,
                 "compression bomb: " + std::to_string(output_) + " bytes out of " +
                     std::to_string(budget_.raw_bytes_read) + ", expected at most " + std::to_string(limit.most) +
                     " times as many",
                 position()};
  }
  return ok();
}

Error Decoder::ends_early(std::string_view expected) const {
  budget_.cut = true;
  return Error{ErrorCode::malformed,
               std::string(name_) + " stream ends early: no bytes after compressed byte " + std::to_string(position()) +
                   ", expected " + std::string(expected),
               position()};
}

Error Decoder::damaged(std::string_view what) const {
  return Error{ErrorCode::malformed,
               "damaged " + std::string(name_) + " stream: " + std::string(what) + " near compressed byte " +
                   std::to_string(position()),
               position()};
}

void Decoder::note_trailing_bytes() const {
  budget_.notes->add(Severity::warning, "bytes after the end of the " + std::string(name_) + " stream were ignored",
                     position());
}

}  // namespace snapdiff::formats
