#include "analyzer/cli/output_file.hpp"

#include "analyzer/cli/terminal.hpp"
#include "analyzer/session/files.hpp"
#include "snapdiff/number_text.hpp"

namespace snapdiff::cli {

Status write_output(const std::string& path, std::string_view bytes) {
  return path == "-" ? print_data(bytes) : session::write_file(path, bytes);
}

Status write_and_tell(const std::string& path, std::string_view bytes) {
  Status written = write_output(path, bytes);
  if (written && path != "-")
    say("wrote " + escape_for_terminal(path) + " (" + bytes_text(static_cast<std::int64_t>(bytes.size())) + ")");
  return written;
}

}  // namespace snapdiff::cli
