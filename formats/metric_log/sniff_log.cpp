#include "formats/metric_log/sniff_log.hpp"

#include <algorithm>

#include "formats/input/window_input.hpp"
#include "formats/metric_log/engine.hpp"
#include "formats/metric_log/metric_text.hpp"

namespace snapdiff::formats::metric_log {
namespace {

bool looks_like_text(std::string_view head) {
  const std::string_view start = head.substr(0, 4096);
  return !start.empty() && std::none_of(start.begin(), start.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == 0x7f ||
           (byte < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != '\v' && c != '\b' && c != '\x1b');
  });
}

/// Blocks that the end of the head has cut count by their heading.
bool has_heading(std::string_view head) {
  if (contains(head, "PyTorch CUDA memory summary, device ID") && contains(head, "| Cur Usage  |")) return true;
  const std::size_t table = head.find("Line #    Mem usage    Increment");
  if (table != std::string_view::npos && contains(head.substr(table, 128), "Line Contents")) return true;
  const std::size_t brace = head.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  return brace != std::string_view::npos && head[brace] == '{' && contains(head.substr(0, 4096), ".current\"") &&
         contains(head.substr(0, 4096), "allocat");
}

}  // namespace

Match sniff_log(std::string_view head) {
  if (!looks_like_text(head)) return Match::no;
  Session session(false, nullptr);
  MemoryInput in(head, {});
  read_lines(in, known_matchers(), session);
  const std::uint16_t kinds = session.recorder().kinds();
  if (kinds == 0 && !has_heading(head)) return Match::no;
  // Words that people write may be in any text; a log says the same again and again, or little else.
  bool is_sure = kinds != kPlain;
  session.recorder().each_series(
      [&](std::string_view, const Recorder::Growth& growth) { is_sure = is_sure || growth.readings >= 2; });
  const auto lines = static_cast<std::size_t>(std::count(head.begin(), head.end(), '\n'));
  if (!is_sure && session.recorder().reading_count() * 4 < lines) return Match::no;
  return is_sure ? Match::certain : Match::possible;
}

}  // namespace snapdiff::formats::metric_log
