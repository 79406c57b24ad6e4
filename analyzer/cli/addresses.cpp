#include "analyzer/cli/addresses.hpp"

#include <algorithm>
#include <utility>

#include "analyzer/base/failure.hpp"
#include "analyzer/base/number_text.hpp"
#include "analyzer/capture/capture.hpp"
#include "analyzer/cli/terminal.hpp"

namespace snapdiff::cli {

std::string fetch_snapshot(const std::string& url, const Options& options) {
  capture::Address address{url, options.headers};
  address.most_seconds = options.timeout_seconds;
  if (options.max_input) address.most_bytes = static_cast<std::uint64_t>(*options.max_input);
  const std::string folder = options.into.empty() ? capture::folder_for(address) : options.into;
  std::string path = value_or_throw(capture::next_file(folder, "heap", ""));
  const std::uint64_t size = value_or_throw(capture::fetch(address, path));
  say("fetched " + escape_for_terminal(path) + " (" + bytes_text(static_cast<std::int64_t>(size)) + ")");
  return path;
}

void fetch_operands(Options& options) {
  const auto is_address = [](const std::string& text) { return capture::is_address(text); };
  const auto addresses = std::count_if(options.operands.begin(), options.operands.end(), is_address);
  if (options.every.has_value() != options.count.has_value())
    fail({ErrorCode::usage, options.every ? "--every: expected --count N beside it; 'snapdiff watch URL' needs no end"
                                          : "--count: expected --every TIME beside it"});
  if (options.every && addresses != 1)
    fail({ErrorCode::usage, "--every is for one address: found " + std::to_string(addresses)});
  std::vector<std::string> out;
  for (const std::string& operand : options.operands) {
    if (!is_address(operand)) {
      out.push_back(operand);
      continue;
    }
    for (std::size_t i = 0; i < options.count.value_or(1); ++i) {
      // An interruption ends the series: what was fetched is judged.
      if (i > 0 && !capture::wait_unless_interrupted(*options.every)) break;
      out.push_back(fetch_snapshot(operand, options));
    }
  }
  options.operands = std::move(out);
}

}  // namespace snapdiff::cli
