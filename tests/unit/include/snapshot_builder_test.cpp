#include "analyzer/base/snapshot_builder.hpp"
#include "analyzer/base/parallel.hpp"

#include <catch2/catch.hpp>
#include <cstdint>
#include <stdexcept>
#include <vector>

using namespace snapdiff;

namespace {

FrameId frame(SnapshotBuilder& builder, std::string_view function, std::int32_t line = 1) {
  SnapshotBuilder::FrameSpec spec;
  spec.function = builder.function(builder.string(function), StringId{}, builder.string("a.cc"), 0);
  spec.line = line;
  return builder.frame(spec);
}

StackId stack(SnapshotBuilder& builder, std::initializer_list<std::string_view> leaf_first) {
  std::vector<FrameId> frames;
  for (const std::string_view function : leaf_first) frames.push_back(frame(builder, function));
  return builder.stack(frames);
}

}  // namespace

TEST_CASE("builder: equal things get equal ids") {
  SnapshotBuilder b;
  CHECK(b.string("") == StringId{});
  CHECK(b.string("main") == b.string("main"));
  CHECK(b.string("main") != b.string("main "));
  CHECK(b.module("", "") == ModuleId{});
  CHECK(b.module("libc.so", "ab") == b.module("libc.so", "ab"));
  CHECK(b.module("libc.so", "ab") != b.module("libc.so", "cd"));
  CHECK(stack(b, {"malloc", "main"}) == stack(b, {"malloc", "main"}));
  CHECK(stack(b, {"malloc", "main"}) != stack(b, {"main", "malloc"}));
  CHECK(frame(b, "main", 1) != frame(b, "main", 2));
}

TEST_CASE("builder: many texts stay apart while the index grows") {
  SnapshotBuilder b;
  std::vector<StringId> ids;
  for (int i = 0; i < 5000; ++i) ids.push_back(b.string("text " + std::to_string(i)));
  for (int i = 0; i < 5000; ++i) {
    REQUIRE(b.string("text " + std::to_string(i)) == ids[static_cast<std::size_t>(i)]);
    REQUIRE(b.dictionary().strings[ids[static_cast<std::size_t>(i)]] == "text " + std::to_string(i));
  }
}

TEST_CASE("builder: a function without a name takes its system name, or is none") {
  SnapshotBuilder b;
  const FunctionId f = b.function(StringId{}, b.string("_Z4mainv"), StringId{}, 3);
  CHECK(b.dictionary().strings[b.dictionary().functions.name[index_of(f)]] == "_Z4mainv");
  CHECK(b.function(StringId{}, StringId{}, b.string("a.cc"), 3) == FunctionId{});
}

TEST_CASE("builder: unsymbolized frames are told apart by module, build id and offset") {
  SnapshotBuilder b;
  SnapshotBuilder::FrameSpec spec;
  spec.module = b.module("/usr/bin/app", "ab12");
  spec.offset = 0x10;
  const FrameId first = b.frame(spec);
  spec.module = b.module("/opt/bin/app", "ab12");  // the same program elsewhere
  CHECK(b.frame(spec) == first);
  spec.offset = 0x11;
  CHECK(b.frame(spec) != first);
  spec.offset = 0x10;
  spec.module = b.module("/usr/bin/app", "ff");
  CHECK(b.frame(spec) != first);
}

TEST_CASE("builder: many stacks at once are the stacks that come one after the other") {
  constexpr std::size_t kStacks = 70'000;  // several blocks, most stacks twice or more often
  SnapshotBuilder one, many;
  std::vector<FrameId> names;
  for (int i = 0; i < 40; ++i) {
    names.push_back(frame(one, "f" + std::to_string(i)));
    CHECK(frame(many, "f" + std::to_string(i)) == names.back());
  }
  const auto frames_of = [&](std::size_t stack) {
    std::vector<FrameId> out;
    for (std::size_t rest = stack % 30'011; rest != 0; rest /= 37) out.push_back(names[rest % 37]);
    return out;
  };
  std::vector<StackId> expected;
  for (std::size_t stack = 0; stack < kStacks; ++stack) expected.push_back(one.stack(frames_of(stack)));
  const auto read = [&](std::size_t begin, std::size_t end, const SnapshotBuilder::TakeStack& take) {
    for (std::size_t stack = begin; stack < end; ++stack) take(stack, frames_of(stack));
  };
  CHECK(many.stacks(kStacks, read) == expected);
  const StackTable& a = one.dictionary().stacks;
  const StackTable& b = many.dictionary().stacks;
  CHECK(a.begin == b.begin);
  CHECK(a.frame == b.frame);
  CHECK(a.hash == b.hash);
  CHECK(many.stack(frames_of(12'345)) == expected[12'345]);
  CHECK(many.stack(std::vector<FrameId>(50, names[0])) == StackId{static_cast<std::uint32_t>(a.size())});
}

TEST_CASE("builder: a block of stacks that cannot be read stops all, and no thread waits for it") {
  SnapshotBuilder b;
  const std::vector<FrameId> one{frame(b, "f")};
  const auto read = [&](std::size_t begin, std::size_t end, const SnapshotBuilder::TakeStack& take) {
    if (begin == 2 * kBlockRows) throw std::runtime_error("damage");
    for (std::size_t stack = begin; stack < end; ++stack) take(stack, one);
  };
  CHECK_THROWS_AS(b.stacks(5 * kBlockRows, read), std::runtime_error);
}

TEST_CASE("builder: an empty stack is the pseudo stack [no stack recorded]") {
  SnapshotBuilder b;
  const StackId id = b.stack({});
  REQUIRE(b.dictionary().stacks.frames(id).size() == 1);
  const FrameId f = b.dictionary().stacks.frames(id)[0];
  CHECK(b.dictionary().frames.flags[index_of(f)] == kFramePseudo);
  CHECK(b.dictionary().strings[b.dictionary().functions.name[index_of(b.dictionary().frames.function[index_of(f)])]] ==
        "[no stack recorded]");
}

TEST_CASE("builder: label sets do not depend on the order of their labels") {
  SnapshotBuilder b;
  const Label thread{b.string("thread"), b.string("7"), 0, StringId{}, false};
  const Label bytes{b.string("bytes"), StringId{}, 48, b.string("bytes"), true};
  CHECK(b.labels({thread, bytes}) == b.labels({bytes, thread}));
  CHECK(b.labels({thread}) != b.labels({bytes}));
  CHECK(b.labels({}) == LabelSetId{});
}

TEST_CASE("builder: rows of one stack are summed, zero rows dropped, the rest sorted") {
  SnapshotBuilder b;
  b.add_column({"inuse_objects", "count"});
  b.add_column({"inuse_space", "bytes"});
  const StackId first = stack(b, {"a"});
  const StackId second = stack(b, {"b"});
  const StackId third = stack(b, {"c"});
  b.add_row(third, LabelSetId{}, std::vector<std::int64_t>{5, -5});
  b.add_row(second, LabelSetId{}, std::vector<std::int64_t>{1, 10});
  b.add_row(first, LabelSetId{}, std::vector<std::int64_t>{0, 0});
  b.add_row(third, LabelSetId{}, std::vector<std::int64_t>{-5, 5});
  b.add_row(second, LabelSetId{}, std::vector<std::int64_t>{2, 20});
  const Result<Snapshot> snapshot = b.finish();
  REQUIRE(snapshot);
  CHECK(snapshot->samples.stack == std::vector<StackId>{second});
  CHECK(snapshot->column("inuse_objects")->value == std::vector<std::int64_t>{3});
  CHECK(snapshot->column("inuse_space")->value == std::vector<std::int64_t>{30});
  CHECK(snapshot->column("alloc_space") == nullptr);
}

TEST_CASE("builder: an unknown value makes the sum unknown, not zero") {
  SnapshotBuilder b;
  b.add_column({"inuse_space", "bytes"});
  b.add_column({"alloc_space", "bytes"});
  const std::vector<std::uint8_t> known = {1, 0};
  b.add_row(stack(b, {"a"}), LabelSetId{}, std::vector<std::int64_t>{1, 2});
  b.add_row(stack(b, {"b"}), LabelSetId{}, std::vector<std::int64_t>{4, 99}, known);
  b.add_row(stack(b, {"b"}), LabelSetId{}, std::vector<std::int64_t>{5, 6});
  const Result<Snapshot> snapshot = b.finish();
  REQUIRE(snapshot);
  CHECK(snapshot->samples.columns[0].value == std::vector<std::int64_t>{1, 9});
  CHECK(snapshot->samples.columns[0].known.empty());
  CHECK(snapshot->samples.columns[1].value == std::vector<std::int64_t>{2, 0});
  CHECK(snapshot->samples.columns[1].known == std::vector<std::uint8_t>{1, 0});
}

TEST_CASE("builder: one value of 2^63-1 is fine, a sum beyond is a limit error") {
  const auto build = [](std::initializer_list<std::pair<std::string_view, std::int64_t>> rows) {
    SnapshotBuilder b;
    b.add_column({"inuse_space", "bytes"});
    for (const auto& [function, value] : rows) b.add_row(stack(b, {function}), LabelSetId{}, std::vector{value});
    return b.finish();
  };
  CHECK(build({{"a", INT64_MAX}}));
  CHECK(build({{"a", INT64_MAX}, {"b", -1}}));
  const Result<Snapshot> one_stack = build({{"a", INT64_MAX}, {"a", 1}});
  REQUIRE_FALSE(one_stack);
  CHECK(one_stack.error().code == ErrorCode::limit);
  const Result<Snapshot> column = build({{"a", INT64_MAX}, {"b", 1}});
  REQUIRE_FALSE(column);
  CHECK(column.error().code == ErrorCode::limit);
}

TEST_CASE("builder: mappings come out sorted by start") {
  SnapshotBuilder b;
  const ModuleId m = b.module("app", "");
  b.add_mapping({30, 40, 0, m});
  b.add_mapping({10, 20, 0, m});
  const Result<Snapshot> snapshot = b.finish();
  REQUIRE(snapshot);
  CHECK(snapshot->mappings == std::vector<Mapping>{{10, 20, 0, m}, {30, 40, 0, m}});
}
