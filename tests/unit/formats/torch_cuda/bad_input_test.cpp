#include <catch2/catch.hpp>

#include <fstream>
#include <sstream>
#include <string>

#include "formats/registry.hpp"
#include "formats/torch_cuda/read_pickle.hpp"
#include "python_values.hpp"
#include "support/memory_input.hpp"

using namespace snapdiff;
using namespace snapdiff::test;
using namespace std::string_literals;

namespace {

Error error_of(const std::string& bytes, const std::string& format = "torch-cuda") {
  formats::ReadOptions options;
  options.format = format;
  Result<std::vector<Snapshot>> all = formats::read_bytes(bytes, "bad.pickle", options);
  if (all) return Error{ErrorCode::internal, "it was read"};
  return all.error();
}

Py& segment(Py& s) { return at(s, "segments").items[0]; }
Py& block(Py& s, std::size_t i) { return at(segment(s), "blocks").items[i]; }
Py& entry(Py& s, std::size_t i) { return at(s, "device_traces").items[0].items[i]; }

}  // namespace

TEST_CASE("torch-cuda: every truncation of a small file is an error, whatever the window") {
  const std::string bytes = pickled(small_snapshot());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    MemoryInput in(std::string_view(bytes).substr(0, size), size % 3 == 0 ? 1 : 0);
    const Result<Snapshot> read = formats::torch_cuda::read_pickle(in);
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().code == ErrorCode::malformed);
    CHECK(read.error().offset.value_or(bytes.size() + 1) <= size);
  }
}

TEST_CASE("torch-cuda: every flipped byte of a small file is an error or a snapshot") {
  const std::string bytes = pickled(small_snapshot());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const int bit : {0, 3, 7}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      MemoryInput in(damaged);
      const Result<Snapshot> read = formats::torch_cuda::read_pickle(in);
      if (!read) CHECK_FALSE(read.error().message.empty());
    }
  }
}

TEST_CASE("torch-cuda: schema errors name the path") {
  Py s = small_snapshot();
  const auto message = [&] { return error_of(pickled(s)).message; };
  SECTION("segment without an address") {
    drop(segment(s), "address");
    CHECK(message() == "segments[0].address missing: expected it in every record of its kind");
  }
  SECTION("segment without total_size") {
    drop(segment(s), "total_size");
    CHECK(message().find("segments[0].total_size missing") == 0);
  }
  SECTION("block without a size") {
    drop(block(s, 1), "size");
    CHECK(message().find("segments[0].blocks[1].size missing") == 0);
  }
  SECTION("block without a state") {
    drop(block(s, 2), "state");
    CHECK(message().find("segments[0].blocks[2].state missing") == 0);
  }
  SECTION("text for a number") {
    at(block(s, 1), "size") = "many";
    CHECK(message() == "segments[0].blocks[1].size of the wrong type: found a text, expected an int");
  }
  SECTION("number for a list") {
    at(segment(s), "blocks") = 3;
    CHECK(message().find("segments[0].blocks of the wrong type: found an int, expected a list") == 0);
  }
  SECTION("entry without an action") {
    drop(entry(s, 2), "action");
    CHECK(message().find("device_traces[0][2].action missing") == 0);
  }
  SECTION("entry without an address") {
    drop(entry(s, 2), "addr");
    CHECK(message().find("device_traces[0][2].addr missing") == 0);
  }
  SECTION("a number for a segment") {
    at(s, "segments").items.push_back(Py(5));
    CHECK(message() == "item of segments is an int, expected a dict of its own");
  }
  SECTION("a dict for segments") {
    at(s, "segments") = dict({{"a", 1}});
    CHECK(message().find("segments of the wrong type") == 0);
  }
  CHECK(error_of(pickled(s)).code == ErrorCode::malformed);
}

TEST_CASE("torch-cuda: numbers beyond 64 bits are out of range where they count, and skipped elsewhere") {
  const std::string good = pickled(small_snapshot());
  const std::string key = "X\x0a\0\0\0total_size"s;
  const std::size_t number = good.find(key) + key.size();
  const std::string huge = "\x8a\x0a\1\2\3\4\5\6\7\x08\x09\x0a"s;
  const std::string bytes = good.substr(0, number) + huge + good.substr(number + 10);
  CHECK(error_of(bytes).code == ErrorCode::limit);
  CHECK(error_of(bytes).message.find("segments[0].total_size out of range") == 0);
  const std::string ignored_key = "X\x0d\0\0\0user_metadata"s;
  const std::size_t text = good.find(ignored_key) + ignored_key.size();
  CHECK(error_of(good.substr(0, text) + huge + good.substr(text + 5)).message == "it was read");
}

TEST_CASE("torch-cuda: a float that is whole and a bool count as numbers, others do not") {
  const std::string good = pickled(small_snapshot());
  const std::string key = "X\x0a\0\0\0total_size"s;
  const std::size_t number = good.find(key) + key.size();
  const std::string whole = good.substr(0, number) + "G\x41\x40\0\0\0\0\0\0"s + good.substr(number + 10);  // 2097152.0
  CHECK(error_of(whole).message == "it was read");
  const std::string half = good.substr(0, number) + "G\x3f\xe0\0\0\0\0\0\0"s + good.substr(number + 10);  // 0.5
  CHECK(error_of(half).message.find("of the wrong type: found a float, expected an int") != std::string::npos);
}

TEST_CASE("torch-cuda: other pickles are named") {
  CHECK(error_of(pickled(dict({{"epoch", 3}, {"state_dict", dict({{"w", 1}})}}))).message ==
        "not a memory snapshot: the root is a dict with the keys epoch, state_dict, expected segments or "
        "device_traces");
  CHECK(error_of(pickled(Py(5))).message.find("not a memory snapshot: the root is an int") == 0);
  CHECK(error_of(pickled(dict({}))).message.find("none of the keys") != std::string::npos);
  // Found by content, without --format.
  CHECK(error_of(pickled(dict({{"epoch", 3}})), "").message.find("a Python pickle without segments") !=
        std::string::npos);
  const std::string checkpoint =
      "\x80\x02}q\0(X\x05\0\0\0modelq\1ccollections\nOrderedDict\nq\2)Rq\3ctorch._utils\n_rebuild_tensor_v2\n"s;
  CHECK(error_of(checkpoint, "").message.find("torch.save checkpoint") != std::string::npos);
  CHECK(error_of("PK\x03\x04" + std::string(26, '\0') + "archive/data.pkl", "")
            .message.find("zip archive of torch.save") != std::string::npos);
}

TEST_CASE("torch-cuda: an unsafe opcode deep in a snapshot is refused by name and byte") {
  const std::string good = pickled(small_snapshot());
  const std::size_t at = good.find("X\x06\0\0\0action"s);
  const std::string bytes = good.substr(0, at) + "cposix\nsystem\n(X\x04\0\0\0truetR"s + good.substr(at);
  const Error error = error_of(bytes, "");
  CHECK(error.code == ErrorCode::unsupported);
  CHECK(error.message == "unsafe pickle: opcode GLOBAL (0x63) at byte " + std::to_string(at) +
                             ", expected plain data only; nothing was imported or called");
  CHECK(error.offset == at);
}

TEST_CASE("torch-cuda: a record that is used twice is told") {
  // segments: [seg, the same seg from the memo]
  const std::string seg =
      "}\x94(\x8c\x07"
      "addressK\x01\x8c\x0a"
      "total_sizeK\x00u"s;
  const std::string bytes = "\x80\x04}\x94(\x8c\x08segments](" + seg +
                            "h\x01"
                            "eu."s;
  const Error error = error_of(bytes);
  CHECK(error.message.find("item of segments is a shared record") == 0);
}

TEST_CASE("torch-cuda: frames that repeat without end are cut") {
  std::string bytes =
      "\x80\x04}\x94(\x8c\x08segments](}(\x8c\x07"
      "addressK\x01\x8c\x0atotal_sizeM\x00\x02\x8c\x06"
      "blocks](}(\x8c\x04sizeM\x00\x02\x8c\x05stateX\x10\x00\x00\x00"
      "active_allocated\x8c\x06"
      "frames]("
      "}\x94(\x8c\x08"
      "filename\x8c\x01"
      "f\x8c\x04lineK\x01\x8c\x04nameh\x00u"s;
  const std::size_t fetch = bytes.find("nameh\x00u"s);
  bytes = bytes.substr(0, fetch) + "name\x8c\x01nu"s;
  for (int i = 0; i < 70'000; ++i) bytes += "h\x01"s;
  bytes += "eueueu."s;
  formats::ReadOptions options;
  options.format = "torch-cuda";
  Result<std::vector<Snapshot>> all = formats::read_bytes(bytes, "x", options);
  if (!all) FAIL(all.error().text());
  const Snapshot& s = (*all)[0];
  REQUIRE(s.samples.size() == 1);
  CHECK(s.dictionary->stacks.frames(s.samples.stack[0]).size() == 65536);
  CHECK(s.facts.notes.all().at(0).text == "stack of more than 65535 frames cut");
}
