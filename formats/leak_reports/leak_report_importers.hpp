#pragma once

#include <memory>

#include "snapdiff/importer.hpp"

namespace snapdiff::formats {

/// Leak reports of valgrind's memcheck, text or XML: a snapshot for each leak check of each process.
std::unique_ptr<Importer> make_memcheck_importer();
/// Leak reports of LeakSanitizer and AddressSanitizer: a snapshot for each report.
std::unique_ptr<Importer> make_leak_sanitizer_importer();

}  // namespace snapdiff::formats
