#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "unit/formats/heap_text/helpers.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

/// The text form in which google/pprof keeps what it expects of a profile.
struct Expected {
  struct Sample {
    std::int64_t objects = 0;
    std::int64_t bytes = 0;
    std::vector<std::size_t> locations;
  };
  struct Location {
    std::uint64_t address = 0;
    std::string text;  // "function file:line"
  };
  std::vector<Sample> samples;
  std::map<std::size_t, Location> locations;
  std::vector<std::string> mappings;  // "start/limit/offset path"
};

Expected read_expected(const std::string& text) {
  Expected out;
  std::istringstream lines(text);
  std::string section;
  for (std::string line; std::getline(lines, line);) {
    if (line == "Samples:" || line == "Locations" || line == "Mappings") {
      section = line;
      continue;
    }
    std::replace(line.begin(), line.end(), ':', section == "Samples:" ? ' ' : ':');
    std::istringstream words(line);
    if (section == "Samples:") {
      Expected::Sample sample;
      if (!(words >> sample.objects >> sample.bytes)) continue;
      for (std::size_t id = 0; words >> id;) sample.locations.push_back(id);
      out.samples.push_back(sample);
    } else if (section == "Locations") {
      std::string id;
      std::string address;
      Expected::Location location;
      words >> id >> address;
      location.address = std::stoull(address, nullptr, 16);
      std::getline(words >> std::ws, location.text);
      location.text = location.text.substr(0, location.text.rfind(":0 s=0"));
      out.locations[std::stoul(id)] = location;
    } else if (section == "Mappings") {
      std::string id;
      std::string range;
      std::string path;
      words >> id >> range >> path;
      out.mappings.push_back(range + " " + path);
    }
  }
  return out;
}

std::string hex(std::uint64_t value) {
  std::ostringstream out;
  out << "0x" << std::hex << value;
  return out.str();
}

}  // namespace

TEST_CASE("golden: pprof's decode of a heapz_v2 dump") {
  const Expected expected = read_expected(data_file("gperftools/cppbench/cppbench.expected.txt"));
  const Snapshot s = import_ok("gperftools", data_file("gperftools/cppbench/cppbench.heap"));
  const Dictionary& d = *s.dictionary;

  std::map<std::vector<std::uint64_t>, std::pair<std::int64_t, std::int64_t>> want;
  for (const auto& sample : expected.samples) {
    std::vector<std::uint64_t> stack;
    for (const std::size_t id : sample.locations) stack.push_back(expected.locations.at(id).address);
    want[stack].first += sample.objects;
    want[stack].second += sample.bytes;
  }
  std::map<std::vector<std::uint64_t>, std::pair<std::int64_t, std::int64_t>> have;
  for (std::size_t row = 0; row < s.samples.size(); ++row) {
    std::vector<std::uint64_t> stack;
    for (const FrameId frame : d.stacks.frames(s.samples.stack[row])) {
      std::uint64_t pc = d.frames.offset[index_of(frame)];
      for (const Mapping& mapping : s.mappings) {
        if (mapping.module == d.frames.module[index_of(frame)]) pc += mapping.start - mapping.offset;
      }
      stack.push_back(pc);
    }
    have[stack] = {s.samples.columns[0].value[row], s.samples.columns[1].value[row]};
  }
  CHECK(expected.samples.size() > 20);
  CHECK(have == want);

  std::vector<std::string> mappings;
  for (const Mapping& m : s.mappings) {
    mappings.push_back(hex(m.start) + "/" + hex(m.limit) + "/" + hex(m.offset) + " " +
                       std::string(d.strings[d.modules.name[index_of(m.module)]]));
  }
  CHECK(mappings == expected.mappings);
}

TEST_CASE("golden: pprof's decode of a Java dump") {
  const Expected expected = read_expected(data_file("java_heapz/java/java.expected.txt"));
  const Snapshot s = import_ok("java-heapz", data_file("java_heapz/java/java.heap"));
  const Dictionary& d = *s.dictionary;
  REQUIRE(s.samples.size() == expected.samples.size());
  for (std::size_t row = 0; row < s.samples.size(); ++row) {
    CAPTURE(row);
    CHECK(s.samples.columns[0].value[row] == expected.samples[row].objects);
    CHECK(s.samples.columns[1].value[row] == expected.samples[row].bytes);
    std::vector<std::string> want;
    for (const std::size_t id : expected.samples[row].locations) want.push_back(expected.locations.at(id).text);
    std::vector<std::string> have;
    for (const FrameId frame : d.stacks.frames(s.samples.stack[row])) {
      const std::size_t f = index_of(d.frames.function[index_of(frame)]);
      have.push_back(std::string(d.strings[d.functions.name[f]]) + " " + std::string(d.strings[d.functions.file[f]]) +
                     ":" + std::to_string(d.frames.line[index_of(frame)]));
    }
    CHECK(have == want);
  }
}

namespace {

/// What two processes of one program have in common: stack hashes with values.
std::set<std::pair<Hash128, std::vector<std::int64_t>>> hashed(const Snapshot& s) {
  std::set<std::pair<Hash128, std::vector<std::int64_t>>> out;
  for (std::size_t row = 0; row < s.samples.size(); ++row) {
    std::vector<std::int64_t> values;
    for (const Column& column : s.samples.columns) values.push_back(column.value[row]);
    out.emplace(s.dictionary->stacks.hash[index_of(s.samples.stack[row])], values);
  }
  return out;
}

}  // namespace

TEST_CASE("golden: two runs of one program at different addresses have the same stacks and values") {
  const Snapshot one = import_ok("gperftools", data_file("gperftools/perl/tcmalloc-run1.0002.heap"));
  const Snapshot two = import_ok("gperftools", data_file("gperftools/perl/tcmalloc-run2.0002.heap"));
  CHECK(one.samples.size() == 409);
  CHECK(total(one, "inuse_space") == 10752621);
  CHECK(total(one, "inuse_objects") == 3441);
  CHECK(total(one, "alloc_space") == 15084377);
  CHECK(one.mappings.front().start != two.mappings.front().start);
  CHECK(hashed(one) == hashed(two));
}

TEST_CASE("golden: growth between two steps of a leaking server") {
  const Snapshot first = import_ok("gperftools", data_file("gperftools/svc/svc.0001.heap"));
  const Snapshot last = import_ok("gperftools", data_file("gperftools/svc/svc.0012.heap"));
  CHECK(total(first, "inuse_space") == 1064912);
  CHECK(total(first, "inuse_objects") == 4264);
  CHECK(total(last, "inuse_space") == 7047568);
  CHECK(total(last, "inuse_objects") == 48275);
  CHECK(total(last, "alloc_space") == 112237320);
}

// TRUTH.md was measured by an independent reader: "file bytes / objects  d change" below "## folder".
TEST_CASE("golden: totals of every text dump of the sample series") {
  const auto root = shared_path("pprof/series");
  if (!root) return;
  std::istringstream truth(read_file(*root + "/TRUTH.md"));
  std::string folder;
  std::size_t files = 0;
  for (std::string line; std::getline(truth, line);) {
    if (line.rfind("## ", 0) == 0) folder = line.substr(3);
    std::istringstream words(line);
    std::string file;
    std::string slash;
    std::int64_t bytes = 0;
    std::int64_t objects = 0;
    if (!(words >> file >> bytes >> slash >> objects) || slash != "/" || file.find(".heap") == std::string::npos)
      continue;
    CAPTURE(folder, file);
    const std::string format = folder.find("jemalloc") != std::string::npos ? "jemalloc" : "gperftools";
    const Snapshot s = import_ok(format, read_file(*root + "/" + folder + "/" + file));
    CHECK(total(s, "inuse_space") == bytes);
    CHECK(total(s, "inuse_objects") == objects);
    CHECK_FALSE(s.facts.partial);
    ++files;
  }
  CHECK(files == 13 + 13 + 12 + 12 + 12 + 14);
}

TEST_CASE("golden: the allocators' own dumps of one perl script") {
  const auto root = shared_path("pprof/allocator-dumps");
  if (!root) return;
  const auto read = [&](const std::string& file) {
    const std::string bytes = read_file(*root + "/" + file);
    return import_ok(file[0] == 'j' ? "jemalloc" : "gperftools", file.ends_with(".gz") ? gunzip(bytes) : bytes);
  };
  for (const char* run : {"1", "2"}) {
    const Snapshot first = read(std::string("tcmalloc-run") + run + ".0001.heap");
    CHECK(first.samples.size() == 406);
    CHECK(total(first, "inuse_objects") == 14575);
    CHECK(total(first, "inuse_space") == 7764458);
    CHECK(total(first, "alloc_objects") == 17394);
    CHECK(total(first, "alloc_space") == 8388623);
    const Snapshot second = read(std::string("tcmalloc-run") + run + ".0002.heap");
    CHECK(total(second, "inuse_space") - total(first, "inuse_space") == 2988163);
  }
  CHECK(hashed(read("tcmalloc-run1.0001.heap")) == hashed(read("tcmalloc-run2.0001.heap")));
  CHECK(hashed(read("tcmalloc-run1.0002.heap")) == hashed(read("tcmalloc-run2.0002.heap")));
  // jeprof's totals, which keep fractions until they are printed.
  const std::map<std::string, std::int64_t> jeprof{{"jemalloc-run1.0.i0.heap", 8526885},
                                                   {"jemalloc-run1.1.f.heap", 11670749},
                                                   {"jemalloc-run2.0.i0.heap", 6945549},
                                                   {"jemalloc-run2.1.f.heap", 10940955},
                                                   {"jemalloc-nounbias.0.f.heap", 11690159}};
  for (const auto& [file, bytes] : jeprof) {
    CAPTURE(file);
    const Snapshot s = read(file);
    CHECK(total(s, "inuse_space") <= bytes);
    CHECK(total(s, "inuse_space") > bytes - static_cast<std::int64_t>(s.samples.size()) - 1);
  }
  CHECK(total(read("tcmalloc-truncated-1MiB.heap.gz"), "alloc_space") == 50346070);
}
