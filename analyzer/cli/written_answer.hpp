#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/cli/command_line.hpp"
#include "analyzer/cli/compare.hpp"
#include "analyzer/session/recording.hpp"
#include "snapdiff/picture.hpp"

/// -o FILE and --open: an answer as a file of the form that its name says, or as a page in the browser.
namespace snapdiff::cli {

void add_file_options(CommandLine& line, Options& options);

/// The picture or page that these options ask for; nothing where the answer is text. The ending of a file with text
/// sets Options::as. Throws usage.
std::optional<PictureForm> chosen_picture(const CommandLine& line, Options& options);

/// A picture that cannot be drawn is not computed either. Throws the errors of opening the module that draws.
void check_drawing(PictureForm form);

/// Draws, writes, says so, waits for the store. Of a page, `limit` is that of make_page(). Returns the exit code.
int draw_and_finish(PictureForm form, const session::Compared& compared, const Options& options,
                    session::Recording& recording, const Terminal& terminal, std::optional<std::int64_t> limit = {});

/// Prints an answer that is text, or writes it where -o says, in pieces as they come. Throws io, usage.
void show_answer(const WriteAnswer& write, const report::Style& style, const Options& options);

/// Writes a page to the file of the options, else to a temporary one, and shows it. Throws io.
void open_page(std::string_view bytes, const Options& options);

/// Opens a page that was written, by xdg-open. Without a display or that program its path is printed.
void show_page(const std::string& path);

}  // namespace snapdiff::cli
