#include "analyzer/cli/written_answer.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "analyzer/base/environment.hpp"
#include "analyzer/cli/progress.hpp"
#include "analyzer/cli/recorded.hpp"
#include "analyzer/render/drawing.hpp"
#include "analyzer/session/files.hpp"
#include "analyzer/session/pictures.hpp"

namespace snapdiff::cli {
namespace {

constexpr std::array<std::pair<std::string_view, PictureForm>, 5> kPictures = {{{".pdf", PictureForm::pdf},
                                                                                {".html", PictureForm::html},
                                                                                {".svg", PictureForm::svg},
                                                                                {".png", PictureForm::png},
                                                                                {".dot", PictureForm::dot}}};
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kTexts = {
    {{".json", "json"}, {".jsonl", "jsonl"}, {".csv", "csv"}, {".md", "md"}, {".txt", "text"}}};

/// Starts a program that outlives this one and says nothing. False where that fails.
bool start_apart(const std::string& file, const std::string& argument) {
  const pid_t middle = ::fork();
  if (middle < 0) return false;
  if (middle == 0) {
    ::setsid();
    if (::fork() != 0) ::_exit(0);
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, stream);
    ::execl(file.c_str(), file.c_str(), argument.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  ::waitpid(middle, nullptr, 0);
  return true;
}

/// A new file for a page, which only its owner can read.
std::string temporary_page() {
  const std::string folder(environment("TMPDIR"));
  std::string path = (folder.empty() ? "/tmp" : folder) + "/snapdiff-XXXXXX.html";
  const int file = ::mkostemps(path.data(), 5, O_CLOEXEC);
  if (file < 0) fail({ErrorCode::io, std::string("cannot make the file: ") + std::strerror(errno), std::nullopt, path});
  ::close(file);
  return path;
}

}  // namespace

void add_file_options(CommandLine& line, Options& options) {
  line.group("output");
  line.text("-o,--output", "FILE", options.output,
            "write it: .pdf, .html, .svg, .png, .dot, .md, .json,\n"
            ".jsonl, .csv, .txt; --pdf is -o snapdiff.pdf");
  line.flag("--open", options.open, "make the page and open it in the browser");
  line.group("");
}

std::optional<PictureForm> chosen_picture(const CommandLine& line, Options& options) {
  const std::string ending = std::filesystem::path(options.output).extension().string();
  const auto* const picture =
      std::find_if(kPictures.begin(), kPictures.end(), [&](const auto& one) { return one.first == ending; });
  if (options.open) {
    if (!options.output.empty() && ending != ".html")
      fail({ErrorCode::usage, "--open is for pages: found -o " + options.output + ", expected -o FILE.html or none"});
    return PictureForm::html;
  }
  if (line.is_given("--as")) {
    if (picture != kPictures.end())
      fail({ErrorCode::usage,
            "-o " + options.output + ": found --as " + options.as + " beside it, expected one of them"});
    return std::nullopt;
  }
  if (picture != kPictures.end()) return picture->second;
  const auto* const text =
      std::find_if(kTexts.begin(), kTexts.end(), [&](const auto& one) { return one.first == ending; });
  if (text != kTexts.end()) {
    options.as = text->second;
  } else if (!options.output.empty() && options.output != "-") {
    fail({ErrorCode::usage, "-o " + options.output + ": found " +
                                (ending.empty() ? "no ending" : "the ending " + ending) +
                                ", expected .pdf, .html, .svg, .png, .dot, .md, .json, .jsonl, .csv or .txt"});
  }
  return std::nullopt;
}

void check_drawing(PictureForm form) {
  if (form != PictureForm::html) value_or_throw(render::open_drawing());
}

void show_answer(const WriteAnswer& write, const report::Style& style, const Options& options) {
  if (options.output.empty() || options.output == "-") return print_written(write, style);
  write_and_tell(options.output, in_pieces(write, style), options.operands);
}

int draw_and_finish(PictureForm form, const session::Compared& compared, const Options& options,
                    session::Recording& recording, const Terminal& terminal, std::optional<std::int64_t> limit) {
  PictureOptions wanted;
  wanted.form = form;
  std::string bytes;
  if (form == PictureForm::html) {
    session::Page page = value_or_throw(session::make_page(compared, wanted, limit));
    if (page.no_graph) say("warning: the page has no graph: " + escape_for_terminal(page.no_graph->message));
    bytes = std::move(page.bytes);
  } else {
    bytes = value_or_throw(session::draw(compared, wanted, watch_of(terminal)));
  }
  recording.answered();
  options.open ? open_page(bytes, options) : write_and_tell(options.output, bytes, options.operands);
  const int partial_code = tell_notes(compared.loaded, options);
  return std::max(partial_code, finish(recording, terminal));
}

void open_page(std::string_view bytes, const Options& options) {
  const std::string path = options.output.empty() ? temporary_page() : options.output;
  if (options.output.empty()) {
    value_or_throw(session::write_file(path, bytes));
  } else {
    write_output(path, bytes, options.operands);
  }
  show_page(path);
}

void show_page(const std::string& path) {
  const bool has_display = !environment("DISPLAY").empty() || !environment("WAYLAND_DISPLAY").empty();
  const std::string opener = has_display ? program_file("xdg-open") : "";
  if (!opener.empty() && start_apart(opener, path)) {
    say("opened " + escape_for_terminal(path));
  } else {
    value_or_throw(print_data(escape_for_terminal(path) + "\n"));
  }
}

}  // namespace snapdiff::cli
