#include "analyzer/cli/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace snapdiff::cli {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view{} : std::string_view(value);
}

bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view value = environment(name);
    if (value.empty()) continue;
    return value.find("UTF-8") != std::string_view::npos || value.find("utf8") != std::string_view::npos ||
           value.find("UTF8") != std::string_view::npos || value.find("utf-8") != std::string_view::npos;
  }
  return false;
}

std::size_t terminal_width(bool stdout_is_terminal) {
  constexpr std::size_t kDefault = 80;
  const std::string_view columns = environment("COLUMNS");
  std::size_t width = 0;
  if (std::from_chars(columns.data(), columns.data() + columns.size(), width).ec == std::errc{} && width >= 40) {
    return width;
  }
  winsize size{};
  if (stdout_is_terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40) return size.ws_col;
  return kDefault;
}

// Length of the valid UTF-8 sequence at the start of `text` (no overlong forms, no surrogates), 0 if there is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
  if (length == 0 || lead > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  if ((lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xed && byte(1) >= 0xa0) || (lead == 0xf0 && byte(1) < 0x90) ||
      (lead == 0xf4 && byte(1) >= 0x90)) {
    return 0;
  }
  return length;
}

}  // namespace

Terminal look_at_terminal(bool no_color) {
  Terminal terminal;
  terminal.stdout_is_terminal = isatty(STDOUT_FILENO) == 1;
  terminal.stderr_is_terminal = isatty(STDERR_FILENO) == 1;
  terminal.colour =
      terminal.stdout_is_terminal && !no_color && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
  terminal.utf8 = locale_is_utf8();
  terminal.width = terminal_width(terminal.stdout_is_terminal);
  return terminal;
}

Status print_data(std::string_view data) {
  while (!data.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, data.data(), data.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      if (errno == EPIPE) return ok();
      return Error{ErrorCode::io, std::string("cannot write: ") + std::strerror(errno), std::nullopt,
                   "standard output"};
    }
    data.remove_prefix(static_cast<std::size_t>(written));
  }
  return ok();
}

void say(std::string_view line) {
  std::string text(line);
  text += '\n';
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void say_error(const Error& error, std::string_view advice) {
  const bool bold = isatty(STDERR_FILENO) == 1 && environment("NO_COLOR").empty();
  say((bold ? "\x1b[1merror\x1b[0m: " : "error: ") + escape_for_terminal(error.text()));
  if (!advice.empty()) say("       " + std::string(advice));
}

std::string escape_for_terminal(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const auto lead = static_cast<unsigned char>(text[0]);
    const bool c1_control = length == 2 && lead == 0xc2 && static_cast<unsigned char>(text[1]) < 0xa0;
    if (length == 0 || lead < 0x20 || lead == 0x7f || c1_control) {
      const std::size_t bad = length == 0 ? 1 : length;
      for (std::size_t i = 0; i < bad; ++i) {
        char hex[5];
        std::snprintf(hex, sizeof hex, "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(text[i])));
        out += hex;
      }
      text.remove_prefix(bad);
    } else {
      out.append(text.substr(0, length));
      text.remove_prefix(length);
    }
  }
  return out;
}

}  // namespace snapdiff::cli
