#pragma once

#include <memory>

#include "snapdiff/importer.hpp"

namespace snapdiff::formats {

/// `memray transform csv`, `transform gprof2dot`, `transform speedscope` (speedscope files of other writers
/// as well, where they hold bytes), `memray stats --json`.
std::unique_ptr<Importer> make_memray_csv_importer();
std::unique_ptr<Importer> make_memray_gprof2dot_importer();
std::unique_ptr<Importer> make_memray_speedscope_importer();
std::unique_ptr<Importer> make_memray_stats_importer();

}  // namespace snapdiff::formats
