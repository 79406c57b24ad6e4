#include <catch2/catch.hpp>
#include <limits>

#include "proto_bytes.hpp"
#include "read_back.hpp"

using namespace proto_bytes;
using namespace snapdiff;
using read_back::has_note;
using read_back::import;
using read_back::rows;
using Rows = std::vector<std::string>;

namespace {

constexpr std::uint64_t kMaxId = std::numeric_limits<std::uint64_t>::max();

/// A profile with one column `type`/`unit` (texts), one stack of one function, one value.
Message one_value(std::string_view type, std::string_view unit, std::int64_t value) {
  Message out;
  out.message(kSampleType, value_type(1, 2));
  out.message(kSample, sample({1}, {value})).message(kLocation, location(1, 0, 0, {line(1, 0)}));
  out.message(kFunction, function(1, 3, 0, 0));
  for (const std::string_view text : {std::string_view(""), type, unit, std::string_view("f")})
    out.bytes_of(kString, text);
  return out;
}

const std::vector<std::string> kSmallRows = {"leak(int)@leak.cc:11[app+4112];main@main.cc:22[app+4128] = 3 48",
                                             "main@main.cc:22[app+4128] = 1 100"};

}  // namespace

TEST_CASE("pprof: a small profile, all of it") {
  const Result<Snapshot> read = import(small_profile().bytes);
  REQUIRE(read);
  const Snapshot& s = *read;
  CHECK(rows(s) == kSmallRows);  // offset = address - start + file offset = 0x10 + 0x1000
  CHECK(s.samples.columns[0].type == SampleType{"inuse_objects", "count"});
  CHECK(s.samples.columns[1].type == SampleType{"inuse_space", "bytes"});
  CHECK(s.facts.taken_at_ns == 1'700'000'000'000'000'000);
  CHECK_FALSE(s.facts.duration_ns);
  CHECK(s.facts.sampling == Sampling::poisson);
  CHECK(s.facts.period == 524288);
  CHECK(s.facts.default_metric.empty());
  CHECK_FALSE(s.facts.is_delta);
  CHECK_FALSE(s.facts.is_diff);
  CHECK(s.facts.notes.empty());
  const Dictionary& d = *s.dictionary;
  REQUIRE(s.mappings.size() == 1);
  CHECK(s.mappings[0] == Mapping{0x400000, 0x500000, 0x1000, ModuleId{1}});
  CHECK(d.strings[d.modules.name[1]] == "/usr/bin/app");
  CHECK(d.strings[d.modules.build_id[1]] == "ab12");  // hex ids in lower case
  CHECK(d.strings[d.functions.system_name[1]] == "_Z4leaki");
}

TEST_CASE("pprof: Julia's allocs and size are what was allocated, not what is in use") {
  const auto columns = [](std::string_view first, std::string_view second) {
    Message m;
    m.message(kSampleType, value_type(1, 2)).message(kSampleType, value_type(3, 4));
    m.message(kSample, sample({1}, {3, 48})).message(kLocation, location(1, 0, 0, {line(1, 0)}));
    m.message(kFunction, function(1, 5, 0, 0));
    for (const std::string_view text : {std::string_view(""), first, std::string_view("count"), second,
                                        std::string_view("bytes"), std::string_view("f")})
      m.bytes_of(kString, text);
    const Result<Snapshot> read = import(m.bytes);
    REQUIRE(read);
    return std::vector{read->samples.columns[0].type.name, read->samples.columns[1].type.name};
  };
  CHECK(columns("allocs", "size") == std::vector<std::string>{"alloc_objects", "alloc_space"});
  CHECK(columns("allocations", "size") == std::vector<std::string>{"inuse_objects", "inuse_space"});
  CHECK(columns("allocs", "alloc_space") == std::vector<std::string>{"alloc_objects", "alloc_space"});
}

TEST_CASE("pprof: fields may come in any order, packed or not, in pieces") {
  Message loose;  // the first sample of small_profile(), every field on its own, mixed
  loose.number(2, 3).number(1, 1).packed(1, {}).number(2, 48).packed(1, {2});
  Message profile;
  add_strings(profile, small_strings());
  profile.message(kFunction, function(1, kLeak, kLeakMangled, kLeakFile));
  profile.message(kFunction, function(2, kMain, kMain, kMainFile));
  profile.message(kLocation, location(2, 1, 0x400020, {line(2, 22)}));
  profile.message(kLocation, location(1, 1, 0x400010, {line(1, 11)}));
  profile.message(kMapping, mapping(1, 0x400000, 0x500000, 0x1000, kAppPath, kBuildId));
  profile.message(kSample, loose).message(kSample, sample({2}, {1, 100}));
  profile.message(kSampleType, value_type(kObjects, kCount)).message(kSampleType, value_type(kSpace, kBytes));
  const Result<Snapshot> read = import(profile.bytes);
  REQUIRE(read);
  CHECK(rows(*read) == kSmallRows);
}

TEST_CASE("pprof: unknown fields of every wire type are skipped, at the top and inside") {
  const std::string unknown = varint(99 << 3) + varint(7) + varint(98 << 3 | 1) + std::string(8, 'x') +
                              varint(97 << 3 | 2) + varint(3) + "abc" + varint(96 << 3 | 5) + std::string(4, 'x');
  Message profile;
  profile.raw(unknown).raw(small_profile().bytes).raw(unknown);
  profile.message(kSample, sample({2}, {1, 100}).raw(unknown));
  profile.message(kLocation, location(9, 0, 0, {line(1, 1).raw(unknown)}).raw(unknown));
  profile.message(kFunction, function(9, 0, 0, 0).raw(unknown));
  profile.message(kMapping, mapping(9, 0, 0, 0, 0, 0).raw(unknown));
  const Result<Snapshot> read = import(profile.bytes);
  REQUIRE(read);
  CHECK(rows(*read) == Rows{kSmallRows[0], "main@main.cc:22[app+4128] = 2 200"});
}

TEST_CASE("pprof: ids are any non-zero numbers") {
  const std::uint64_t id = GENERATE(std::uint64_t{1}, std::uint64_t{300}, std::uint64_t{0x7f1234567890}, kMaxId);
  Message profile;
  profile.message(kSampleType, value_type(kSpace, kBytes));
  profile.message(kSample, Message().id(1, id).packed(2, {8}));
  profile.message(kMapping, mapping(id, 0x10, 0x20, 0, kAppPath, 0));
  profile.message(kLocation, location(id, id, 0x11, {line(id, 3)}));
  profile.message(kFunction, function(id, kMain, 0, kMainFile));
  add_strings(profile, small_strings());
  const Result<Snapshot> read = import(profile.bytes);
  REQUIRE(read);
  CHECK(rows(*read) == Rows{"main@main.cc:3[app+1] = 8"});
}

TEST_CASE("pprof: many ids that are addresses are all found") {
  Message profile;
  profile.message(kSampleType, value_type(kSpace, kBytes));
  std::int64_t expected = 0;
  for (std::uint64_t i = 1; i <= 3000; ++i) {
    profile.message(kLocation, location(i << 40, 0, i, {}));
    profile.message(kSample, Message().id(1, i << 40).number(2, static_cast<std::int64_t>(i)));
    expected += static_cast<std::int64_t>(i);
  }
  add_strings(profile, small_strings());
  const Result<Snapshot> read = import(profile.bytes);
  REQUIRE(read);
  CHECK(read->samples.size() == 3000);
  CHECK(read_back::totals(*read).at("inuse_space") == expected);
}

TEST_CASE("pprof: inlined lines of a location become frames, innermost first") {
  Message profile;
  profile.message(kSampleType, value_type(kSpace, kBytes));
  profile.message(kSample, sample({1, 2}, {8}));
  profile.message(kLocation, location(1, 0, 0, {line(1, 5), line(1, 6), line(2, 7)}));
  profile.message(kLocation, location(2, 0, 0, {line(2, 9)}));
  profile.message(kFunction, function(1, kLeak, 0, kLeakFile)).message(kFunction, function(2, kMain, 0, kMainFile));
  add_strings(profile, small_strings());
  const Result<Snapshot> read = import(profile.bytes);
  REQUIRE(read);
  CHECK(rows(*read) == Rows{"~leak(int)@leak.cc:5;~leak(int)@leak.cc:6;main@main.cc:7;main@main.cc:9 = 8"});
}

TEST_CASE("pprof: frames without a name keep module and offset") {
  const auto [what, place, expected] = GENERATE(table<std::string, Message, std::string>({
      {"no lines", location(1, 1, 0x400010, {}), "[app+4112] = 8"},
      {"no lines, no address", location(1, 1, 0, {}), "[app] = 8"},
      {"no lines, no mapping", location(1, 0, 0x400010, {}), "[+4194320] = 8"},
      {"nothing", location(1, 0, 0, {}), " = 8"},
      {"a function without a name", location(1, 1, 0x400010, {line(1, 3)}), ":3[app+4112] = 8"},
      {"a function with a system name only", location(1, 1, 0x400010, {line(2, 3)}), "_Z4leaki:3[app+4112] = 8"},
      {"an unknown mapping", location(1, 77, 0x400010, {}), "[+4194320] = 8"},
  }));
  INFO(what);
  Message profile;
  profile.message(kSampleType, value_type(kSpace, kBytes));
  profile.message(kSample, sample({1}, {8})).message(kLocation, place);
  profile.message(kMapping, mapping(1, 0x400000, 0x500000, 0x1000, kAppPath, kBuildId));
  profile.message(kFunction, function(1, 0, 0, 0)).message(kFunction, function(2, 0, kLeakMangled, 0));
  add_strings(profile, small_strings());
  const Result<Snapshot> read = import(profile.bytes);
  REQUIRE(read);
  CHECK(rows(*read) == Rows{expected});
  CHECK(has_note(*read, "names a mapping that is not in the file") == (what == "an unknown mapping"));
}

TEST_CASE("pprof: a sample without locations is kept as [no stack recorded]") {
  Message profile = one_value("space", "bytes", 5);
  profile.message(kSample, Message().packed(2, {7}));
  const Result<Snapshot> read = import(profile.bytes);
  REQUIRE(read);
  CHECK(rows(*read) == Rows{"f = 5", "[no stack recorded] = 7"});
}

TEST_CASE("pprof: labels, text and number, with pprof's units") {
  Message profile = small_profile();
  // Behind small_profile()'s twelve strings: 12 thread, 13 worker, 14 alignment, 15 pages
  for (const char* text : {"thread", "worker", "alignment", "pages"}) profile.bytes_of(kString, text);
  const auto labelled = [](std::initializer_list<Message> labels) {
    Message out;
    out.packed(1, {2});
    for (const Message& label : labels) out.message(3, label);
    return out.packed(2, {0, 1});
  };
  const Message text = Message().number(1, 12).number(2, 13);
  const Message bytes = Message().number(1, kBytes).number(3, 64);
  const Message alignment = Message().number(1, 14).number(3, 16);
  const Message with_unit = Message().number(1, kSpace).number(3, 2).number(4, 15);
  const Message zero_with_unit = Message().number(1, kSpace).number(4, 15);
  const Message lost = Message().number(1, 12);
  profile.message(kSample, labelled({text, bytes}));
  profile.message(kSample, labelled({bytes, text}));  // the same set
  profile.message(kSample, labelled({alignment}));
  profile.message(kSample, labelled({with_unit, bytes, bytes}));
  profile.message(kSample, labelled({zero_with_unit}));
  profile.message(kSample, labelled({lost}));
  const Result<Snapshot> read = import(profile.bytes);
  REQUIRE(read);
  const std::string main = "main@main.cc:22[app+4128]";
  CHECK(rows(*read) == Rows{kSmallRows[0], main + " = 1 101", main + " {bytes=64 bytes} {thread=worker} = 0 2",
                            main + " {alignment=16 bytes} = 0 1",
                            main + " {bytes=64 bytes} {bytes=64 bytes} {inuse_space=2 pages} = 0 1",
                            main + " {inuse_space=0 pages} = 0 1"});
  CHECK(has_note(*read, "label without a value"));
}

TEST_CASE("pprof: columns get canonical names and units") {
  const auto [type, unit, name, value] = GENERATE(table<std::string, std::string, std::string, std::int64_t>({
      {"inuse_space", "bytes", "inuse_space/bytes", 3},
      {"space", "bytes", "inuse_space/bytes", 3},
      {"objects", "count", "inuse_objects/count", 3},
      {"allocations", "count", "inuse_objects/count", 3},
      {"size", "byte", "inuse_space/bytes", 3},
      {"space", "KB", "inuse_space/bytes", 3072},
      {"alloc_space", "megabytes", "alloc_space/bytes", 3145728},
      {"alloc_space", "GiB", "alloc_space/bytes", 3221225472},
      {"space", "", "inuse_space/bytes", 3},
      {"objects", "", "inuse_objects/count", 3},
      {"cpu", "nanoseconds", "cpu/nanoseconds", 3},
      {"", "", "/", 3},
  }));
  const Result<Snapshot> read = import(one_value(type, unit, 3).bytes);
  REQUIRE(read);
  const Column& column = read->samples.columns.at(0);
  CHECK(column.type.name + "/" + column.type.unit == name);
  CHECK(column.value == std::vector<std::int64_t>{value});
}

TEST_CASE("pprof: an old name stays when the canonical one is there too, equal names are numbered") {
  Message profile;
  for (const std::int64_t type : {1, 2, 2, 1}) profile.message(kSampleType, value_type(type, 3));
  profile.bytes_of(kString, "").bytes_of(kString, "space").bytes_of(kString, "inuse_space").bytes_of(kString, "bytes");
  const Result<Snapshot> read = import(profile.bytes);
  REQUIRE(read);
  Rows names;
  for (const Column& column : read->samples.columns) names.push_back(column.type.name);
  CHECK(names == Rows{"space", "inuse_space", "inuse_space (2)", "space (2)"});
}

TEST_CASE("pprof: the period tells exact from sampled, and values stay as they are") {
  const auto [type, unit, period, sampling, bytes] =
      GENERATE(table<std::string, std::string, std::int64_t, Sampling, std::int64_t>({
          {"space", "bytes", 524288, Sampling::poisson, 524288},
          {"space", "kilobytes", 512, Sampling::poisson, 524288},
          {"inuse_space", "bytes", 1, Sampling::exact, 1},
          {"space", "bytes", 0, Sampling::unknown, 0},
          {"space", "bytes", -5, Sampling::unknown, 0},
          {"cpu", "nanoseconds", 10000000, Sampling::unknown, 0},
          {"", "", 524288, Sampling::unknown, 0},
          {"space", "petabytes", INT64_MAX, Sampling::unknown, 0},
      }));
  Message profile = one_value("space", "bytes", 3);
  profile.message(kPeriodType, value_type(4, 5))
      .number(kPeriod, period)
      .bytes_of(kString, type)
      .bytes_of(kString, unit);
  const Result<Snapshot> read = import(profile.bytes);
  REQUIRE(read);
  CHECK(read->facts.sampling == sampling);
  CHECK(read->facts.period == bytes);
  CHECK(rows(*read) == Rows{"f = 3"});
}

TEST_CASE("pprof: facts of the whole profile") {
  Message profile = one_value("space", "bytes", 3);
  profile.number(kDropFrames, 4).number(kKeepFrames, 5).packed(kComment, {6, 3}).number(kComment, 3);
  profile.number(kDefaultType, 1).number(kDocUrl, 7).number(kDuration, 30'000'000'000);
  for (const char* text : {"malloc|free", "keep.*", "made by hand", "https://example.org/doc"})
    profile.bytes_of(kString, text);
  const Result<Snapshot> read = import(profile.bytes);
  REQUIRE(read);
  CHECK(read->facts.drop_frames == "malloc|free");
  CHECK(read->facts.keep_frames == "keep.*");
  CHECK(read->facts.comments == Rows{"made by hand", "f", "f"});
  CHECK(read->facts.default_metric == "inuse_space");  // written as "space"
  CHECK(read->facts.doc_url == "https://example.org/doc");
  CHECK(read->facts.duration_ns == 30'000'000'000);
  CHECK_FALSE(read->facts.is_delta);  // no alloc_ column
  CHECK_FALSE(read->facts.taken_at_ns);
}

TEST_CASE("pprof: a duration over alloc_ columns is a delta profile") {
  Message profile = one_value("alloc_space", "bytes", 3);
  profile.number(kDuration, 1);
  const Result<Snapshot> read = import(profile.bytes);
  REQUIRE(read);
  CHECK(read->facts.is_delta);
  CHECK(has_note(*read, "delta profile"));
}

TEST_CASE("pprof: negative values or the base label mark a saved difference") {
  const Result<Snapshot> negative = import(one_value("space", "bytes", -3).bytes);
  REQUIRE(negative);
  CHECK(rows(*negative) == Rows{"f = -3"});
  CHECK(negative->facts.is_diff);

  Message profile = one_value("space", "bytes", 3);
  profile.bytes_of(kString, "pprof::base").bytes_of(kString, "true");
  profile.message(kSample, sample({1}, {4}).message(3, Message().number(1, 4).number(2, 5)));
  const Result<Snapshot> labelled = import(profile.bytes);
  REQUIRE(labelled);
  CHECK(labelled->facts.is_diff);
  CHECK(rows(*labelled) == Rows{"f = 3", "f {pprof::base=true} = 4"});
}

TEST_CASE("pprof: producers are recognised by what only they write") {
  const auto [file, producer] = GENERATE(table<std::string, std::string>(
      {{"/src/main.go", "go"}, {"node:internal/fs", "node"}, {"/app/server.js", "node"}, {"main.cc", ""}}));
  Message profile = one_value("space", "bytes", 3);
  profile.message(kFunction, function(2, 3, 0, 4)).bytes_of(kString, file);
  const Result<Snapshot> read = import(profile.bytes);
  REQUIRE(read);
  CHECK(read->facts.producer == producer);
}

TEST_CASE("pprof: mappings over the whole address space are told apart by id") {
  Message profile;
  profile.message(kSampleType, value_type(kSpace, kBytes)).message(kSample, sample({1, 2}, {8}));
  profile.message(kMapping, mapping(1, 0, kMaxId, 0, kAppPath, kBuildId));
  profile.message(kMapping, mapping(2, 0, kMaxId, 0, kLeakFile, 0));
  profile.message(kLocation, location(1, 2, 0x10, {})).message(kLocation, location(2, 1, 0x20, {}));
  add_strings(profile, small_strings());
  const Result<Snapshot> read = import(profile.bytes);
  REQUIRE(read);
  CHECK(rows(*read) == Rows{"[leak.cc+16];[app+32] = 8"});
  CHECK(read->facts.producer == "rust-jemalloc");
}

TEST_CASE("pprof: (deleted) is no part of a module's name") {
  Message profile = small_profile();
  profile.bytes_of(kString, "/opt/my app (deleted)").message(kMapping, mapping(2, 1, 2, 0, 12, 0));
  const Result<Snapshot> read = import(profile.bytes);
  REQUIRE(read);
  const Dictionary& d = *read->dictionary;
  CHECK(d.strings[d.modules.name.back()] == "/opt/my app");
}

TEST_CASE("pprof: names are bytes: invalid UTF-8, NUL, newline and semicolon stay") {
  const std::string name("a\0b\n\xff;c", 7);
  Message profile = one_value("space", "bytes", 3);
  profile.message(kFunction, function(2, 4, 0, 0)).message(kLocation, location(2, 0, 0, {line(2, 0)}));
  profile.message(kSample, sample({2}, {1})).bytes_of(kString, name);
  const Result<Snapshot> read = import(profile.bytes);
  REQUIRE(read);
  CHECK(rows(*read) == Rows{"f = 3", name + " = 1"});
}

TEST_CASE("pprof: a profile without samples is valid, one without anything but strings too") {
  Message types;
  types.message(kSampleType, value_type(kSpace, kBytes));
  add_strings(types, small_strings());
  const Result<Snapshot> read = import(types.bytes);
  REQUIRE(read);
  CHECK(read->samples.size() == 0);
  CHECK(read->samples.columns.size() == 1);
  CHECK(import(Message().bytes_of(kString, "").bytes));
}

TEST_CASE("pprof: one value of 2^63-1 is fine, a sum or a unit beyond is a limit error") {
  CHECK(import(one_value("space", "bytes", INT64_MAX).bytes));
  Message twice = one_value("space", "bytes", INT64_MAX);
  twice.message(kSample, sample({1}, {1}));
  const Result<Snapshot> sum = import(twice.bytes);
  REQUIRE_FALSE(sum);
  CHECK(sum.error().code == ErrorCode::limit);
  const Result<Snapshot> unit = import(one_value("space", "kb", INT64_MAX).bytes);
  REQUIRE_FALSE(unit);
  CHECK(unit.error().code == ErrorCode::limit);
}

TEST_CASE("pprof: stacks of a million frames are read, longer ones refused") {
  const auto deep = [](std::size_t frames) {
    Message out = one_value("space", "bytes", 1);
    return out.message(kSample, Message().bytes_of(1, std::string(frames, '\1')).packed(2, {1}));
  };
  const Result<Snapshot> read = import(deep(1'000'000).bytes);
  REQUIRE(read);
  CHECK(read->dictionary->stacks.frame.size() == 1'000'001);
  const Result<Snapshot> refused = import(deep(1'000'001).bytes);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::limit);
}

TEST_CASE("pprof: a few bytes cannot ask for any number of frames") {
  Message wide;
  wide.id(1, 2);
  for (int i = 0; i < 100'000; ++i) wide.message(4, line(1, i));
  Message profile = one_value("space", "bytes", 1);
  profile.message(kLocation, wide);
  for (int i = 1; i < 400; ++i) profile.message(kSample, Message().bytes_of(1, std::string(1, '\2')).packed(2, {i}));
  const Result<Snapshot> read = import(profile.bytes);
  REQUIRE_FALSE(read);
  CHECK(read.error().code == ErrorCode::limit);
}
