#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "analyzer/base/failure.hpp"
#include "analyzer/cli/command_line.hpp"
#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/cli/terminal.hpp"
#include "analyzer/mcp/mcp_server.hpp"

namespace snapdiff::cli {
namespace {

/// The standard input, line by line.
class Lines {
 public:
  /// False at the end. Of a line beyond the longest one nothing is kept: `too_long`.
  bool next(std::string& line, bool& too_long) {
    too_long = false;
    for (;;) {
      const std::size_t end = held_.find('\n', looked_at_);
      if (end != std::string::npos) {
        line.assign(held_, 0, end);
        held_.erase(0, end + 1);
        looked_at_ = 0;
        return true;
      }
      looked_at_ = held_.size();
      if (held_.size() > mcp::kLongestLine) {
        too_long = true;
        held_.clear();
        looked_at_ = 0;
      }
      if (!fill()) break;
    }
    line = std::exchange(held_, {});
    looked_at_ = 0;
    return !line.empty() || too_long;
  }

 private:
  bool fill() {
    char bytes[65536];
    ssize_t count = 0;
    do {
      count = ::read(STDIN_FILENO, bytes, sizeof bytes);
    } while (count < 0 && errno == EINTR);
    if (count < 0)
      fail({ErrorCode::io, std::string("cannot read: ") + std::strerror(errno), std::nullopt, "standard input"});
    held_.append(bytes, static_cast<std::size_t>(count));
    return count > 0;
  }

  std::string held_;
  std::size_t looked_at_ = 0;
};

}  // namespace

int run_mcp(const Arguments& arguments) {
  mcp::ServerOptions wanted;
  CommandLine line("A server of the Model Context Protocol for agents, on standard input and output.",
                   "mcp [DIR...] [--reports DIR]\n\n"
                   "  It reads files below the folders (.) alone, and writes nothing, except reports\n"
                   "  below --reports",
                   {"snapdiff mcp /var/heaps", "snapdiff mcp . --reports incidents"});
  line.operands(wanted.folders);
  line.text("--reports", "DIR", wanted.reports, "the tool report may write folders here");
  if (const auto code = line.parse(arguments)) return *code;
  if (wanted.folders.empty()) wanted.folders.emplace_back(".");
  mcp::Server server = value_or_throw(mcp::Server::open(wanted));
  Lines lines;
  std::string message;
  for (bool too_long = false; lines.next(message, too_long);) {
    if (!too_long && message.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::string answer = too_long ? server.answer_too_long() : server.answer(message);
    if (!answer.empty()) value_or_throw(print_data(answer + "\n"));
  }
  return kExitDone;
}

}  // namespace snapdiff::cli
