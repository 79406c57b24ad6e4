#include <catch2/catch.hpp>

#include "formats/input/all_formats.hpp"
#include "support/read_series.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

constexpr std::int64_t kKib = 1024;

const formats::Format& nmt() { return formats::kJvmNativeMemory; }

/// "committed reserved" in KiB of a category.
std::string kib_of(const Snapshot& snapshot, const std::string& category) {
  const std::string values = rows(snapshot).at(category + " {type=" + category + "}");
  return std::to_string(std::stoll(values) / kKib) + " " +
         std::to_string(std::stoll(values.substr(values.find(' '))) / kKib);
}

std::string report(const std::string& total, const std::string& categories) {
  return "\nNative Memory Tracking:\n\nTotal: " + total + "\n\n" + categories;
}

}  // namespace

TEST_CASE("jvm-nmt: categories and Total of a summary, to the KiB") {
  const Snapshot s = read_one(nmt(), test_data("jvm_native/summary.01.txt"));
  CHECK(rows(s).size() == 19);
  CHECK(kib_of(s, "Java Heap") == "40960 40960");
  CHECK(kib_of(s, "Class") == "263 1048711");
  CHECK(kib_of(s, "Native Memory Tracking") == "490 490");
  CHECK(kib_of(s, "Metaspace") == "844 65548");
  CHECK(counter(s, "committed") == 66256 * kKib);
  CHECK(counter(s, "reserved") == 1437424 * kKib);
  CHECK(total(s, "committed") == 66257 * kKib);  // of rounded numbers
  CHECK(counter(s, "malloc") == 3760 * kKib);
  CHECK(counter(s, "classes") == 1041);
  CHECK(counter(s, "threads") == 14);
  CHECK(counter(s, "thread_stacks") == 784 * kKib);
  CHECK(s.column("committed")->half_unit == 512);
  CHECK(s.facts.pid == 18552);
  CHECK(s.facts.default_metric == "committed");
  CHECK(s.facts.notes.empty());
  CHECK(s.facts.complete);
}

TEST_CASE("jvm-nmt: a diff is two moments: the later one is the summary of that moment") {
  const std::vector<Snapshot> diff = read_ok(nmt(), test_data("jvm_native/summary-diff.03.txt"));
  REQUIRE(diff.size() == 2);
  const Snapshot now = read_one(nmt(), test_data("jvm_native/summary.03.txt"));
  CHECK(kib_of(diff[1], "Internal") == kib_of(now, "Internal"));
  CHECK(kib_of(diff[1], "Internal") == "4196 4196");
  CHECK(kib_of(diff[0], "Internal") == "192 192");
  CHECK(kib_of(diff[0], "Arena Chunk") == "1198 1198");
  CHECK(counter(diff[1], "committed").value() - counter(diff[0], "committed").value() == 3472 * kKib);
  CHECK(diff[0].facts.notes.empty());
}

TEST_CASE("jvm-nmt: detail names call sites, what they leave of a category is a row of its own") {
  const auto read = formats::read_file(std::string(SNAPDIFF_TEST_DATA) + "/jvm_native/detail.01.txt.gz", {});
  REQUIRE(read);
  const Snapshot& s = read->front();
  CHECK(s.facts.format_detail == "detail, gzip");
  CHECK(s.facts.notes.empty());
  std::int64_t other = 0, direct = 0, heap = 0;
  for (const auto& [key, values] : rows(s)) {
    if (key.find("{type=Other}") != std::string::npos) other += std::stoll(values);
    if (key.find("Unsafe_AllocateMemory0 < ") == 0) direct += std::stoll(values);
    if (key.find("{type=Java Heap}") != std::string::npos) heap += std::stoll(values);
  }
  CHECK(other == 6144 * kKib);
  CHECK(direct == 6144 * kKib);
  CHECK(heap == 65536 * kKib);
  // 18 categories, each rounded; sites are rounded too.
  CHECK(std::abs(total(s, "committed") - *counter(s, "committed")) <= 100 * kKib);
}

TEST_CASE("jvm-nmt: a diff with details finds the site that grew") {
  const std::vector<Snapshot> diff = read_ok(nmt(), test_data("jvm_native/detail-diff.02.txt"));
  REQUIRE(diff.size() == 2);
  const auto direct = [](const Snapshot& s) {
    for (const auto& [key, values] : rows(s)) {
      if (key.find("Unsafe_AllocateMemory0 < ") == 0) return std::stoll(values) / kKib;
    }
    return 0LL;
  };
  CHECK(direct(diff[0]) == 6144);
  CHECK(direct(diff[1]) == 12288);
}

TEST_CASE("jvm-nmt: scales, bytes are exact") {
  const Snapshot s = read_one(nmt(), test_data("jvm_native/summary-b.02.txt"));
  CHECK(counter(s, "committed") == 108102654);
  CHECK(total(s, "committed") == 108102654);
  CHECK(total(s, "reserved") == 1512571902);
  CHECK(s.column("committed")->half_unit == 0);
  const Snapshot mb =
      read_one(nmt(), report("reserved=1443MB, committed=103MB", "-  Java Heap (reserved=1443MB, committed=103MB)\n"));
  CHECK(total(mb, "committed") == 103 * kKib * kKib);
}

TEST_CASE("jvm-nmt: Total is checked against the categories") {
  const std::string heap = "-                 Java Heap (reserved=100KB, committed=100KB)\n";
  const Snapshot more = read_one(nmt(), report("reserved=150KB, committed=140KB", heap));
  CHECK_FALSE(more.facts.complete);
  CHECK(rows(more).at("[below threshold]") == "40960 51200");
  CHECK(total(more, "committed") == 140 * kKib);
  const Snapshot less = read_one(nmt(), report("reserved=50KB, committed=50KB", heap));
  CHECK_FALSE(less.facts.complete);
  CHECK(has_note(less, "add up to more than Total"));
}

TEST_CASE("jvm-nmt: sites that do not fit into their category are left out of it") {
  const Snapshot s =
      read_one(nmt(), report("reserved=10KB, committed=10KB",
                             "-  Arena Chunk (reserved=10KB, committed=10KB)\nDetails:\n\n"
                             "[0x01] Arena::grow(unsigned long)+0x44\n     (malloc=64KB type=Arena Chunk #2)\n"));
  CHECK(rows(s) == std::map<std::string, std::string>{{"Arena Chunk {type=Arena Chunk}", "10240 10240"}});
}

TEST_CASE("jvm-nmt: cuts are said, sums beyond 64 bits and text without a report are refused") {
  const std::string text = test_data("jvm_native/summary.01.txt");
  check_disguises(nmt(), text);
  // A cut behind all but some small categories is within the rounding of Total.
  check_cuts(nmt(), text.substr(0, text.find("Arena Chunk (")), 37);
  CHECK(read_error(nmt(), "nothing\n").find("Native Memory Tracking:") != std::string::npos);
  const std::string huge = "-  Class (reserved=8000000000GB, committed=8000000000GB)\n";
  CHECK(read_error(nmt(), report("reserved=8000000000GB, committed=8000000000GB", huge + "-  B" + huge.substr(2)))
            .find("64 bits") != std::string::npos);
}

TEST_CASE("jvm-nmt: call sites that a cut leaves out stay in the row of their category") {
  const std::string text = test_data("jvm_native/detail-diff.02.txt");
  const std::int64_t whole = total(read_ok(nmt(), text)[1], "committed");
  const std::size_t sites = text.find("[0x00007f");
  for (std::size_t size = sites; size < text.size(); size += 611) {
    const std::vector<Snapshot> cut = read_ok(nmt(), std::string_view(text).substr(0, size));
    REQUIRE(cut.size() == 2);
    CHECK(std::abs(total(cut[1], "committed") - whole) <= 20 * kKib);
  }
}
