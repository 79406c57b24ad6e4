#ifndef SNAPDIFF_SNAPDIFF_H
#define SNAPDIFF_SNAPDIFF_H

#include <stddef.h>
#include <stdint.h>

/* The C interface of snapdiff, for programs in any language. C99 or later, C++.
 *
 *   snapdiff_snapshots* opened;
 *   snapdiff_answer* answer;
 *   snapdiff_error error;
 *   const char* operands[] = {"heap.001.pb.gz", "heap.012.pb.gz"};
 *   if (snapdiff_open(operands, 2, NULL, &opened, &error) != SNAPDIFF_OK) { puts(error.message); ... }
 *
 * Stability: functions, structs and codes stay as they are from 0.1 on. Later versions add functions, options, facts,
 * tables, and columns at the end of tables; snapdiff_interface_version() counts such additions.
 * Ownership: whoever receives a handle, an error, bytes or a stream frees it with the function named beside its type.
 * An answer and its streams are independent of the snapshots, which may be freed before. All inputs are copied.
 * Threads: any number of threads may call. One handle may be read by several threads at once, and freed by one.
 * Errors: every function with a `snapdiff_error*` returns SNAPDIFF_OK or a code. No exception leaves the library, and
 * nothing is printed. After a failure the output is NULL or empty.
 * Text: UTF-8 that ends with a NUL. Names out of inputs have control characters and invalid bytes as \xNN.
 * Units: bytes, unless the fact "unit" says otherwise.
 * Environment: as snapdiff.hpp says.
 */

#if defined(__GNUC__)
#define SNAPDIFF_C_API __attribute__((visibility("default")))
#else
#define SNAPDIFF_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The Arrow C data interface and C stream interface, as https://arrow.apache.org/docs/format/CDataInterface.html has
 * them. Every library that reads them declares the same structs under the same guards. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;
  void (*release)(struct ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  struct ArrowArray** children;
  struct ArrowArray* dictionary;
  void (*release)(struct ArrowArray*);
  void* private_data;
};
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema* out);
  int (*get_next)(struct ArrowArrayStream*, struct ArrowArray* out);
  const char* (*get_last_error)(struct ArrowArrayStream*);
  void (*release)(struct ArrowArrayStream*);
  void* private_data;
};
#endif

/* What kind of failure an error is. */
enum {
  SNAPDIFF_OK = 0,
  SNAPDIFF_IO = 1,           /* the operating system refused: missing file, full disk */
  SNAPDIFF_UNSUPPORTED = 2,  /* readable, but not a heap profile: a CPU profile, a PNG */
  SNAPDIFF_MALFORMED = 3,    /* the bytes break the grammar of their format */
  SNAPDIFF_LIMIT = 4,        /* a bound that protects the reader was passed, or memory ran out */
  SNAPDIFF_INCOMPATIBLE = 5, /* each input is fine, together they are not: no common metric */
  SNAPDIFF_USAGE = 6,        /* unknown operand, option, fact or table; invalid value */
  SNAPDIFF_INTERNAL = 7      /* one of snapdiff's own checks failed */
};

/* A failure. The caller provides the struct, uninitialised, and frees its texts with snapdiff_error_clear(). A call that
 * succeeds sets `code` to SNAPDIFF_OK and all texts to "". Texts are never NULL after a call.
 *   offset    byte of the decompressed input; valid if has_offset is 1
 *   subject   the file, store or operand; "" if the failure is about none
 *   found, expected   the two sides of the complaint; "" if it has none
 *   message   one line with all of the above, without a full stop
 */
typedef struct snapdiff_error {
  int32_t code;
  int32_t has_offset;
  uint64_t offset;
  const char* subject;
  const char* found;
  const char* expected;
  const char* message;
  void* private_data;
} snapdiff_error;
SNAPDIFF_C_API void snapdiff_error_clear(snapdiff_error* error);

/* Bytes that the caller frees with snapdiff_bytes_clear(). data[size] is 0. */
typedef struct snapdiff_bytes {
  const char* data;
  size_t size;
  void* private_data;
} snapdiff_bytes;
SNAPDIFF_C_API void snapdiff_bytes_clear(snapdiff_bytes* bytes);

/* An option is a name and a value, both texts. A list ends with {NULL, NULL}; NULL is an empty list. Options marked with
 * * may be given more than once. Flags are "1" or "0". Unknown names and invalid values are SNAPDIFF_USAGE.
 *
 * Opening, as the program's options of the same names:
 *   store            a file; else $SNAPDIFF_DB, else snapdiff.db in the working folder
 *   series           the series to take from an operand that holds several
 *   format           of all files; else by content
 *   max_input_bytes  of a decompressed file; 64 GiB
 *   strict           flag: a damaged file among three or more is an error and not left out
 *   pattern*, group_by, decimal_units   how logs are read
 *   symbols*, sysroot, demangle         names for raw addresses; demangle is none, simple or full
 * View, of every function that takes snapshots and answers:
 *   metric           inuse_space, alloc_objects, ...; else chosen
 *   by               stack, function, file, line, module, type or label; label:KEY names the label
 *   sort             change, growth, after, objects or name
 *   focus, ignore, hide, show, own, library   RE2, searched in function, file and module of each frame
 *   frames           usual, python, native or all
 *   allocator_frames flag: shows the allocator's own frames
 *   fold_recursion   flag, 1 unless given
 *   match_strictly   flag: builds are not matched by similarity
 * snapdiff_judge(), snapdiff_report(): limit, a number in the metric's unit
 * snapdiff_gate(): budget* ("10MiB", "total:5%", "100KiB/step"), budget_file, allowance_file, allow_unjudged
 * snapdiff_draw(): kind (growth, flame, timeline), form (pdf, html, svg, png, dot), max_nodes, letter
 * snapdiff_report(): rows (of the Markdown and JSON tables), redact (a key of 16 bytes or more, "" makes one), letter
 */
typedef struct snapdiff_option {
  const char* name;
  const char* value;
} snapdiff_option;

typedef struct snapdiff_snapshots snapdiff_snapshots; /* opened inputs; snapdiff_snapshots_free() */
typedef struct snapdiff_answer snapdiff_answer;       /* a result; snapdiff_answer_free() */

/* "0.1.0", and the number of additions to this header: 1. */
SNAPDIFF_C_API const char* snapdiff_version(void);
SNAPDIFF_C_API int32_t snapdiff_interface_version(void);

/* Opens what `count` operands name, as the program takes them: files, "-", folders, "run.pickle@peak", "@3",
 * "web#2..#9". One operand gives all snapshots in it; of several, each gives its last one. Without operands: what was
 * last compared in the store. Errors: SNAPDIFF_USAGE, _IO, _MALFORMED, _UNSUPPORTED, _INCOMPATIBLE, _LIMIT. */
SNAPDIFF_C_API int32_t snapdiff_open(const char* const* operands, size_t count, const snapdiff_option* options,
                                     snapdiff_snapshots** out, snapdiff_error* error);
SNAPDIFF_C_API size_t snapdiff_snapshot_count(const snapdiff_snapshots* snapshots);
SNAPDIFF_C_API void snapdiff_snapshots_free(snapdiff_snapshots* snapshots);

/* Stores the snapshots; "store" and "series" are the options. `ids` receives their numbers, a line each, or is NULL.
 * Errors: SNAPDIFF_IO, _INCOMPATIBLE, _LIMIT, _MALFORMED, _USAGE. */
SNAPDIFF_C_API int32_t snapdiff_record(const snapdiff_snapshots* snapshots, const snapdiff_option* options,
                                       snapdiff_bytes* ids, snapdiff_error* error);

/* Growth per stack from the first snapshot to the last. Two snapshots or more. */
SNAPDIFF_C_API int32_t snapdiff_compare(const snapdiff_snapshots* snapshots, const snapdiff_option* options,
                                        snapdiff_answer** out, snapdiff_error* error);
/* The same with a verdict for each row, since the last restart. Three snapshots or more; verdicts from eight on. */
SNAPDIFF_C_API int32_t snapdiff_judge(const snapdiff_snapshots* snapshots, const snapdiff_option* options,
                                      snapdiff_answer** out, snapdiff_error* error);
/* Holds growth against budgets; the fact "result" says passed, unjudged or failed. Two snapshots or more. */
SNAPDIFF_C_API int32_t snapdiff_gate(const snapdiff_snapshots* snapshots, const snapdiff_option* options,
                                     snapdiff_answer** out, snapdiff_error* error);
SNAPDIFF_C_API void snapdiff_answer_free(snapdiff_answer* answer);

/* A text of the answer by its name, "" if it is empty, NULL if the name is unknown. Valid as long as the answer.
 *   headline, figures, extent   "In-use bytes grew from 1.79 to 10.2 MiB"; "+8.44 MiB, +33742 objects"; "13 snapshots"
 *   verdict                     the gravest verdict of the culprits; "" below eight snapshots and without culprits
 *   no_verdict, no_culprit      why there is none
 *   metric, unit, by            "inuse_space", "bytes", "stack"
 *   total_verdict, total_reason the verdict on the total of a series
 *   restart                     why snapshots before a restart were left out
 *   result                      of a gate: passed, unjudged or failed
 *   next                        the command to continue with */
SNAPDIFF_C_API const char* snapdiff_text(const snapdiff_answer* answer, const char* name);

/* A whole number of the answer by its name; 1 if it is known, else 0 and *value is 0.
 *   before, after, growth       totals of the first and the last snapshot in the metric's unit; growth is exact
 *   objects_before, objects_after, objects_growth   unknown if the inputs count no objects
 *   snapshots, left_out, rows   of the judged series; damaged inputs; rows of the table "rows" */
SNAPDIFF_C_API int32_t snapdiff_number(const snapdiff_answer* answer, const char* name, int64_t* value);

/* A table of the answer as an Arrow stream of one batch; the consumer calls out->release. Columns marked with ? may be
 * null. "text" is utf8, or a dictionary of utf8 with int32 or int16 indices; "list" is a list of it.
 *
 *   rows      one row a stack (or key), then [unattributed] and [filtered out] if they are not 0; in the order of "sort".
 *             The sum of `growth` is the number "growth", exactly.
 *     name text                the user's own function nearest to the allocation, else the leaf; the key of other groups
 *     file? text, line? int32  of that frame
 *     module? text             of that frame
 *     stack list<text>         functions as recorded, leaf first; empty for keys
 *     before, after, growth    int64, in the metric's unit
 *     objects_before?, objects_after?, objects_growth?   int64
 *     error? float64           one standard deviation of the growth by sampling; 0 is exact, null is unknown
 *     class? text              new, gone, grew, shrank, same
 *     matched? text            by what both sides were matched: T0 to T4, inline, fuzzy, merged, unmatched
 *     of a series also: verdict? text; p?, slope?, slope_low?, slope_high? float64, a snapshot; values list<int64>, one a
 *     snapshot, null where a source does not list the row
 *   culprits  what has to be explained, gravest first
 *     kind text                culprit, levelled, freed
 *     label, name text; file? text; line? int32; via text   "GROWING", "main.leakBacklog", library function it calls
 *     before, after, growth, objects_before?, objects_after?, objects_growth? int64
 *     share float64            of all growth, 0 to 1
 *     error? float64; verdict? text; p?, slope?, slope_low?, slope_high? float64; reason?, pace text
 *     path list<text>          the user's own functions, root first; the last one is the culprit
 *     values list<int64>       one a snapshot; two without a series
 *   trend     one row a snapshot: ref text; total int64; objects? int64; growth int64; taken_at? float64 (seconds since
 *             1970); heaviest? text; heaviest_growth int64; restart text; other_build bool. Two rows for a comparison.
 *   findings  of a gate: outcome, budget, name text; measured?, least?, allowed float64; verdict?, id, file? text; line?
 *             int32; owner, note text
 *   matched   by what bytes of both sides were matched: by text; share float64 (the shares add up to 1)
 *   notes     severity (info, warning, data loss), text text; count int64
 * Errors: SNAPDIFF_USAGE (unknown table), SNAPDIFF_LIMIT. */
SNAPDIFF_C_API int32_t snapdiff_table(const snapdiff_answer* answer, const char* name, struct ArrowArrayStream* out,
                                      snapdiff_error* error);

/* All of the answer as JSON: snapdiff.diff, snapdiff.trend or snapdiff.gate, as `--as json` prints it. */
SNAPDIFF_C_API int32_t snapdiff_json(const snapdiff_answer* answer, snapdiff_bytes* out, snapdiff_error* error);

/* A picture or page as the bytes of a file. PDF, SVG, PNG and DOT need libsnapdiff_draw.so of the same version. */
SNAPDIFF_C_API int32_t snapdiff_draw(const snapdiff_snapshots* snapshots, const snapdiff_option* options,
                                     snapdiff_bytes* out, snapdiff_error* error);

/* Writes report.html, report.md, report.json and, if libsnapdiff_draw.so is there, report.pdf into a folder, which is
 * made if it is missing. Each file appears whole or not at all. `names` receives the names written, a line each, or is
 * NULL. Errors: SNAPDIFF_USAGE (fewer than two snapshots), SNAPDIFF_IO, SNAPDIFF_LIMIT. */
SNAPDIFF_C_API int32_t snapdiff_report(const snapdiff_snapshots* snapshots, const char* folder,
                                       const snapdiff_option* options, snapdiff_bytes* names, snapdiff_error* error);

#ifdef __cplusplus
}
#endif

#endif
