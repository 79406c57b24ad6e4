#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "snapdiff/api.hpp"
#include "snapdiff/gate.hpp"
#include "snapdiff/growth.hpp"
#include "snapdiff/opened.hpp"
#include "snapdiff/picture.hpp"
#include "snapdiff/postmortem.hpp"
#include "snapdiff/result.hpp"
#include "snapdiff/snapshot.hpp"
#include "snapdiff/story.hpp"
#include "snapdiff/trend.hpp"

/// The library: what the program does, for programs of your own.
///
///   find_package(snapdiff REQUIRED)
///   target_link_libraries(mine PRIVATE snapdiff::snapdiff)
///
/// Ownership: snapshots are shared and never change; a report holds those that it is of, and the texts that its rows,
/// frames and culprits refer to live as long as the report.
/// Threads: nothing here keeps state of its own; any number of threads may call. Reading and naming use as many
/// threads as there are cores; drawing goes on in one thread at a time, others wait.
/// Errors: values with a code, a message and what it is about; what each function can return is listed. Nothing prints,
/// and nothing throws but std::bad_alloc, and std::system_error where no thread can be had.
/// Environment: SNAPDIFF_DB where OpenOptions::store is empty, SOURCE_DATE_EPOCH for dates of documents and for the day
/// of a gate; where raw addresses are named, elfutils asks the servers in DEBUGINFOD_URLS: unset it to stay offline.
namespace snapdiff {

/// What operands name, as the program takes them: files, "-" (standard input), folders, moments (run.pickle@peak),
/// stored snapshots (@3, @last, web#2..#9, label:K=V), series by their names. One operand gives all snapshots that it
/// holds, as long as they are one series; of several each gives its last one. None: OpenOptions::series, else what was
/// last compared in the store.
/// Errors: usage (no such snapshot, several series in one operand), io, malformed, unsupported, incompatible, limit.
/// Of three files or more, damaged ones are left out and listed in Loaded::left_out.
SNAPDIFF_API Result<Loaded> open_snapshots(const std::vector<std::string>& operands, const OpenOptions& options = {});

/// The snapshots in a file ("-" is standard input), oldest first; `format` as `snapdiff formats` lists
/// them, "" to detect it. Their ref is the path.
/// Errors: io, malformed, unsupported, incompatible, limit; `subject` is `path`.
SNAPDIFF_API Result<std::vector<SnapshotRef>> read_snapshots(const std::string& path, const std::string& format = {});

/// Stores what was opened, as the program does, and remembers it as last compared. `store` as OpenOptions::store;
/// `series` "": by folder, stem and program. Returns the numbers of all snapshots (@N), in their order; one that is
/// there already keeps its number. Errors: io, incompatible (the store is of a newer version), limit, malformed.
SNAPDIFF_API Result<std::vector<SnapshotId>> record(const Loaded& loaded, const std::string& store = {},
                                                    const std::string& series = {});

/// Growth per stack between two snapshots, with its story: GrowthReport::story has the headline and the culprits.
/// Errors: incompatible (no common metric), usage (bad option), limit, internal (conservation).
SNAPDIFF_API Result<GrowthReport> compare(const SnapshotRef& baseline, const SnapshotRef& current,
                                          const DiffOptions& options = {});

/// Totals per step, and first -> last with the value of each row at each snapshot. Two snapshots or more.
SNAPDIFF_API Result<SeriesReport> compare_series(std::span<const SnapshotRef> snapshots,
                                                 const DiffOptions& options = {});

/// Verdicts over the snapshots since the last restart, and when `limit` will be met; series.overall.story has the
/// headline and the culprits, each with verdict, file, line and values. Three or more.
SNAPDIFF_API Result<TrendReport> judge(std::span<const SnapshotRef> snapshots, const DiffOptions& options = {},
                                       std::optional<std::int64_t> limit = std::nullopt);

/// Limits for growth. Empty: `total:5%` and `culprit:5%` below 8 snapshots, else nothing may be GROWING or jump
/// by 5 %.
///   budgets         "10MiB", "5%", "100KiB/step", "482KiB/h", "total:3%/step"
///   budget_file     [[budget]] entries of a TOML file
///   allowance_file  accepted growth; "" = snapdiff-accept.toml in the working folder, where there is one
struct GateOptions {
  std::vector<std::string> budgets;
  std::string budget_file;
  std::string allowance_file;
  bool allow_unjudged = false;  ///< budgets that could not be judged are no failure
};

/// Two snapshots or more against budgets; GateReport::result() says whether they passed. Errors: usage (an
/// invalid budget), io (its file), and those of compare().
SNAPDIFF_API Result<GateReport> check_gate(std::span<const SnapshotRef> snapshots, const GateOptions& options = {},
                                           const DiffOptions& view = {});

/// What was opened as PDF, page for browsers, SVG, PNG or DOT; returns the bytes of the file. The module that draws
/// (libsnapdiff_draw.so of the same version, beside this library or in its folder `snapdiff`) is opened at the first
/// call; a page is made without it, too, but then it has no graph. Snapshots that hold counters alone give charts.
/// Errors: usage (too few snapshots, a form that the kind does not have), io (no module, no fonts: the message says
/// what to install), limit, and those of compare().
SNAPDIFF_API Result<std::string> draw_picture(const Loaded& loaded, const PictureOptions& options = {},
                                              const DiffOptions& view = {});

/// How a post-mortem is made.
///   limit    in the metric's unit: the report says when it will be met
///   rows     of the Markdown and JSON tables; by default what a ticket has room for, and 1000
///   redact   tokens in place of names, paths, hosts and labels; with the same key (16 bytes or more; "" is a new one)
///            a name has the same token in every report
struct PostmortemOptions {
  std::optional<std::int64_t> limit;
  std::optional<std::size_t> rows;
  std::optional<std::string> redact;
  bool letter = false;
};

/// Everything that the report of a series says; of one CUDA snapshot with a trace, of the moments along it.
/// Errors: usage (one snapshot without a trace, a key that is too short), and those of compare().
SNAPDIFF_API Result<Postmortem> make_postmortem(const Loaded& loaded, const PostmortemOptions& options = {},
                                                const DiffOptions& view = {});

/// The same as files: report.pdf (where the module that draws is there), report.html, report.md, report.json.
/// Errors: as make_postmortem(), io (no fonts), limit.
SNAPDIFF_API Result<std::vector<Document>> make_postmortem_documents(const Loaded& loaded,
                                                                     const PostmortemOptions& options = {},
                                                                     const DiffOptions& view = {});

/// All of a result as JSON, as `--as json` prints it.
SNAPDIFF_API std::string to_json(const GrowthReport& report);
SNAPDIFF_API std::string to_json(const TrendReport& report);

/// For printing: a sentence of a story; names that came out of an input are made harmless.
SNAPDIFF_API std::string prose_text(const Prose& prose);

/// For printing: a function's name without arguments and template arguments beyond depth 1; without a
/// name "module+0x1234".
SNAPDIFF_API std::string frame_text(const FrameView& frame);

}  // namespace snapdiff
