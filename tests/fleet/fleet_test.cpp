#include "analyzer/fleet/fleet.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "analyzer/base/snapshot_builder.hpp"
#include "analyzer/fleet/facts_codec.hpp"
#include "analyzer/fleet/http.hpp"
#include "analyzer/fleet/query_guard.hpp"
#include "analyzer/fleet/row_binary.hpp"
#include "analyzer/fleet/sql_text.hpp"

namespace snapdiff::fleet {
namespace {

Snapshot two_metrics() {
  SnapshotBuilder builder;
  builder.facts().source.name = "web.0007.heap";
  builder.facts().source.sha256 = std::string(64, 'a');
  builder.facts().taken_at_ns = -5;
  builder.facts().pid = 42;
  builder.facts().sampling = Sampling::poisson;
  builder.facts().period = 524288;
  builder.facts().complete = false;
  builder.facts().labels["region"] = std::string("e\0u", 3);
  builder.facts().comments = {"", "two"};
  builder.facts().counters.push_back({"rss", -7, "bytes", true, 3});
  builder.notes().add(Severity::data_loss, "cut", 17, 3);
  builder.add_column({"inuse_objects", "count"});
  builder.add_column({"inuse_space", "bytes"}, 512);
  builder.add_column({"cpu", "nanoseconds"});
  const ModuleId module = builder.module("/srv/bin/web", "abc123");
  builder.add_mapping({0x1000, 0x2000, 0x10, module});
  const std::int64_t values[] = {1, 100, 5};
  builder.add_row(builder.pseudo_stack("[x]"), LabelSetId{}, values);
  return *builder.finish();
}

}  // namespace

TEST_CASE("fleet sql: reads tables of the fleet and of the system, and reaches nothing else") {
  for (const char* good : {"SELECT count() FROM snapdiff.sample", "select * from sample, snapshot s where s.ts > 1",
                           "WITH 1 AS x SELECT x FROM (SELECT sum(value) FROM snapdiff.sample GROUP BY stack)",
                           "SELECT name FROM system.tables WHERE name IN ('url(', 'a')", "SELECT 1 FROM numbers(10)",
                           "SELECT 'FROM url(x)', `from` FROM sample -- url('x')", "SHOW TABLES",
                           "DESCRIBE TABLE sample", "SELECT x FROM sample ARRAY JOIN arrayMap(x -> x, k) AS x",
                           "SELECT uniq(stack) FROM sample WHERE stack IN (SELECT stack FROM stack)"}) {
    CAPTURE(good);
    CHECK(check_query(good, "snapdiff"));
  }
  for (const char* bad :
       {"SELECT * FROM url('http://169.254.169.254/', CSV, 'x String')",
        "SELECT * FROM sample, url('http://x', CSV, 'a Int8')", "SELECT * FROM/**/`url`('http://x', CSV, 'a Int8')",
        "SELECT * FROM sample JOIN remote('h', db, t) USING x", "SELECT file('/etc/passwd')",
        "SELECT * FROM file('/etc/passwd', CSV, 'x String')", "SELECT dictGet('d', 'a', 1)",
        "SELECT 1 IN url('http://x', CSV, 'a Int8')", "SELECT * FROM other.secrets",
        "SELECT * FROM (SELECT * FROM s3('x'))", "DROP TABLE sample", "INSERT INTO sample VALUES (1)", "SELECT 'open",
        "", "SELECT 1 /* open", "DESCRIBE TABLE url('http://x', CSV, 'a Int8')"}) {
    CAPTURE(bad);
    const Status checked = check_query(bad, "snapdiff");
    REQUIRE_FALSE(checked);
    CHECK(checked.error().code == ErrorCode::usage);
  }
}

TEST_CASE("fleet: a literal holds no byte that could end it") {
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  const std::string text = literal(std::string_view(all));
  CHECK(text.front() == '\'');
  CHECK(text.back() == '\'');
  const std::string_view inner = std::string_view(text).substr(1, text.size() - 2);
  CHECK(inner.find_first_of("'\"`\n\0-/*; ") == std::string_view::npos);
  for (std::size_t at = inner.find('\\'); at != std::string_view::npos; at = inner.find('\\', at + 1))
    CHECK(inner[at + 1] == 'x');
  CHECK(literal(std::string_view("it's")) == "'it\\x27s'");
  CHECK(is_name("fleet_2"));
  for (const char* const bad : {"", "2fleet", "a b", "a`b", "a.b", "\xc3\xa4"}) CHECK_FALSE(is_name(bad));
}

TEST_CASE("fleet: facts of a snapshot come back whole") {
  const Snapshot snapshot = two_metrics();
  const std::vector<StoredColumn> columns = stored_columns(snapshot);
  REQUIRE(columns.size() == 3);
  CHECK(columns[0].is_objects);
  CHECK(columns[0].metric == "inuse_space");
  CHECK(columns[2].metric == "cpu");
  const std::string bytes = encode_facts(snapshot, columns);
  const Result<StoredFacts> back = decode_facts(bytes);
  REQUIRE(back);
  CHECK(back->facts == snapshot.facts);
  REQUIRE(back->columns.size() == 3);
  CHECK(back->columns[1].half_unit == 512);
  REQUIRE(back->mappings.size() == 1);
  CHECK(back->mappings[0].module == "/srv/bin/web");
  CHECK(back->mappings[0].build_id == "abc123");
}

TEST_CASE("fleet: facts that are cut or changed are an error, never a crash") {
  const Snapshot snapshot = two_metrics();
  const std::string bytes = encode_facts(snapshot, stored_columns(snapshot));
  for (std::size_t size = 0; size < bytes.size(); ++size)
    CHECK_FALSE(decode_facts(std::string_view(bytes).substr(0, size)));
  CHECK_FALSE(decode_facts(bytes + "x"));
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string flipped = bytes;
    flipped[at] = static_cast<char>(flipped[at] ^ 0xff);
    (void)decode_facts(flipped).has_value();
  }
}

TEST_CASE("fleet: a row that has not come whole is short, a length beyond the limit is bad") {
  RowWriter out;
  out.text("abc").number(std::uint64_t{7}).varint(300).hash({1, 2});
  for (std::size_t size = 0; size < out.size(); ++size) {
    RowReader in(std::string_view(out.bytes()).substr(0, size));
    in.text();
    in.number<std::uint64_t>();
    in.varint(1000);
    in.hash();
    CHECK_FALSE(in.whole());
    CHECK_FALSE(in.is_bad());
  }
  RowReader in(out.bytes());
  CHECK(in.text() == "abc");
  CHECK(in.number<std::uint64_t>() == 7);
  CHECK(in.varint(1000) == 300);
  CHECK(in.hash() == Hash128{1, 2});
  CHECK(in.at_end());
  RowReader large("\xff\xff\xff\xff\xff\xff\xff\xff\x7f");
  large.text();
  CHECK(large.is_bad());
}

TEST_CASE("fleet: an address with a password in it is refused and not repeated") {
  for (const char* const url :
       {"http://me:hush@host:1", "ftp://hush", "hush", "http://", "http://h/?password=hush", "http://h/\nhush"}) {
    const Result<std::string> checked = checked_url(url);
    REQUIRE_FALSE(checked);
    CHECK(checked.error().message.find("hush") == std::string::npos);
  }
  CHECK(*checked_url("https://h:8443/") == "https://h:8443");
}

TEST_CASE("fleet: older servers get no codec and no TTL, newer ones both") {
  Connection to;
  const auto text = [&](bool modern, bool on_cluster) {
    std::string all;
    for (const std::string& one : statements(to, {30, 400, on_cluster}, modern)) all += one + "\n";
    return all;
  };
  CHECK(text(false, false).find("CODEC") == std::string::npos);
  CHECK(text(false, false).find("TTL") == std::string::npos);
  CHECK(text(true, false).find("TTL hour + toIntervalDay(32)") != std::string::npos);
  CHECK(text(true, false).find("TTL ts + toIntervalDay(30)") != std::string::npos);
  CHECK(text(true, false).find("CODEC(Delta, ZSTD(1))") != std::string::npos);
  CHECK(text(true, true).find("ReplicatedMergeTree") != std::string::npos);
}

}  // namespace snapdiff::fleet
