#include <catch2/catch.hpp>

#include "formats/input/all_formats.hpp"
#include "proto_bytes.hpp"
#include "support/read_data.hpp"

using namespace snapdiff;
using namespace snapdiff::test;
using proto_bytes::Message;

namespace {

const formats::Format& otlp() { return formats::kOtlp; }

using Rows = std::map<std::string, std::string>;

Message fixed64(std::uint32_t field, std::uint64_t value) {
  std::string bytes = proto_bytes::varint(field << 3 | 1);
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(value >> (8 * i));
  return Message().raw(bytes);
}

/// Strings of a dictionary, by number.
enum Text : std::int64_t {
  kNone,
  kSpaceType,
  kBytesUnit,
  kObjectsType,
  kCountUnit,
  kApp,
  kLeakName,
  kLeakPath,
  kMainName,
  kThread,
  kCpu,
  kNano
};
Message dictionary() {
  Message out;
  out.message(1, Message())
      .message(1, Message().id(1, 0x400000).id(2, 0x500000).id(3, 0x1000).number(4, kApp).packed(5, {2}));
  out.message(2, Message());
  out.message(2, Message()
                     .number(1, 1)
                     .id(2, 0x400010)
                     .message(3, Message().number(1, 1).number(2, 11))
                     .message(3, Message().number(1, 2).number(2, 22)));
  out.message(2, Message().number(1, 1).id(2, 0x400020));
  out.message(3, Message())
      .message(3, Message().number(1, kLeakName).number(3, kLeakPath))
      .message(3, Message().number(1, kMainName).number(3, kLeakPath));
  for (const std::string_view text : {"", "inuse_space", "bytes", "inuse_objects", "count", "/usr/bin/app", "leak",
                                      "a.cc", "main", "thread.name", "cpu", "nanoseconds"})
    out.bytes_of(5, text);
  out.bytes_of(5, "process.executable.build_id.gnu");
  out.message(6, Message());
  out.message(6, Message().number(1, kThread).message(2, Message().bytes_of(1, "worker")));
  out.message(6, Message().number(1, 12).message(2, Message().bytes_of(1, "ab12")));
  out.message(7, Message()).message(7, Message().packed(1, {1, 2})).message(7, Message().packed(1, {2}));
  return out;
}
Message type(std::int64_t name, std::int64_t unit) { return Message().number(1, name).number(2, unit); }
Message sample(std::int64_t stack, std::int64_t value) { return Message().number(1, stack).packed(4, {value}); }
Message profile(const Message& of, const Message& samples, std::uint64_t time) {
  return Message()
      .message(1, of)
      .raw(samples.bytes)
      .raw(fixed64(3, time).bytes)
      .message(5, type(kSpaceType, kBytesUnit))
      .number(6, 524288);
}
Message resource(const std::string& name, const Message& profiles) {
  const Message attribute = Message().bytes_of(1, "service.name").message(2, Message().bytes_of(1, name));
  return Message()
      .message(1, Message().message(1, attribute))
      .message(2, Message().message(1, Message().bytes_of(1, "scope")).raw(profiles.bytes));
}
Message heap(std::int64_t bytes, std::uint64_t time) {
  const Message space =
      Message().message(2, sample(1, bytes)).message(2, Message().number(1, 2).packed(2, {1}).packed(4, {60, 4}));
  const Message objects =
      Message()
          .message(2, sample(1, 3))
          .message(2, Message().number(1, 2).packed(2, {1}).raw(fixed64(5, 1).bytes).raw(fixed64(5, 2).bytes));
  return Message()
      .message(2, profile(type(kSpaceType, kBytesUnit), space, time))
      .message(2, profile(type(kObjectsType, kCountUnit), objects, time));
}
std::string data(const Message& resources) { return Message().message(2, dictionary()).raw(resources.bytes).bytes; }

std::string framed(const std::string& message) {
  std::string out;
  for (int i = 3; i >= 0; --i) out += static_cast<char>(message.size() >> (8 * i));
  return out + message;
}

const std::string kLeakStack = "leak@a.cc:11 < main@a.cc:22 < app+0x1020";

}  // namespace

TEST_CASE("otlp: a heap profile written by the collector's library equals the pprof file, row by row") {
  const Snapshot s = read_data_of("otlp/heap.001.otlp.gz", otlp());
  const Snapshot truth = read_data_of("pprof_text/heap.001.pb.gz", formats::kPprof);
  CHECK(rows(s) == rows(truth));
  CHECK(total(s, "inuse_space") == 12611720);
  CHECK(s.facts.taken_at_ns == truth.facts.taken_at_ns);
  CHECK(s.facts.period == truth.facts.period);
  CHECK(s.facts.sampling == Sampling::poisson);
}

TEST_CASE("otlp: JSON of protobuf's library equals the binary message, names in snake_case and several messages too") {
  const Snapshot s = read_data_of("otlp/heap.001.otlp.json.gz", otlp());
  CHECK(describe(s) == describe(read_data_of("otlp/heap.001.otlp.gz", otlp())));
  const std::string text =
      R"({"resource_profiles":[{"scope_profiles":[{"profiles":[{"sample_type":{"type_strindex":1,"unit_strindex":2},)"
      R"("samples":[{"stack_index":1,"values":["48"]}],"time_unix_nano":"7"}]}]}],)"
      R"("dictionary":{"string_table":["","inuse_space","bytes","leak"],"function_table":[{},{"name_strindex":3}],)"
      R"("location_table":[{},{"lines":[{"function_index":1,"line":5}]}],"stack_table":[{},{"location_indices":[1]}],)"
      R"("mapping_table":[{}],"attribute_table":[{}]}})";
  CHECK(otlp().sniff(text) == Match::certain);
  CHECK(total(read_one(otlp(), text), "inuse_space") == 48);
  CHECK(read_ok(otlp(), text + "\n" + text).size() == 2);
  const std::vector<Snapshot> cut = read_ok(otlp(), text + "\n" + text.substr(0, 90));
  REQUIRE(cut.size() == 1);
  CHECK(cut.front().facts.partial);
  check_cuts(otlp(), text, 1);
}

TEST_CASE("otlp: profiles of one time are the columns of a snapshot, attributes are labels") {
  const std::string bytes = data(Message().message(1, resource("svc", heap(48, 7))));
  CHECK(otlp().sniff(bytes) == Match::certain);
  const Snapshot s = read_one(otlp(), bytes);
  CHECK(rows(s) == Rows{{kLeakStack, "48 3"}, {"app+0x1020 {thread.name=worker}", "64 2"}});
  CHECK(s.facts.taken_at_ns == 7);
  CHECK(s.facts.period == 524288);
  CHECK(s.facts.comments == std::vector<std::string>{"service.name = svc"});
  CHECK(s.dictionary->strings[s.dictionary->modules.build_id[index_of(s.mappings.at(0).module)]] == "ab12");
}

TEST_CASE("otlp: times are a series, several resources are labels, the dictionary may come last") {
  const Message two = Message().message(1, resource("svc", heap(48, 7))).message(1, resource("web", heap(50, 7)));
  const Snapshot s = read_one(otlp(), data(two));
  CHECK(rows(s).at(kLeakStack + " {service.name=web}") == "50 3");
  const Message later = Message().message(1, resource("svc", Message().raw(heap(48, 9).bytes).raw(heap(10, 8).bytes)));
  const std::string bytes = Message().raw(later.bytes).message(2, dictionary()).bytes;
  CHECK(otlp().sniff(bytes) == Match::certain);
  const std::vector<Snapshot> series = read_ok(otlp(), bytes);
  REQUIRE(series.size() == 2);
  CHECK(rows(series[0]).at(kLeakStack) == "10 3");
  CHECK(rows(series[1]).at(kLeakStack) == "48 3");
}

TEST_CASE("otlp: messages of a collector's file, of which the last may be cut") {
  const std::string file = framed(data(Message().message(1, resource("svc", heap(48, 7))))) +
                           framed(data(Message().message(1, resource("svc", heap(50, 8)))));
  CHECK(otlp().sniff(file) == Match::certain);
  CHECK(read_ok(otlp(), file).size() == 2);
  const std::vector<Snapshot> cut = read_ok(otlp(), file.substr(0, file.size() - 1));
  REQUIRE(cut.size() == 1);
  CHECK(cut[0].facts.partial);
  const Result<std::vector<Snapshot>> detected = formats::read_bytes(file, "given", {});
  REQUIRE(detected);
  CHECK(detected->front().facts.format == "otlp");
}

TEST_CASE("otlp: profiles of time are left out, or refused") {
  const Message cpu = Message().message(2, profile(type(kCpu, kNano), Message().message(2, sample(1, 5)), 7));
  CHECK(read_error(otlp(), data(Message().message(1, resource("svc", cpu)))).find("CPU time") != std::string::npos);
  const Snapshot s =
      read_one(otlp(), data(Message().message(1, resource("svc", cpu)).message(1, resource("svc", heap(48, 7)))));
  CHECK(has_note(s, "profiles of time, left out"));
}

TEST_CASE("otlp: what is damaged is refused, no cut is taken for a whole message") {
  const Message far =
      Message().message(2, profile(type(kSpaceType, kBytesUnit), Message().message(2, sample(9, 1)), 7));
  CHECK(read_error(otlp(), data(Message().message(1, resource("svc", far))))
            .find("stack out of range: found 9, expected below 3") != std::string::npos);
  const std::string bytes = data(Message().message(1, resource("svc", heap(48, 7))));
  for (std::size_t size = 0; size < bytes.size(); ++size)
    CHECK(read_series(otlp(), bytes.substr(0, size)).error.has_value());
}

TEST_CASE("otlp: a profile.proto is none") {
  CHECK(otlp().sniff(proto_bytes::small_profile().bytes) == Match::no);
  CHECK(otlp().sniff(test_data("pprof_text/heap.001.top.txt")) == Match::no);
}
