#pragma once

#include "snapdiff/importer.hpp"

/// One reader for each layout. Throw ReadFailure: malformed, unsupported, limit, and what the input and
/// the sink return.
namespace snapdiff::formats::leak_reports {

void read_memcheck_text(Input& in, SnapshotSink& out);
void read_memcheck_xml(Input& in, SnapshotSink& out);
void read_sanitizer(Input& in, SnapshotSink& out);

}  // namespace snapdiff::formats::leak_reports
