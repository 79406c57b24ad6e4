#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "formats/input/all_formats.hpp"
#include "formats/registry.hpp"
#include "support/imported.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

Imported import_printed(std::string_view text) {
  return import_with(text, [](Input& in, SnapshotSink& out) { return formats::kMsPrint.read(in, out); });
}

std::vector<Snapshot> read_file_of(const std::string& name) {
  Result<std::vector<Snapshot>> read = formats::read_file(SNAPDIFF_TEST_DATA "/valgrind/" + name, {});
  if (!read) FAIL(read.error().text());
  return std::move(*read);
}

}  // namespace

TEST_CASE("ms_print: it says what the massif file says that it was made of") {
  const auto [printed, file] =
      GENERATE(table<std::string, std::string>({{"ms_print-steps6.txt", "massif-threshold20-ms-steps6.out"},
                                                {"ms_print-pages-steps4.txt", "massif-pages-steps4.out"}}));
  CAPTURE(printed);
  const std::vector<Snapshot> found = read_file_of(printed);
  const std::vector<Snapshot> expected = read_file_of(file);
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CAPTURE(i);
    for (const char* name : {"mem_heap", "mem_heap_extra", "mem_stacks", "time"})
      CHECK(counter(found[i], name) == counter(expected[i], name));
    const std::string& metric = found[i].facts.default_metric;
    CHECK(metric == expected[i].facts.default_metric);
    if (!metric.empty()) CHECK(total(found[i], metric) == total(expected[i], metric));
    // Of pages ms_print leaves sites out that massif has.
    if (printed == "ms_print-steps6.txt" && !metric.empty()) CHECK(rows(found[i]) == rows(expected[i]));
    CHECK(found[i].facts.format_detail == expected[i].facts.format_detail);
    CHECK(found[i].facts.command_line == expected[i].facts.command_line);
  }
}

TEST_CASE("ms_print: a tree alone, as people paste it") {
  const Imported in = import_printed(
      "The leak is here:\n"
      "->99.92% (20,480B) 0x10917E: leak (leak.c:7)\n"
      "| ->75.00% (15,360B) 0x1091A2: main (leak.c:14)\n"
      "| ->24.92% (5,120B) in 3+ places, all below ms_print's threshold (25.00%)\n"
      "|\n"
      "->00.08% (16B) 0x1: start (crt.c:1)\n");
  REQUIRE(in.snapshots.size() == 1);
  CHECK(rows(in.snapshots[0]) == std::map<std::string, std::vector<std::int64_t>>{{"leak:7;main:14", {15360}},
                                                                                  {"leak:7;[below threshold]", {5120}},
                                                                                  {"start:1", {16}}});
  CHECK_FALSE(in.snapshots[0].facts.complete);
}

TEST_CASE("ms_print: damage is told with its place, and a cut line is left out") {
  const auto error_of = [](const std::string& text) {
    const Imported in = import_printed(text);
    REQUIRE(in.error.has_value());
    return in.error->text();
  };
  CHECK(error_of("99.92% (20B) (heap allocation functions) malloc\n->99.92% (21B) 0x1: f (a.c:1)\n")
            .find("no more than") != std::string::npos);
  CHECK(error_of("->99.92% (21B) 0x1: f (a.c:1)\n| | ->99.92% (21B) 0x1: f (a.c:1)\n").find("one step below") !=
        std::string::npos);
  CHECK(formats::kMsPrint.sniff("99.92% (20B) of it\n->next step\n") == Match::no);
  const Imported cut = import_printed("->60.00% (6B) 0x1: f (a.c:1)\n->40.00% (4B) 0x2: g (a.");
  REQUIRE(cut.snapshots.size() == 1);
  CHECK(total(cut.snapshots[0], "inuse_space") == 6);
  CHECK(cut.snapshots[0].facts.partial);
}
