#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/html/series.hpp"
#include "snapdiff/growth.hpp"
#include "snapdiff/keyed_hash.hpp"
#include "snapdiff/postmortem.hpp"

/// The page's data blocks: bytes (variable-length integers, deflate, base64), figures of rows, and the stacks of rows,
/// interned: one text table, one table of frames, stacks in the order of their frames from the root so that each says
/// only where it leaves the one before.
namespace snapdiff::html {

class Bytes {
 public:
  /// Seven bits a byte, the lowest first, the top bit set on all but the last.
  void number(std::uint64_t value) {
    while (value >= 0x80) {
      text_ += static_cast<char>(value | 0x80);
      value >>= 7;
    }
    text_ += static_cast<char>(value);
  }
  /// 0, -1, 1, -2, ... as 0, 1, 2, 3.
  void difference(std::int64_t value) {
    number((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
  }
  void text(std::string_view bytes) {
    number(bytes.size());
    text_ += bytes;
  }
  const std::string& all() const { return text_; }

 private:
  std::string text_;
};

/// Raw deflate at a fixed level: same bytes in, same bytes out. Throws std::bad_alloc.
std::string deflated(std::string_view bytes);

std::string base64(std::string_view bytes);

/// A policy's name for a text: its SHA-256, given in hex, in base64.
std::string hash_source(std::string_view hex);

/// Size in base64.
constexpr std::size_t base64_size(std::size_t bytes) { return (bytes + 2) / 3 * 4; }

/// Frame as the page shows it; texts are rows of the text table.
///   name   short, printable   full  as recorded   file, module  paths
struct PageFrame {
  std::uint32_t name = 0, full = 0, file = 0, module = 0;
  std::int32_t line = 0;
  std::uint8_t flags = 0;
  friend bool operator==(const PageFrame&, const PageFrame&) = default;
};
inline constexpr std::uint8_t kPseudo = 1, kInlined = 2, kEntry = 4, kLibrary = 8;

class StackPages {
 public:
  /// Takes in the stacks (or keys) of these rows of the report.
  StackPages(const GrowthReport& report, std::span<const std::uint32_t> rows);

  /// Indices into the constructor's `rows`: the same stacks, by their frames from the root.
  std::span<const std::uint32_t> in_order() const { return order_; }

  /// Texts, frames and stacks of the rows for which `wanted` is set, in that order. `wanted` is parallel
  /// to the constructor's rows.
  std::string coded(const std::vector<bool>& wanted) const;

 private:
  std::span<const std::uint32_t> frames(std::uint32_t row) const {
    return std::span(frame_of_stack_).subspan(begin_[row], begin_[row + 1] - begin_[row]);
  }
  void add(std::span<const FrameView> leaf_first);
  std::uint32_t frame(const FrameView& view);
  std::uint32_t text(std::string&& printable);
  std::uint32_t cut_frame(std::size_t frames);

  /// Where a view's texts lie: an empty one may start where the next begins, so sizes count.
  struct Seen {
    const char *function, *file, *module;
    std::size_t function_size, file_size, module_size;
    std::uint64_t offset;
    std::int32_t line;
    bool inlined;
    friend bool operator==(const Seen&, const Seen&) = default;
  };
  struct Hash {
    std::size_t operator()(const Seen& seen) const;
    std::size_t operator()(const PageFrame& frame) const;
  };

  std::vector<std::string> texts_;
  std::unordered_map<std::string, std::uint32_t, KeyedHash> text_ids_;
  std::vector<PageFrame> frames_;
  std::unordered_map<PageFrame, std::uint32_t, Hash> frame_ids_;
  std::unordered_map<Seen, std::uint32_t, Hash> seen_;
  std::vector<std::uint32_t> frame_of_stack_;  // root first
  std::vector<std::size_t> begin_{0};
  std::vector<std::uint32_t> order_;
};

/// How many of the heaviest rows come in the report's own order; the page orders the others by size of
/// change, then by name.
inline constexpr std::size_t kRankedRows = 10'000;

/// Figures of rows, in columns. `order`: rows of the report as the page numbers them.
///   ranks     numbers of the report's first kRankedRows rows on the page, in the report's order
///   values    per row: greatest common divisor; then first values and steps in multiples of it
///   ...       objects, errors, verdicts, tiers, known points (README.md, "Data")
/// `importance` is of all rows of the report: reasons of verdicts are kept for those that matter.
std::string coded_values(const Postmortem& report, const std::vector<std::uint64_t>& importance,
                         std::span<const std::uint32_t> order);

}  // namespace snapdiff::html
