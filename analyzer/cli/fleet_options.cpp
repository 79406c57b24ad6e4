#include "analyzer/cli/fleet_options.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "analyzer/base/environment.hpp"
#include "analyzer/base/failure.hpp"
#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/cli/terminal.hpp"

namespace snapdiff::cli {
namespace {

constexpr std::size_t kMostCredentials = 4096;

/// User and password, a line each, from a file that nobody else may read.
void read_credentials(const std::string& path, fleet::Connection& to) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) fail({ErrorCode::io, "the file with user and password cannot be read", std::nullopt, path});
  struct stat facts {};
  std::string text(kMostCredentials, '\0');
  const bool known = fstat(file, &facts) == 0;
  const ssize_t size = known ? read(file, text.data(), text.size()) : -1;
  close(file);
  if (size < 0) fail({ErrorCode::io, "the file with user and password cannot be read", std::nullopt, path});
  if ((facts.st_mode & 077U) != 0)
    fail({ErrorCode::io, "others may read the file with user and password; expected mode 0600: chmod 600", std::nullopt,
          path});
  text.resize(static_cast<std::size_t>(size));
  const auto end = text.find('\n');
  if (end == std::string::npos)
    fail({ErrorCode::usage, "expected two lines: the user, the password", std::nullopt, path});
  to.user = text.substr(0, end);
  to.password = text.substr(end + 1, text.find('\n', end + 1) - end - 1);
}

}  // namespace

void add_connection(CommandLine& line, FleetOptions& options) {
  line.text("--url", "URL", options.url,
            "server (SNAPDIFF_FLEET_URL); init takes several, with\n"
            "commas between");
  line.text("--database", "NAME", options.database, "database (snapdiff)");
  line.text("--cluster", "NAME", options.cluster, "cluster of the servers' configuration (fleet)");
  line.text("--credentials", "FILE", options.credentials,
            "user and password, a line each, mode 0600\n"
            "(SNAPDIFF_FLEET_USER, SNAPDIFF_FLEET_PASSWORD)");
  line.text("--ca", "FILE", options.authority, "certificates to trust (those of the system)");
  line.count("--timeout", options.timeout_seconds, {1, 86'400}, "seconds without a byte until giving up (300)");
}

fleet::Fleet connect(const FleetOptions& options) {
  fleet::Connection to;
  std::string urls = options.url.empty() ? std::string(environment("SNAPDIFF_FLEET_URL")) : options.url;
  for (std::size_t begin = 0; begin < urls.size();) {
    const std::size_t end = std::min(urls.find(',', begin), urls.size());
    if (end > begin) to.urls.push_back(urls.substr(begin, end - begin));
    begin = end + 1;
  }
  to.user = environment("SNAPDIFF_FLEET_USER");
  to.password = environment("SNAPDIFF_FLEET_PASSWORD");
  if (!options.credentials.empty()) read_credentials(options.credentials, to);
  if (!to.password.empty()) {
    // A core file would hold it.
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    for (const std::string& url : to.urls) {
      if (url.starts_with("http://") && !url.starts_with("http://127.") && !url.starts_with("http://localhost"))
        say("warning: the password goes to " + escape_for_terminal(url) + " unencrypted; https:// encrypts it");
    }
  }
  to.database = options.database;
  to.cluster = options.cluster;
  to.authority = options.authority;
  to.timeout_seconds = options.timeout_seconds;
  return value_or_throw(fleet::Fleet::open(std::move(to)));
}

int fail_of_fleet(const Error& error) {
  Error said = error;
  if (said.code == ErrorCode::internal) said.code = ErrorCode::io;  // of the servers' data, not a bug of ours
  say_error(said);
  return exit_code_of(error.code);
}

}  // namespace snapdiff::cli
