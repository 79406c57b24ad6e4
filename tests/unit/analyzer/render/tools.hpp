#pragma once

#include <string>
#include <vector>

/// Other programs that check what was drawn.
namespace snapdiff::test {

/// Whether the program is installed.
bool installed(const std::string& program);
/// Writes a file into a fresh temporary folder; returns its path.
std::string temporary_file(const std::string& name, const std::string& bytes);
/// Standard output of a shell command; `status` gets its exit code.
std::string output_of(const std::string& command, int& status);

/// Checked by qpdf; the text of all pages by pdftotext. "" where that is not installed.
std::string checked_text(const std::string& pdf);
/// The same, a text for each page.
std::vector<std::string> checked_pages(const std::string& pdf);

}  // namespace snapdiff::test
