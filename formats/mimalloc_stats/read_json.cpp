#include <map>
#include <optional>
#include <string>

#include "formats/input/read_failure.hpp"
#include "formats/json/json_dumps.hpp"
#include "formats/mimalloc_stats/mimalloc_dump.hpp"

namespace snapdiff::formats::mimalloc_stats {
namespace {

/// mimalloc has 74 bins; far more come from damage only.
constexpr std::size_t kMostBins = 4096;

/// MI_MALLOC_VERSION: "3.6.0" is 30600, "2.2.5" was 225.
std::string version_text(std::int64_t number) {
  const std::int64_t base = number >= 10'000 ? 100 : 10;
  const auto part = [](std::int64_t value) { return std::to_string(value); };
  return part(number / (base * base)) + "." + part(number / base % base) + "." + part(number % base);
}

class JsonDump final : public json::Walk {
 public:
  void number(std::int64_t value) override {
    if (depth() == 1) {
      if (key(0) == "stat_version") found_ = true;
      if (key(0) == "mimalloc_version" && value > 0) statistics_.set_version(version_text(value));
      statistics_.add_total(key(0), {value, 0});
    } else if (at({"process", "page_faults"})) {
      statistics_.add_total(key(1), {value, 0});
    } else if (at({"process", "*"})) {
      statistics_.add_level(key(1), {value, 0});
    } else if (at({"*", "current"})) {
      statistics_.add_level(key(0), {value, 0});
      if (key(0) == "malloc_huge") huge_bytes_ = value;
    } else if (at({"*", "total"})) {
      statistics_.add_level_total(key(0), {value, 0});
    } else if (at({"malloc_bins", "*", "current"})) {
      bin().blocks = value;
    } else if (at({"malloc_bins", "*", "block_size"})) {
      bin().size = value;
    }
  }

  void finish(text::HeldSink& out) {
    if (!found_) malformed("not mimalloc's statistics: expected an object with stat_version");
    for (const auto& [index, bin] : bins_) give(bin, index + 1 == bins_.size());
    statistics_.give(out);
  }

 private:
  struct Blocks {
    std::int64_t blocks = 0;
    std::int64_t size = 0;
  };

  Blocks& bin() {
    if (index(1) >= kMostBins) fail(ErrorCode::limit, "too many bins: more than 4096", offset());
    return bins_[index(1)];
  }

  /// The last bin is for blocks of any size beyond the others.
  void give(const Blocks& bin, bool is_last) {
    if (bin.blocks <= 0) return;
    if (is_last && huge_bytes_) return statistics_.add_bin("huge", {*huge_bytes_, 0});
    const std::int64_t bytes = product_of(bin.blocks, bin.size, "bytes of a bin are", offset());
    statistics_.add_bin(std::to_string(bin.size), {bytes, 0});
  }

  Statistics statistics_{"JSON"};
  std::map<std::size_t, Blocks> bins_;
  std::optional<std::int64_t> huge_bytes_;
  bool found_ = false;
};

}  // namespace

void read_json(Input& in, SnapshotSink& out) { json::read_dumps<JsonDump>(in, out); }

}  // namespace snapdiff::formats::mimalloc_stats
