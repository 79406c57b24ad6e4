#include "analyzer/base/contains.hpp"
#include "formats/input/all_formats.hpp"
#include "formats/text/scan.hpp"
#include "formats/torch_cuda/read_pickle.hpp"

namespace snapdiff::formats {
namespace {

using namespace torch_cuda;

constexpr std::size_t kStep = 256 * 1024;
constexpr std::uint8_t kInvalid = 255;
constexpr std::uint8_t kIgnored = 254;  // padding, line ends, the backslash of "\/"

constexpr std::array<std::uint8_t, 256> make_digits() {
  std::array<std::uint8_t, 256> digits{};
  for (auto& digit : digits) digit = kInvalid;
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t i = 0; i < kAlphabet.size(); ++i)
    digits[static_cast<std::uint8_t>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  for (const char c : {'=', '\n', '\r', '\\', ' '}) digits[static_cast<std::uint8_t>(c)] = kIgnored;
  return digits;
}
constexpr std::array<std::uint8_t, 256> kDigits = make_digits();

/// The bytes of a base64 text (RFC 4648) that ends with a quote, decoded as they are asked for.
/// The page's input must be after the opening quote; it is left after the closing one once
/// everything was read.
class Base64Input final : public Input {
 public:
  explicit Base64Input(Input& page) : page_(page) {}

  Result<std::string_view> peek(std::size_t wanted) override {
    if (buffer_.size() - begin_ < wanted && !ended_) {
      buffer_.erase(0, begin_);
      begin_ = 0;
      const std::size_t target = std::max(wanted, kStep / 2);
      while (buffer_.size() < target && !ended_) {
        if (Status decoded = decode_some(); !decoded) return std::move(decoded).error();
      }
    }
    return std::string_view(buffer_).substr(begin_);
  }

  void consume(std::size_t n) override {
    begin_ += n;
    offset_ += n;
  }
  std::uint64_t offset() const override { return offset_; }
  const std::string& name() const override { return page_.name(); }
  std::string_view compression() const override { return "base64"; }

 private:
  Status decode_some() {
    Result<std::string_view> view = page_.peek(1);
    if (!view) return std::move(view).error();
    const std::string_view text = view->substr(0, kStep);
    if (text.empty())
      return Error{ErrorCode::malformed, "truncated page: base64 text without its closing quote", offset_};
    std::size_t used = 0;
    for (; used < text.size(); ++used) {
      const auto byte = static_cast<std::uint8_t>(text[used]);
      const std::uint8_t digit = kDigits[byte];
      if (digit < 64) {
        bits_ = (bits_ << 6) | digit;
        bit_count_ += 6;
        if (bit_count_ >= 8) {
          bit_count_ -= 8;
          buffer_ += static_cast<char>(bits_ >> bit_count_ & 0xff);
        }
      } else if (byte == '"' || byte == '\'' || byte == '`') {
        ended_ = true;
        ++used;
        break;
      } else if (digit == kInvalid) {
        return Error{ErrorCode::malformed, "no base64: a character outside its alphabet", page_.offset() + used};
      }
    }
    page_.consume(used);
    return ok();
  }

  Input& page_;
  std::string buffer_;
  std::size_t begin_ = 0;
  std::uint64_t offset_ = 0;
  std::uint32_t bits_ = 0;
  unsigned bit_count_ = 0;
  bool ended_ = false;
};

constexpr std::string_view kKey = "\"base64\"";
constexpr std::size_t kSpace = 16;  // between key, colon and quote
constexpr std::uint32_t kMostSnapshots = 4096;

/// Length of `: "` at the start of `text`, 0 where something else is there.
std::size_t opening(std::string_view text) {
  std::size_t at = text.find_first_not_of(" \t\r\n");
  if (at == std::string_view::npos || text[at] != ':') return 0;
  at = text.find_first_not_of(" \t\r\n", at + 1);
  return at == std::string_view::npos || text[at] != '"' ? 0 : at + 1;
}

/// Moves after the opening quote of the next base64 text; false where there is none.
bool find_blob(Input& page) {
  for (;;) {
    const std::string_view view = value_or_throw(page.peek(kKey.size() + kSpace));
    const std::size_t at = view.find(kKey);
    if (at == std::string_view::npos) {
      if (view.size() < kKey.size() + kSpace) return false;
      page.consume(view.size() - kKey.size() + 1);
      continue;
    }
    page.consume(at + kKey.size());
    if (const std::size_t length = opening(value_or_throw(page.peek(kSpace)).substr(0, kSpace)); length != 0) {
      page.consume(length);
      return true;
    }
  }
}

/// Each base64 text of the page's list `local_files` is the pickle of one snapshot.
void decode_html(Input& page, SnapshotSink& out, const ReadRequest& /*request*/) {
  std::uint32_t count = 0;
  while (find_blob(page)) {
    if (++count > kMostSnapshots) fail(ErrorCode::limit, "too many snapshots in one page", page.offset());
    Base64Input blob(page);
    Result<Snapshot> snapshot = read_pickle(blob);
    if (!snapshot) {
      Error error = std::move(snapshot).error();
      error.message += " (snapshot " + std::to_string(count) + " of the page; offset in its decoded base64)";
      fail(std::move(error));
    }
    snapshot->facts.format_detail += ", base64 in HTML";
    give(out, std::move(snapshot));
  }
  if (count == 0)
    fail(ErrorCode::unsupported,
         "HTML without an embedded snapshot: no base64 text in the page, expected a memory_viz page with local_files");
}

bool is_html(std::string_view head) {
  const std::size_t first = head.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (first == std::string_view::npos) return false;
  std::string start;
  for (const char c : head.substr(first, 16)) start += text::lower(c);
  return start.starts_with("<!doctype html") || start.starts_with("<html") || start.starts_with("<head") ||
         start.starts_with("<script");
}

Match sniff_html(std::string_view head) {
  if (!is_html(head)) return Match::no;
  return certain_if(contains(head, "local_files") || contains(head, "MemoryViz"));
}

std::string html_refusal(std::string_view head) {
  if (!is_html(head)) return {};
  if (contains(head, "alloc_data") || contains(head, "data:image/png"))
    return "HTML without an embedded snapshot: a page with a finished plot, expected a memory_viz page with "
           "local_files; give the pickle itself";
  return {};
}

}  // namespace

constexpr Format kTorchHtml{
    .info = {"torch-html", "memory_viz page with embedded CUDA snapshots", "*.html", "as torch-cuda"},
    .sniff = sniff_html,
    .decode = decode_html,
    .refusal = html_refusal};

}  // namespace snapdiff::formats
