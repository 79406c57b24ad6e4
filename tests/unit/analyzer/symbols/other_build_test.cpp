#include <catch2/catch.hpp>

#include "analyzer/base/snapshot_builder.hpp"
#include "analyzer/symbols/symbols.hpp"

using namespace snapdiff;

namespace {

constexpr const char* kModule = "/srv/app/prog";

struct Inlined {
  const char* function;
  std::int32_t line;
};

/// An address of a module without build id, named afterwards: its function and line, and what is inlined there.
class NamedAddresses {
 public:
  NamedAddresses& add(std::uint64_t offset, std::int32_t line, const std::vector<Inlined>& inlined = {}) {
    FrameSpec spec;
    spec.module = builder_.module(kModule, "");
    spec.offset = offset;
    const Hash128 outer = frame_hash(kModule, "", offset, {}, {}, 0, false);
    std::vector<FrameId> frames;
    std::uint64_t depth = inlined.size();
    for (const Inlined& one : inlined) {
      FrameSpec below = spec;
      below.flags = kFrameInlined | kFrameDerived;
      name(below, one.function, one.line);
      frames.push_back(builder_.frame_with_hash(below, symbols::inlined_frame_hash(outer, depth--)));
    }
    name(spec, "Queue::put", line);
    frames.push_back(builder_.frame_with_hash(spec, outer));
    REQUIRE(builder_.stack(frames) != StackId{});
    return *this;
  }
  std::shared_ptr<const Dictionary> finish() {
    auto snapshot = builder_.finish();
    REQUIRE(snapshot);
    return snapshot->dictionary;
  }

 private:
  void name(FrameSpec& spec, const char* function, std::int32_t line) {
    spec.function =
        builder_.function(builder_.string(function), builder_.string(function), builder_.string("queue.cc"), 1);
    spec.line = line;
  }
  SnapshotBuilder builder_;
};

std::map<std::string, bool> compare(NamedAddresses named, NamedAddresses known) {
  return symbols::modules_of_another_build(*named.finish(), *known.finish());
}

}  // namespace

TEST_CASE("other build: addresses whose lines and inlined calls are the same are of one") {
  NamedAddresses known, named;
  known.add(0x10, 5).add(0x20, 9, {{"box<Item>", 13}, {"make", 4}}).add(0x30, 12);
  named.add(0x20, 9, {{"box<Item>", 13}, {"make", 4}}).add(0x40, 15).add(0x10, 5);
  CHECK(compare(std::move(named), std::move(known)) == std::map<std::string, bool>{{kModule, false}});
}

TEST_CASE("other build: one address of many with another line, or other calls inlined in the same line") {
  const std::vector<Inlined> box{{"box<Item>", 13}}, other{{"box<Token>", 13}}, deeper{{"box<Item>", 13}, {"make", 4}};
  const auto many = [](std::int32_t line, const std::vector<Inlined>& inlined) {
    NamedAddresses out;
    for (std::uint64_t i = 0; i < 50; ++i) out.add(0x1000 + i, 100);
    out.add(0x20, line, inlined);
    return out;
  };
  const std::map<std::string, bool> one{{kModule, false}}, another{{kModule, true}};
  CHECK(compare(many(9, box), many(9, box)) == one);
  CHECK(compare(many(12, box), many(9, box)) == another);
  CHECK(compare(many(9, {}), many(9, box)) == another);
  CHECK(compare(many(9, box), many(9, {})) == another);
  CHECK(compare(many(9, other), many(9, box)) == another);
  CHECK(compare(many(9, deeper), many(9, box)) == another);
}

TEST_CASE("other build: addresses without a line, or of one side alone, say nothing") {
  NamedAddresses known, named;
  known.add(0x10, 5).add(0x20, 0);
  named.add(0x30, 5).add(0x20, 9);
  CHECK(compare(std::move(named), std::move(known)).empty());
}
