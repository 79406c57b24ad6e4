#include "analyzer/base/validate.hpp"

#include <catch2/catch.hpp>
#include <functional>

#include "analyzer/base/snapshot_builder.hpp"

using namespace snapdiff;

namespace {

/// A valid snapshot of two rows, then damaged by `break_it`.
Status validate_after(const std::function<void(Dictionary&, Snapshot&)>& break_it) {
  SnapshotBuilder b;
  b.add_column({"inuse_space", "bytes"});
  for (const char* name : {"a", "b"}) {
    SnapshotBuilder::FrameSpec spec;
    spec.module = b.module("app", "01");
    spec.function = b.function(b.string(name), StringId{}, StringId{}, 0);
    const FrameId f = b.frame(spec);
    const Label label{b.string("thread"), b.string("1"), 0, StringId{}, false};
    b.add_row(b.stack(std::span(&f, 1)), b.labels({label}), std::vector<std::int64_t>{8});
  }
  Result<Snapshot> made = b.finish();
  REQUIRE(made);
  Snapshot snapshot = std::move(*made);
  auto dictionary = std::make_shared<Dictionary>(*snapshot.dictionary);
  snapshot.dictionary = dictionary;
  break_it(*dictionary, snapshot);
  return validate(snapshot);
}

}  // namespace

TEST_CASE("validate: a built snapshot is valid") {
  CHECK(validate_after([](Dictionary&, Snapshot&) {}));
}

TEST_CASE("validate: every kind of damage is found") {
  using Break = std::function<void(Dictionary&, Snapshot&)>;
  const auto [what, break_it] = GENERATE(table<const char*, Break>({
      {"no dictionary", [](Dictionary&, Snapshot& s) { s.dictionary = nullptr; }},
      {"module column short", [](Dictionary& d, Snapshot&) { d.modules.build_id.pop_back(); }},
      {"module string", [](Dictionary& d, Snapshot&) { d.modules.name[1] = StringId{999}; }},
      {"function column short", [](Dictionary& d, Snapshot&) { d.functions.start_line.pop_back(); }},
      {"function string", [](Dictionary& d, Snapshot&) { d.functions.file[1] = StringId{999}; }},
      {"frame column short", [](Dictionary& d, Snapshot&) { d.frames.column.pop_back(); }},
      {"frame module", [](Dictionary& d, Snapshot&) { d.frames.module[0] = ModuleId{9}; }},
      {"frame function", [](Dictionary& d, Snapshot&) { d.frames.function[0] = FunctionId{9}; }},
      {"stack end", [](Dictionary& d, Snapshot&) { d.stacks.begin.back() += 1; }},
      {"stack order", [](Dictionary& d, Snapshot&) { d.stacks.begin[2] = 5; }},
      {"stack frame", [](Dictionary& d, Snapshot&) { d.stacks.frame[0] = FrameId{9}; }},
      {"label end", [](Dictionary& d, Snapshot&) { d.labels.begin.back() += 1; }},
      {"label string", [](Dictionary& d, Snapshot&) { d.labels.label[0].key = StringId{999}; }},
      {"sample column short", [](Dictionary&, Snapshot& s) { s.samples.labels.pop_back(); }},
      {"sample stack", [](Dictionary&, Snapshot& s) { s.samples.stack[1] = StackId{9}; }},
      {"sample labels", [](Dictionary&, Snapshot& s) { s.samples.labels[1] = LabelSetId{9}; }},
      {"sample order", [](Dictionary&, Snapshot& s) { std::swap(s.samples.stack[0], s.samples.stack[1]); }},
      {"sample twice", [](Dictionary&, Snapshot& s) { s.samples.stack[1] = s.samples.stack[0]; }},
      {"value column short", [](Dictionary&, Snapshot& s) { s.samples.columns[0].value.pop_back(); }},
      {"known column short", [](Dictionary&, Snapshot& s) { s.samples.columns[0].known = {1}; }},
      {"mapping module", [](Dictionary&, Snapshot& s) { s.mappings.push_back({0, 1, 0, ModuleId{9}}); }},
  }));
  INFO(what);
  const Status status = validate_after(break_it);
  REQUIRE_FALSE(status);
  CHECK(status.error().code == ErrorCode::internal);
}

TEST_CASE("validate: two columns of one name are the input's mistake, not ours") {
  const Status status =
      validate_after([](Dictionary&, Snapshot& s) { s.samples.columns.push_back(s.samples.columns[0]); });
  REQUIRE_FALSE(status);
  CHECK(status.error().code == ErrorCode::malformed);
}

TEST_CASE("validate: a total beyond 64 bits is a limit, not our mistake") {
  const Status status = validate_after([](Dictionary&, Snapshot& s) { s.samples.columns[0].value = {INT64_MAX, 1}; });
  REQUIRE_FALSE(status);
  CHECK(status.error().code == ErrorCode::limit);
}
