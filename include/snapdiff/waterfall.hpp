#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "snapdiff/growth.hpp"
#include "snapdiff/notes.hpp"

/// What a process's resident memory consists of, from whatever files say parts of it.
namespace snapdiff {

/// What a part is of; `unexplained` is what no file tells.
enum class WaterfallKind : std::uint8_t { in_use, kept_free, overhead, stacks, files, shared, gpu_host, unexplained };
constexpr std::string_view to_text(WaterfallKind kind) {
  constexpr std::string_view kNames[] = {"in_use", "kept_free", "overhead", "stacks",
                                         "files",  "shared",    "gpu_host", "unexplained"};
  return kNames[static_cast<std::size_t>(kind)];
}

/// Bytes at the first and the last moment; `before` is unknown where there is only one.
struct WaterfallAmount {
  std::optional<std::int64_t> before, after;
  std::optional<std::int64_t> growth() const {
    return before && after ? std::optional(*after - *before) : std::nullopt;
  }
};

struct WaterfallPart {
  WaterfallKind kind = WaterfallKind::unexplained;
  std::string name;    ///< "in use (glibc)"
  std::string source;  ///< format of the files that tell it; "" of what is unexplained
  WaterfallAmount bytes;
};

/// rss = sum of the parts, at each moment at which it is known.
///   parts   in order of the kinds; sums of amounts fit into 64 bits
///   leader  of the kind that grew most the part that did, where RSS and it grew
///   share   of the leader in the growth of RSS, in percent
///   says    what the growth means, as far as the figures tell; "" where RSS is not known at two moments
///   unseen  what no file tells, each with what to give
struct Waterfall {
  std::vector<SnapshotRef> snapshots;
  WaterfallAmount rss;
  std::string rss_source;
  std::vector<WaterfallPart> parts;
  std::optional<std::size_t> leader;
  std::int64_t share = 0;
  std::string says;
  std::vector<std::string> unseen;
  Notes notes;
};

}  // namespace snapdiff
