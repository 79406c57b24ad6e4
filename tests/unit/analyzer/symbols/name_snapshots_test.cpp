#include <catch2/catch.hpp>

#include "analyzer/base/snapshot_builder.hpp"
#include "analyzer/base/validate.hpp"
#include "unit/analyzer/symbols/built_program.hpp"
#include "unit/analyzer/symbols/symbols_support.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

/// One row of 100 bytes whose stack is: the address, a frame with a name, an address in no module.
Snapshot one_row(const Built& built, std::int64_t bytes = 100) {
  SnapshotBuilder builder;
  SnapshotBuilder::FrameSpec address;
  address.module = builder.module("/srv/app/bin/prog", built.id);
  address.offset = built.offset;
  SnapshotBuilder::FrameSpec named;
  named.function = builder.function(builder.string("main.run"), StringId{}, builder.string("main.go"), 3);
  named.line = 7;
  SnapshotBuilder::FrameSpec bare;
  bare.offset = 0x123456;
  const std::vector<FrameId> frames{builder.frame(address), builder.frame(named), builder.frame(bare)};
  const StackId stack = builder.stack(frames);
  const std::size_t column = builder.add_column({"inuse_space", "bytes"});
  REQUIRE(column == 0);
  builder.add_row(stack, LabelSetId{}, std::span(&bytes, 1));
  auto snapshot = builder.finish();
  REQUIRE(snapshot);
  return *std::move(snapshot);
}

bool have_compiler() {
  if (has_program("c++") && has_program("objdump")) return true;
  WARN("skipped: no c++ or binutils");
  return false;
}

std::string stack_text(const Snapshot& snapshot) {
  const Dictionary& d = *snapshot.dictionary;
  std::string out;
  for (const FrameId frame : d.stacks.frames(snapshot.samples.stack[0])) {
    const std::size_t i = index_of(frame), f = index_of(d.frames.function[i]);
    out += (out.empty() ? "" : " < ") + std::string(d.strings[d.functions.name[f]]) + ":" +
           std::to_string(d.frames.line[i]) + ((d.frames.flags[i] & kFrameInlined) != 0 ? "*" : "");
  }
  return out;
}

}  // namespace

TEST_CASE("naming: an address becomes its chain of frames, hashes stay") {
  if (!have_compiler()) return;
  const Built built("-g");
  const Snapshot before = one_row(built);
  symbols::SymbolOptions options;
  options.paths = {built.binary};
  const auto named = symbols::name_snapshot(before, options);
  REQUIRE(named);
  const Snapshot& after = named->snapshots[0];
  REQUIRE(validate(after));
  CHECK(stack_text(before) == ":0 < main.run:7 < :0");
  CHECK(stack_text(after) == "inner:5* < middle:6* < shop::outer(int):8 < main.run:7 < :0");
  CHECK(after.dictionary->stacks.hash == before.dictionary->stacks.hash);
  const FrameTable& frames = after.dictionary->frames;
  const auto row = after.dictionary->stacks.frames(after.samples.stack[0]);
  const std::size_t inner = index_of(row[0]), middle = index_of(row[1]), outer = index_of(row[2]);
  CHECK(frames.hash[outer] == before.dictionary->frames.hash[0]);
  CHECK(frames.hash[middle] == symbols::inlined_frame_hash(frames.hash[outer], 1));
  CHECK(frames.hash[inner] == symbols::inlined_frame_hash(frames.hash[outer], 2));
  for (const std::size_t i : {inner, middle}) {
    CHECK(frames.offset[i] == built.offset);
    CHECK(frames.module[i] == frames.module[outer]);
  }
  CHECK(is_named_address(*after.dictionary, row[2]));
  CHECK_FALSE(is_named_address(*after.dictionary, row[0]));
  CHECK_FALSE(is_named_address(*after.dictionary, row[3]));
  const FunctionTable& functions = after.dictionary->functions;
  CHECK(after.dictionary->strings[functions.system_name[index_of(frames.function[outer])]] == "_ZN4shop5outerEi");
  CHECK(functions.start_line[index_of(frames.function[outer])] == 8);
  // Only the address outside every module is left.
  CHECK(named->report.addresses == 2);
  CHECK(named->report.unnamed == 1);
  CHECK(named->report.unnamed_bytes == 100);
  REQUIRE(named->report.modules.size() == 2);
  CHECK(named->report.modules[0].name.empty());
  CHECK(named->report.modules[0].unnamed_bytes == 100);
  CHECK(named->report.modules[0].advice.find("perf-PID.map") != std::string::npos);
  CHECK(named->report.modules[1].named == 1);
  CHECK(named->report.modules[1].unnamed_bytes == 0);
}

TEST_CASE("naming: a better binary later adds the inlined calls, a worse one takes nothing away") {
  if (!have_compiler() || !has_program("strip")) return;
  const Built built("-g");
  const TemporaryFolder plain;
  REQUIRE(run_command("cp " + built.binary + " " + (plain / "prog") + " && strip -g " + (plain / "prog")).status == 0);
  const Snapshot before = one_row(built);
  symbols::SymbolOptions poor, rich;
  poor.paths = {plain / "prog"};
  rich.paths = {built.binary};
  poor.again = rich.again = true;
  const auto first = symbols::name_snapshot(before, poor);
  REQUIRE(first);
  CHECK(stack_text(first->snapshots[0]) == "shop::outer(int):0 < main.run:7 < :0");
  const auto second = symbols::name_snapshot(first->snapshots[0], rich);
  REQUIRE(second);
  CHECK(stack_text(second->snapshots[0]) == "inner:5* < middle:6* < shop::outer(int):8 < main.run:7 < :0");
  const auto third = symbols::name_snapshot(second->snapshots[0], rich);
  REQUIRE(third);
  CHECK(stack_text(third->snapshots[0]) == stack_text(second->snapshots[0]));
  CHECK(third->snapshots[0].dictionary->frames.size() == second->snapshots[0].dictionary->frames.size());
  // The symbol table alone names the function, but has no lines.
  const auto fourth = symbols::name_snapshot(third->snapshots[0], poor);
  REQUIRE(fourth);
  CHECK(stack_text(fourth->snapshots[0]) == stack_text(second->snapshots[0]));
}

TEST_CASE("naming: snapshots that share a dictionary share one again") {
  if (!have_compiler()) return;
  const Built built("-g");
  const Snapshot a = one_row(built);
  Snapshot b = a;
  b.samples.columns[0].value[0] = 250;
  const std::vector<Snapshot> all{a, one_row(built), b};
  symbols::SymbolOptions options;
  options.paths = {built.binary};
  const auto named = symbols::name_snapshots(all, options);
  REQUIRE(named);
  CHECK(named->snapshots[0].dictionary == named->snapshots[2].dictionary);
  CHECK(named->snapshots[0].dictionary != named->snapshots[1].dictionary);
  CHECK(stack_text(named->snapshots[1]) == stack_text(named->snapshots[0]));
  CHECK(named->report.addresses == 2);        // once for all
  CHECK(named->report.unnamed_bytes == 250);  // of the last
  const auto none = symbols::name_snapshots({}, options);
  REQUIRE(none);
  CHECK(none->snapshots.empty());
}

TEST_CASE("naming: demangling as asked") {
  if (!have_compiler()) return;
  const Built built("-g");
  symbols::SymbolOptions options;
  options.paths = {built.binary};
  options.demangle = symbols::Demangle::simple;
  CHECK(stack_text(symbols::name_snapshot(one_row(built), options)->snapshots[0]) ==
        "inner:5* < middle:6* < shop::outer:8 < main.run:7 < :0");
  options.demangle = symbols::Demangle::none;
  CHECK(stack_text(symbols::name_snapshot(one_row(built), options)->snapshots[0]).find("_ZN4shop5outerEi:8") !=
        std::string::npos);
}
