#include "formats/jemalloc_stats/statistics.hpp"

#include "formats/input/type_row.hpp"
#include "formats/json/json_dumps.hpp"

namespace snapdiff::formats::jemalloc_stats {
namespace {

constexpr std::string_view kNoSizeClass = "[no size class recorded]";

/// doc/jemalloc.xml.in, stats.*.
constexpr KnownCounter kCounters[] = {
    {"allocated", "bytes"}, {"active", "bytes"},   {"metadata", "bytes"},     {"resident", "bytes"},
    {"mapped", "bytes"},    {"retained", "bytes"}, {"metadata_thp", "count"}, {"zero_reallocs", "count", true}};

/// Rows of one table; the bytes are added to `sum`.
void add_rows(SnapshotBuilder& builder, const Classes& classes, std::int64_t& sum) {
  for (const auto& [size, number] : classes.live) {
    const std::int64_t bytes = product_of(size, number, "sum over the size classes is");
    add_to(sum, bytes, "sum over the size classes is");
    add_type_row(builder, "size class " + std::to_string(size), {number, bytes});
  }
}

}  // namespace

void add_live(Classes& classes, std::int64_t size, std::int64_t number, std::uint64_t offset) {
  classes.told = true;
  if (number == 0) return;
  add_to(classes.live[size], number, "sum over the arenas is", offset);
}

void add_counter(Statistics& statistics, std::string_view name, std::int64_t value) {
  if (const KnownCounter* const known = known_counter(kCounters, name))
    statistics.facts.counters.push_back(known->with(value));
  if (name == "allocated") statistics.allocated = value;
}

void take(const Statistics& statistics, text::HeldSink& out) {
  SnapshotBuilder builder;
  SnapshotFacts& facts = builder.facts() = statistics.facts;
  facts.producer = "jemalloc" + (statistics.version.empty() ? std::string() : " " + statistics.version);
  facts.sampling = Sampling::exact;
  // Where only one arena is in use, or on demand, there are no merged tables.
  const Arena& arena =
      statistics.merged.small.told || statistics.merged.large.told ? statistics.merged : statistics.sum;
  if (arena.small.told || arena.large.told) {
    builder.add_heap_columns();
    std::int64_t sum = 0;
    add_rows(builder, arena.small, sum);
    add_rows(builder, arena.large, sum);
    const bool all_told = arena.small.told && arena.large.told;
    if (!all_told || facts.partial) facts.complete = false;
    if (statistics.allocated && *statistics.allocated != sum) {
      if (all_told || *statistics.allocated < sum) {
        facts.notes.add(Severity::warning, "the size classes do not add up to the allocated bytes");
      } else {
        const std::int64_t values[] = {0, *statistics.allocated - sum};
        const std::uint8_t known[] = {0, 1};
        builder.add_row(builder.pseudo_stack(kNoSizeClass), LabelSetId{}, values, known);
      }
    }
  }
  out.take(builder.finish());
}

namespace {

/// jemalloc has some 230 classes; far more come from damage only.
constexpr std::size_t kMostClasses = 65536;

/// Live objects by the position of the class; what size that is, another table says.
struct Live {
  std::vector<std::int64_t> number;
  bool told = false;

  void add(std::size_t index, std::int64_t more, std::uint64_t offset) {
    told = true;
    if (index >= kMostClasses) fail(ErrorCode::limit, "too many size classes: more than 65536", offset);
    if (number.size() <= index) number.resize(index + 1);
    add_to(number[index], more, "sum over the arenas is", offset);
  }
};

class JsonDump final : public json::Walk {
 public:
  JsonDump() { statistics_.facts.format_detail = "JSON"; }

  void text(std::string_view value) override {
    if (at({"jemalloc", "version"})) statistics_.version = value;
  }

  void opened(bool array) override {
    if (depth() == 1 && key(0) == "jemalloc" && !array) found_ = true;
    if (!array || depth() != 4 || key(0) != "jemalloc" || key(1) != "stats.arenas") return;
    if (key(3) == "bins") live(small_).told = true;
    if (key(3) == "lextents") live(large_).told = true;
  }

  void number(std::int64_t value) override {
    if (depth() < 3 || key(0) != "jemalloc") return;
    if (at({"jemalloc", "stats", "*"})) {
      add_counter(statistics_, key(2), value);
    } else if (at({"jemalloc", "arenas", "bin", "*", "size"})) {
      set_size(small_sizes_, value);
    } else if (at({"jemalloc", "arenas", "lextent", "*", "size"})) {
      set_size(large_sizes_, value);
    } else if (at({"jemalloc", "stats.arenas", "*", "bins", "*", "curregs"})) {
      live(small_).add(index(4), value, offset());
    } else if (at({"jemalloc", "stats.arenas", "*", "lextents", "*", "curlextents"})) {
      live(large_).add(index(4), value, offset());
    }
  }

  void finish(text::HeldSink& out) {
    if (!found_) malformed("not jemalloc's statistics: expected an object called jemalloc");
    add(small_[0], small_sizes_, statistics_.merged.small);
    add(small_[1], small_sizes_, statistics_.sum.small);
    add(large_[0], large_sizes_, statistics_.merged.large);
    add(large_[1], large_sizes_, statistics_.sum.large);
    take(statistics_, out);
  }

 private:
  /// Of merged arenas, single ones, and such that are gone.
  Live& live(Live (&tables)[3]) { return tables[key(2) == "merged" ? 0 : key(2) == "destroyed" ? 2 : 1]; }

  void set_size(std::vector<std::int64_t>& sizes, std::int64_t size) {
    if (index(3) >= kMostClasses) fail(ErrorCode::limit, "too many size classes: more than 65536", offset());
    if (sizes.size() <= index(3)) sizes.resize(index(3) + 1);
    sizes[index(3)] = size;
  }

  void add(const Live& live, const std::vector<std::int64_t>& sizes, Classes& out) {
    out.told = live.told;
    for (std::size_t i = 0; i < live.number.size(); ++i) {
      if (live.number[i] < 0 || (live.number[i] > 0 && (i >= sizes.size() || sizes[i] <= 0)))
        malformed("size class " + std::to_string(i) + " not readable: found " + std::to_string(live.number[i]) +
                  " live objects, expected none below 0 and a size in arenas.bin or arenas.lextent");
      if (live.number[i] > 0) add_live(out, sizes[i], live.number[i], offset());
    }
  }

  Statistics statistics_;
  bool found_ = false;
  Live small_[3], large_[3];
  std::vector<std::int64_t> small_sizes_, large_sizes_;
};

}  // namespace

void read_json(Input& in, SnapshotSink& out) { json::read_dumps<JsonDump>(in, out); }

}  // namespace snapdiff::formats::jemalloc_stats
