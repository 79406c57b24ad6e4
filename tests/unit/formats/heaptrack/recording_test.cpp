#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "unit/formats/heaptrack/small_recording.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

using Rows = std::map<std::string, std::vector<std::int64_t>>;

TEST_CASE("heaptrack: the live set at the end, with all that was ever allocated") {
  const Snapshot s = recording_ok(small_recording());
  // live blocks and bytes, blocks and bytes ever allocated, temporary blocks
  CHECK(rows(s) == Rows{{"grow:20;main:10", {1, 100, 2, 200, 0}}, {"churn:30;main:10", {1, 16, 3, 48, 2}}});
  CHECK(s.facts.command_line == "./svc --port 80");
  CHECK(s.facts.producer == "heaptrack 1.4.0");
  CHECK(s.facts.sampling == Sampling::exact);
  CHECK(s.facts.complete);
  CHECK_FALSE(s.facts.partial);
  CHECK(counter(s, "peak") == 232);
  CHECK(counter(s, "time") == 30);
  CHECK(counter(s, "rss") == 0x8 * 0x1000);
  CHECK(counter(s, "rss_peak") == 0x20 * 0x1000);
}

TEST_CASE("heaptrack: the live set at the peak") {
  const Snapshot s = recording_ok(small_recording(), "peak");
  CHECK(rows(s) == Rows{{"grow:20;main:10", {2, 200}}, {"churn:30;main:10", {2, 32}}});
  CHECK(counter(s, "peak") == 232);
  CHECK(counter(s, "time") == 10);  // of the stamp in front of it
  CHECK(s.facts.position == 7);     // after the sixth event
}

TEST_CASE("heaptrack: version 0, whose events name size, trace and address, and frees the address alone") {
  const Snapshot s = recording_ok("v 10100\ns m\ns f\ni 1 1 2 0 1\nt 1 0\n+ 8 1 100\n- 100\n+ 8 1 200\n");
  CHECK(rows(s) == Rows{{"f:1", {1, 8, 2, 16, 1}}});
  CHECK(s.facts.notes.all().empty());
}

TEST_CASE("heaptrack: a resident size that cannot be read is left out") {
  const std::string head = "v 10400 3\nI 1000 8\ns 1 m\ns 1 f\ni 1 1 2 0 1\nt 1 0\na 8 1\n+ 0\nR 4\n";
  CHECK(counter(recording_ok(head + "R ffffffffffffffff\n"), "rss") == 0x4000);
  CHECK(counter(recording_ok(head + "R zz\n"), "rss") == 0x4000);
}

TEST_CASE("heaptrack: the first of equal peaks counts") {
  const std::string head = "v 10400 3\ns 1 m\ns 1 f\ni 1 1 2 0 0\nt 1 0\na 8 1\na 8 0\n";
  const Snapshot s = recording_ok(head + "+ 0\n- 0\n+ 1\n- 1\n", "peak");
  CHECK(rows(s) == Rows{{"f", {1, 8}}});
}

TEST_CASE("heaptrack: points by time, by number of events, the first stamp, and again and again") {
  const std::string& text = small_recording();
  CHECK(rows(recording_ok(text, "3")) ==
        Rows{{"grow:20;main:10", {1, 100, 1, 100, 0}}, {"churn:30;main:10", {0, 0, 1, 16, 1}}});
  CHECK(rows(recording_ok(text, "first")) == rows(recording_ok(text, "3")));
  CHECK(rows(recording_ok(text, "10ms")) == rows(recording_ok(text, "3")));
  CHECK(rows(recording_ok(text, "0.01s")) == rows(recording_ok(text, "3")));
  CHECK(rows(recording_ok(text, "11ms")) == rows(recording_ok(text, "6")));
  CHECK(rows(recording_ok(text, "99s")) == rows(recording_ok(text)));
  CHECK(rows(recording_ok(text, "8")) == rows(recording_ok(text)));
  CHECK(rows(recording_ok(text, "end")) == rows(recording_ok(text)));
  CHECK(recording_ok(text, "0").samples.size() == 0);

  const auto bytes_at = [&](const std::string& point) {
    std::vector<std::int64_t> bytes;
    for (const Snapshot& s : import_recording(text, point).snapshots) bytes.push_back(total(s, "inuse_space"));
    return bytes;
  };
  CHECK(bytes_at("every:10ms") == std::vector<std::int64_t>{100, 232, 116});
  CHECK(bytes_at("every:15ms") == std::vector<std::int64_t>{232, 116});
  CHECK(bytes_at("every:1s") == std::vector<std::int64_t>{116});
  CHECK(bytes_at("every:3") == std::vector<std::int64_t>{100, 232, 116});
  CHECK(bytes_at("every:8") == std::vector<std::int64_t>{116});
}

TEST_CASE("heaptrack: moments of one file have positions of their own") {
  std::vector<std::uint32_t> positions;
  for (const Snapshot& s : import_recording(small_recording(), "every:3").snapshots) {
    positions.push_back(s.facts.position);
  }
  CHECK(positions == std::vector<std::uint32_t>{4, 7, 9});
  CHECK(recording_ok(small_recording(), "end").facts.position == 0);
}

TEST_CASE("heaptrack: a point that does not exist names those that do") {
  CHECK(recording_error(small_recording(), "9") == "usage: no point '9': the recording has 8 events");
  for (const std::string point : {"middle", "every:0", "every:0ms", "-3", "1h", "", "every:", "1e400s"}) {
    if (point.empty()) continue;
    const Imported out = import_recording(small_recording(), point);
    CAPTURE(point);
    REQUIRE(out.error.has_value());
    CHECK(out.error->code == ErrorCode::usage);
    CHECK(out.error->message.find("no point '" + point + "': expected end, peak") == 0);
  }
}

TEST_CASE("heaptrack: an address with inlined functions is as many frames, innermost first") {
  const std::string text =
      "v 10400 3\ns 1 m\ns 5 inner\ns 6 middle\ns 5 outer\ns 1 f\n"
      "i 1 1 2 5 1 3 5 2 4 5 3\nt 1 0\na 8 1\n+ 0\n";
  CHECK(rows(recording_ok(text)) == Rows{{"inner:1~;middle:2~;outer:3", {1, 8, 1, 8, 0}}});
}

TEST_CASE("heaptrack: addresses without a function are known by their module alone") {
  const std::string text =
      "v 10400 3\ns a /l/libx.so\ni 7f01 1\ni 7f02 1\ni 9\nt 1 0\nt 2 0\nt 3 1\na 8 1\na 8 2\na 8 3\n";
  const Snapshot s = recording_ok(text + "+ 0\n+ 1\n+ 2\n");
  CHECK(rows(s) == Rows{{"[libx.so]", {2, 16, 2, 16, 0}}, {"[];[libx.so]", {1, 8, 1, 8, 0}}});
}

TEST_CASE("heaptrack: allocations from no trace have no stack recorded") {
  CHECK(rows(recording_ok("v 10400 3\na 8 0\n+ 0\n")) == Rows{{"[no stack recorded]", {1, 8, 1, 8, 0}}});
}

TEST_CASE("heaptrack: strings of version 3 are counted, of versions 1 and 2 end with the line") {
  const std::string rest = "i 1 0 1 0 0\nt 1 0\na 8 1\n+ 0\n";
  CHECK(rows(recording_ok("v 10400 3\ns 6 f(int)\n" + rest)).count("f(int)") == 1);
  CHECK(rows(recording_ok("v 10000 2\ns f(int, int)\n" + rest)).count("f(int, int)") == 1);
  CHECK(rows(recording_ok("v 10200\ns 6 f\n" + rest)).count("6 f") == 1);  // 1.2.0 wrote version 1, and did not say so
  const Snapshot lying = recording_ok("v 10400 3\ns ff f(int)\n" + rest);
  CHECK(rows(lying).count("f(int)") == 1);
  CHECK(note_count(lying, Severity::warning, "another length") == 1);
}

TEST_CASE("heaptrack: version 0 names size, trace and address in each event") {
  const std::string text =
      "v 10100\ns f\ni 1 0 1\nt 1 0\n"
      "+ 8 1 aa0\n- aa0\n+ 8 1 aa0\n+ 10 1 bb0\n+ 8 1 cc0\n- bb0\n- ddd\n";
  CHECK(rows(recording_ok(text)) == Rows{{"f", {2, 16, 4, 40, 1}}});
  CHECK(rows(recording_ok(text, "peak")) == Rows{{"f", {3, 32}}});
}

TEST_CASE("heaptrack: attaching to a running process starts anew") {
  const std::string head = "v 10400 3\na 8 0\na 10 0\n+ 0\n+ 0\n+ 1\n";
  const Snapshot s = recording_ok(head + "A\n+ 1\n- 0\n");
  CHECK(rows(s) == Rows{{"[no stack recorded]", {1, 16, 1, 16, 0}}});
  CHECK(counter(s, "peak") == 16);
  CHECK(note_count(s, Severity::data_loss, "") == 0);
  CHECK(note_count(s, Severity::info, "running process") == 1);
  CHECK(rows(recording_ok(head + "A\n+ 1\n- 1\n", "peak")) == Rows{{"[no stack recorded]", {1, 16}}});
  CHECK(recording_ok(head + "A\n", "peak").samples.size() == 0);
}

TEST_CASE("heaptrack: line ends may be CRLF") {
  std::string text;
  for (const char c : small_recording()) text += c == '\n' ? "\r\n" : std::string(1, c);
  CHECK(rows(recording_ok(text)) == rows(recording_ok(small_recording())));
  CHECK(recording_ok(text).facts.command_line == "./svc --port 80");
}

TEST_CASE("heaptrack: every window gives the same") {
  const std::string& text = small_recording();
  for (std::size_t window = 1; window < text.size(); window += 7) {
    CAPTURE(window);
    const Imported cut = import_recording(text, "", window);
    REQUIRE(cut.snapshots.size() == 1);
    CHECK(rows(cut.snapshots[0]) == rows(recording_ok(text)));
    CHECK(rows(import_recording(text, "peak", window).snapshots.at(0)) == rows(recording_ok(text, "peak")));
  }
}
