#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "snapdiff/result.hpp"

/// The public header of the module: a Model Context Protocol server as a function from one line to another. It neither
/// reads nor prints.
namespace snapdiff::mcp {

/// A line may be this long.
inline constexpr std::size_t kLongestLine = std::size_t{1} << 20;

///   folders  nothing outside them is read
///   reports  the tool report may write here; "" = nowhere
struct ServerOptions {
  std::vector<std::string> folders;
  std::string reports;
};

class Server {
 public:
  /// Errors: io, where a folder is not there.
  static Result<Server> open(const ServerOptions& options);
  Server(Server&&) noexcept;
  Server& operator=(Server&&) noexcept;
  ~Server();

  /// The answer to a message, one line without its end; "" where a notification gets none. Whatever the message, it
  /// neither throws nor ends.
  std::string answer(std::string_view message);
  /// The answer to a line beyond kLongestLine.
  std::string answer_too_long() const;

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace snapdiff::mcp
