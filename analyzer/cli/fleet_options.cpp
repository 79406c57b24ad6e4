#include "analyzer/cli/fleet_options.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <limits>

#include "analyzer/base/environment.hpp"
#include "analyzer/base/failure.hpp"
#include "analyzer/cli/exit_codes.hpp"
#include "analyzer/cli/terminal.hpp"
#include "analyzer/session/document.hpp"

namespace snapdiff::cli {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;
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

std::optional<std::uint64_t> digits(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

/// "2026-11-01", with or without a time of day.
std::optional<std::uint64_t> calendar_time(const std::string& text) {
  std::string plain = text;
  if (plain.ends_with('Z')) plain.pop_back();
  if (plain.size() > 10 && plain[10] == 'T') plain[10] = ' ';
  for (const char* const form : {"%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d"}) {
    std::tm parts{};
    const char* const end = strptime(plain.c_str(), form, &parts);
    if (end == nullptr || *end != '\0') continue;
    const std::time_t seconds = timegm(&parts);
    if (seconds < 0) return std::nullopt;
    return static_cast<std::uint64_t>(seconds) * kSecondNs;
  }
  return std::nullopt;
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

std::uint64_t current_time_ns() {
  if (const auto epoch = session::source_date_epoch_s(); epoch && *epoch >= 0)
    return static_cast<std::uint64_t>(*epoch) * kSecondNs;
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count());
}

namespace {

Result<std::uint64_t> parse_duration(const std::string& text) {
  constexpr std::string_view kUnits = "smhdwy";
  constexpr std::uint64_t kSeconds[] = {1, 60, 3600, 86'400, 604'800, 31'536'000};
  const std::size_t unit = text.empty() ? std::string_view::npos : kUnits.find(text.back());
  const auto number =
      unit == std::string_view::npos ? std::nullopt : digits(std::string_view(text).substr(0, text.size() - 1));
  if (!number || *number == 0 || *number > std::numeric_limits<std::int32_t>::max() / kSeconds[unit])
    return Error{ErrorCode::usage, "found '" + text + "', expected a duration like 30s, 5m, 1h or 14d"};
  return *number * kSeconds[unit] * kSecondNs;
}

Result<std::uint64_t> parse_moment(const std::string& text, std::optional<std::uint64_t> base) {
  if (text.starts_with('+') && base) {
    Result<std::uint64_t> after = parse_duration(text.substr(1));
    if (!after) return after;
    return *base + *after;
  }
  if (text.starts_with('@')) {
    if (const auto seconds = digits(std::string_view(text).substr(1)); seconds && *seconds < 0xffffffffU)
      return *seconds * kSecondNs;
  }
  if (const auto time = calendar_time(text)) return *time;
  if (const Result<std::uint64_t> ago = parse_duration(text)) {
    const std::uint64_t now = current_time_ns();
    return now > *ago ? now - *ago : 0;
  }
  return Error{ErrorCode::usage, "found '" + text +
                                     "', expected a time like '2026-11-01 12:00' (UTC), @1764000000, 14d" +
                                     (base ? " or +24h" : "")};
}

/// Of an option that was given. Throws usage, with its name.
std::optional<std::uint64_t> of_option(std::string_view option, const Result<std::uint64_t>& parsed) {
  if (!parsed) fail(ErrorCode::usage, std::string(option) + ": " + parsed.error().message);
  return *parsed;
}

}  // namespace

std::optional<std::uint64_t> duration_of(std::string_view option, const std::string& text) {
  return text.empty() ? std::nullopt : of_option(option, parse_duration(text));
}

std::optional<std::uint64_t> moment_of(std::string_view option, const std::string& text,
                                       std::optional<std::uint64_t> base) {
  return text.empty() ? std::nullopt : of_option(option, parse_moment(text, base));
}

std::string moment_text(std::uint64_t time_ns) {
  const auto seconds = static_cast<std::time_t>(time_ns / kSecondNs);
  std::tm parts{};
  char text[32];
  if (gmtime_r(&seconds, &parts) == nullptr || std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts) == 0)
    return "@" + std::to_string(seconds);
  return text;
}

int fail_of_fleet(const Error& error) {
  Error said = error;
  if (said.code == ErrorCode::internal) said.code = ErrorCode::io;  // of the servers' data, not a bug of ours
  say_error(said);
  return exit_code_of(error.code);
}

}  // namespace snapdiff::cli
