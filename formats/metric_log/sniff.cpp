#include "formats/metric_log/sniff.hpp"

#include <algorithm>
#include <array>

#include "formats/metric_log/engine.hpp"
#include "formats/metric_log/text.hpp"

namespace snapdiff::formats::metric_log {
namespace {

/// What other formats of text say of themselves; their lines may stand in the same log.
constexpr std::array<std::string_view, 8> kOtherFormats = {"ERROR: LeakSanitizer: detected memory leaks",
                                                           " in loss record ",
                                                           "bfc_allocator.cc",
                                                           " Begin jemalloc statistics ",
                                                           "stacks with outstanding allocations:",
                                                           "#instances         #bytes",
                                                           "GC Heap bytes",
                                                           "TotalSize Class Name"};
/// Files of other formats that are nothing else; the sign stands near their beginning.
constexpr std::array<std::string_view, 4> kOtherFiles = {"\"snapdiff-tracker\"", "<valgrindoutput>",
                                                         "heap profile: ", "heap_v2/"};
constexpr std::size_t kSignBytes = 512;

/// The head as an Input.
class Head final : public Input {
 public:
  explicit Head(std::string_view bytes) : bytes_(bytes) {}
  Result<std::string_view> peek(std::size_t /*wanted*/) override { return bytes_.substr(at_); }
  void consume(std::size_t n) override { at_ += std::min(n, bytes_.size() - at_); }
  std::uint64_t offset() const override { return at_; }
  const std::string& name() const override { return name_; }
  std::string_view compression() const override { return {}; }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  std::string name_;
};

bool looks_like_text(std::string_view head) {
  const std::string_view start = head.substr(0, 4096);
  return !start.empty() && std::none_of(start.begin(), start.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == 0x7f ||
           (byte < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != '\v' && c != '\b' && c != '\x1b');
  });
}

/// "FILE:LINE: size=982 KiB, count=201": lists of tracemalloc; and its manual's "#1: FILE:LINE: 982.4 KiB".
bool is_tracemalloc_list(std::string_view head) {
  if (has(head, "#1: ") && has(head, "#2: ") && (has(head, " other: ") || has(head, "Total allocated size: ")))
    return true;
  const std::size_t at = head.find(": size=");
  return at != std::string_view::npos && has(head.substr(at, 64), ", count=");
}

/// Blocks that the end of the head has cut count by their heading.
bool has_heading(std::string_view head) {
  if (has(head, "PyTorch CUDA memory summary, device ID") && has(head, "| Cur Usage  |")) return true;
  const std::size_t table = head.find("Line #    Mem usage    Increment");
  if (table != std::string_view::npos && has(head.substr(table, 128), "Line Contents")) return true;
  const std::size_t brace = head.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  return brace != std::string_view::npos && head[brace] == '{' && has(head.substr(0, 4096), ".current\"") &&
         has(head.substr(0, 4096), "allocat");
}

}  // namespace

Match sniff_log(std::string_view head) {
  if (!looks_like_text(head)) return Match::no;
  const auto begins_with = [start = head.substr(0, kSignBytes)](std::string_view sign) { return has(start, sign); };
  if (std::any_of(kOtherFiles.begin(), kOtherFiles.end(), begins_with)) return Match::no;
  Session session(false, nullptr);
  Head in(head);
  if (!read_lines(in, known_matchers(), session)) return Match::no;
  const std::uint16_t kinds = session.recorder().kinds();
  if (kinds == 0 && !has_heading(head)) return Match::no;
  const bool has_rows =
      std::any_of(kOtherFormats.begin(), kOtherFormats.end(), [&](std::string_view sign) { return has(head, sign); }) ||
      is_tracemalloc_list(head);
  // Words that people write may stand in any text; a log says the same again and again, or little else.
  bool is_sure = kinds != kPlain;
  session.recorder().each_series(
      [&](std::string_view, const Recorder::Growth& growth) { is_sure = is_sure || growth.readings >= 2; });
  const auto lines = static_cast<std::size_t>(std::count(head.begin(), head.end(), '\n'));
  if (!is_sure && session.recorder().reading_count() * 4 < lines) return Match::no;
  return is_sure && !has_rows ? Match::certain : Match::possible;
}

}  // namespace snapdiff::formats::metric_log
