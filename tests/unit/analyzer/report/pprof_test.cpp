#include <libdeflate.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <vector>

#include "analyzer/base/snapshot_builder.hpp"
#include "analyzer/report/report.hpp"

using namespace snapdiff;

namespace {

std::string inflate(const std::string& bytes) {
  libdeflate_decompressor* decompressor = libdeflate_alloc_decompressor();
  std::string out(1 << 20, '\0');
  std::size_t size = 0;
  const auto result =
      libdeflate_gzip_decompress(decompressor, bytes.data(), bytes.size(), out.data(), out.size(), &size);
  libdeflate_free_decompressor(decompressor);
  REQUIRE(result == LIBDEFLATE_SUCCESS);
  out.resize(size);
  return out;
}

struct Profile {
  struct Sample {
    std::vector<std::uint64_t> locations;
    std::vector<std::int64_t> values;
    std::vector<std::array<std::int64_t, 4>> labels;
  };
  struct Location {
    std::uint64_t mapping = 0, address = 0;
    std::vector<std::pair<std::uint64_t, std::int64_t>> lines;
  };
  struct Mapping {
    std::uint64_t start = 0, limit = 0, offset = 0;
    std::int64_t file = 0, build_id = 0;
    bool has_functions = false;
  };
  std::vector<Sample> samples;
  std::map<std::uint64_t, Location> locations;
  std::map<std::uint64_t, Mapping> mappings;
  std::map<std::uint64_t, std::array<std::int64_t, 3>> functions;
  std::vector<std::string> strings;
  std::vector<std::pair<std::int64_t, std::int64_t>> types;
  std::int64_t default_type = 0, period = 0, time = 0;

  std::string text(std::int64_t id) const { return strings.at(static_cast<std::size_t>(id)); }
};

Profile decode(const std::string& gz) {
  const std::string bytes = inflate(gz);
  Profile profile;
  protozero::pbf_reader reader(bytes);
  while (reader.next()) {
    switch (reader.tag()) {
      case 1: {
        protozero::pbf_reader m = reader.get_message();
        std::pair<std::int64_t, std::int64_t> type;
        while (m.next()) (m.tag() == 1 ? type.first : type.second) = m.get_int64();
        profile.types.push_back(type);
        break;
      }
      case 2: {
        protozero::pbf_reader m = reader.get_message();
        Profile::Sample sample;
        while (m.next()) {
          if (m.tag() == 1) {
            for (const auto id : m.get_packed_uint64()) sample.locations.push_back(id);
          } else if (m.tag() == 2) {
            for (const auto value : m.get_packed_int64()) sample.values.push_back(value);
          } else {
            protozero::pbf_reader l = m.get_message();
            std::array<std::int64_t, 4> label{};
            while (l.next()) label.at(l.tag() - 1) = l.get_int64();
            sample.labels.push_back(label);
          }
        }
        profile.samples.push_back(sample);
        break;
      }
      case 3: {
        protozero::pbf_reader m = reader.get_message();
        std::uint64_t id = 0;
        Profile::Mapping mapping;
        while (m.next()) {
          switch (m.tag()) {
            case 1: id = m.get_uint64(); break;
            case 2: mapping.start = m.get_uint64(); break;
            case 3: mapping.limit = m.get_uint64(); break;
            case 4: mapping.offset = m.get_uint64(); break;
            case 5: mapping.file = m.get_int64(); break;
            case 6: mapping.build_id = m.get_int64(); break;
            case 7: mapping.has_functions = m.get_bool(); break;
            default: m.skip();
          }
        }
        profile.mappings[id] = mapping;
        break;
      }
      case 4: {
        protozero::pbf_reader m = reader.get_message();
        std::uint64_t id = 0;
        Profile::Location location;
        while (m.next()) {
          switch (m.tag()) {
            case 1: id = m.get_uint64(); break;
            case 2: location.mapping = m.get_uint64(); break;
            case 3: location.address = m.get_uint64(); break;
            case 4: {
              protozero::pbf_reader l = m.get_message();
              std::pair<std::uint64_t, std::int64_t> line;
              while (l.next()) {
                if (l.tag() == 1) {
                  line.first = l.get_uint64();
                } else {
                  const auto value = l.get_int64();
                  if (l.tag() == 2) line.second = value;
                }
              }
              location.lines.push_back(line);
              break;
            }
            default: m.skip();
          }
        }
        profile.locations[id] = location;
        break;
      }
      case 5: {
        protozero::pbf_reader m = reader.get_message();
        std::uint64_t id = 0;
        std::array<std::int64_t, 3> function{};
        while (m.next()) {
          switch (m.tag()) {
            case 1: id = m.get_uint64(); break;
            case 2: function[0] = m.get_int64(); break;
            case 3: function[1] = m.get_int64(); break;
            case 4: function[2] = m.get_int64(); break;
            default: m.skip();
          }
        }
        profile.functions[id] = function;
        break;
      }
      case 6: profile.strings.push_back(reader.get_string()); break;
      case 9: profile.time = reader.get_int64(); break;
      case 12: profile.period = reader.get_int64(); break;
      case 14: profile.default_type = reader.get_int64(); break;
      default: reader.skip();
    }
  }
  return profile;
}

/// alloc_body (inlined into leak), leak, and an unsymbolized frame of libx below main.
SnapshotRef sample_snapshot(std::uint64_t base, std::int64_t factor) {
  SnapshotBuilder b;
  b.facts().source.name = "x.heap";
  b.facts().default_metric = "inuse_space";
  b.facts().sampling = Sampling::poisson;
  b.facts().period = 524288;
  b.facts().taken_at_ns = 1700000000000000000;
  b.add_column({"inuse_objects", "count"});
  b.add_column({"inuse_space", "bytes"});
  const ModuleId program = b.module("/bin/program", "aabb");
  const ModuleId libx = b.module("/lib/libx.so", "");
  b.add_mapping({base, base + 0x10000, 0x1000, program});
  b.add_mapping({base + 0x100000, base + 0x110000, 0, libx});
  const auto frame = [&](const char* name, ModuleId module, std::uint64_t offset, std::int32_t line,
                         std::uint8_t flags) {
    SnapshotBuilder::FrameSpec spec;
    spec.module = module;
    spec.offset = offset;
    if (name[0] != '\0') spec.function = b.function(b.string(name), b.string(name), b.string("/src/p.cc"), 0);
    spec.line = line;
    spec.flags = flags;
    return b.frame(spec);
  };
  const FrameId body = frame("alloc_body", program, 0x1234, 10, kFrameInlined);
  const FrameId leak = frame("leak", program, 0x1234, 20, 0);
  const FrameId main = frame("main", program, 0x2000, 30, 0);
  const FrameId raw = frame("", libx, 0x777, 0, 0);
  const std::vector<FrameId> first{body, leak, main};
  const std::vector<FrameId> second{raw, main};
  const std::vector<FrameId> third{main};
  const LabelSetId labels = b.labels({{b.string("bytes"), StringId{}, 64, b.string("bytes"), true},
                                      {b.string("thread"), b.string("worker"), 0, StringId{}, false}});
  const auto row = [&](std::span<const FrameId> stack, LabelSetId set, std::int64_t objects, std::int64_t bytes) {
    const std::int64_t values[] = {objects, bytes};
    b.add_row(b.stack(stack), set, values);
  };
  row(first, labels, 10 * factor, 6400 * factor);
  row(second, LabelSetId{}, 1, 4096);
  row(third, LabelSetId{}, 2, factor == 1 ? 3000 : 1000);
  return {std::make_shared<const Snapshot>(b.finish().value()), "x", ""};
}

std::string run(const std::string& command) {
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string out;
  std::array<char, 4096> buffer{};
  for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) out.append(buffer.data(), n);
  pclose(pipe);
  return out;
}

bool have_go() {
  return std::system("go tool pprof -help >/dev/null 2>&1; test $? -ne 127 && command -v go >/dev/null 2>&1") == 0;
}

std::string go_top(const std::string& profile, const std::string& options) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("snapdiff_pprof_test_" + std::to_string(::getpid()) + ".pb.gz");
  std::ofstream(path, std::ios::binary) << profile;
  const std::string out =
      run("PPROF_BINARY_PATH=/nonexistent go tool pprof -symbolize=none " + options + " " + path.string());
  std::filesystem::remove(path);
  return out;
}

}  // namespace

TEST_CASE("pprof: a snapshot keeps its columns, mappings, inlined lines and labels") {
  const SnapshotRef ref = sample_snapshot(0x400000, 1);
  const Profile profile = decode(report::to_pprof(ref));
  REQUIRE(profile.types.size() == 2);
  CHECK(profile.text(profile.types[1].first) == "inuse_space");
  CHECK(profile.text(profile.types[1].second) == "bytes");
  CHECK(profile.text(profile.default_type) == "inuse_space");
  CHECK(profile.period == 524288);
  CHECK(profile.time == 1700000000000000000);
  CHECK(profile.strings[0].empty());
  REQUIRE(profile.samples.size() == 3);
  std::int64_t bytes = 0;
  for (const Profile::Sample& sample : profile.samples) bytes += sample.values.at(1);
  CHECK(bytes == 6400 + 4096 + 3000);

  const Profile::Sample& first = profile.samples[0];
  REQUIRE(first.locations.size() == 2);  // alloc_body is inlined into leak
  const Profile::Location& leak = profile.locations.at(first.locations[0]);
  REQUIRE(leak.lines.size() == 2);
  CHECK(profile.text(profile.functions.at(leak.lines[0].first)[0]) == "alloc_body");
  CHECK(leak.lines[0].second == 10);
  CHECK(profile.text(profile.functions.at(leak.lines[1].first)[0]) == "leak");
  CHECK(leak.address == 0x400000 + 0x234);  // offset 0x1234, mapped from 0x1000
  const Profile::Mapping& program = profile.mappings.at(leak.mapping);
  CHECK(program.start == 0x400000);
  CHECK(program.offset == 0x1000);
  CHECK(profile.text(program.file) == "/bin/program");
  CHECK(profile.text(program.build_id) == "aabb");
  CHECK(program.has_functions);
  REQUIRE(first.labels.size() == 2);
  CHECK(profile.text(first.labels[0][0]) == "bytes");
  CHECK(first.labels[0][2] == 64);
  CHECK(profile.text(first.labels[1][1]) == "worker");

  const Profile::Location& raw = profile.locations.at(profile.samples[1].locations[0]);
  CHECK(raw.lines.empty());
  CHECK(raw.address == 0x500777);
  CHECK_FALSE(profile.mappings.at(raw.mapping).has_functions);
}

TEST_CASE("pprof: the same snapshot gives the same bytes, without a time in the header") {
  const std::string once = report::to_pprof(sample_snapshot(0x400000, 1));
  CHECK(once == report::to_pprof(sample_snapshot(0x400000, 1)));
  CHECK(once.substr(4, 4) == std::string(4, '\0'));
}

TEST_CASE("pprof: in a diff the baseline is negated and labelled, and two runs share locations") {
  GrowthReport report;
  report.metric = "inuse_space";
  report.baseline = sample_snapshot(0x400000, 1);
  report.current = sample_snapshot(0x7f0000000000, 3);
  const auto made = report::to_pprof_diff(report);
  REQUIRE(made);
  const Profile profile = decode(*made);
  REQUIRE(profile.samples.size() == 6);
  std::int64_t sum = 0;
  std::map<std::vector<std::uint64_t>, int> stacks;
  for (const Profile::Sample& sample : profile.samples) {
    bool base = false;
    for (const auto& label : sample.labels) {
      base = base || (profile.text(label[0]) == "pprof::base" && profile.text(label[1]) == "true");
    }
    CHECK((sample.values[1] < 0) == base);
    sum += sample.values[1];
    ++stacks[sample.locations];
  }
  CHECK(sum == (19200 + 4096 + 1000) - (6400 + 4096 + 3000));
  CHECK(stacks.size() == 3);
  CHECK(profile.mappings.size() == 2);
}

TEST_CASE("pprof: offsets outside every mapping still lead back to themselves") {
  SnapshotBuilder b;
  b.add_column({"inuse_space", "bytes"});
  SnapshotBuilder::FrameSpec spec;
  spec.module = b.module("/lib/a.so", "");
  spec.offset = 0x999;
  const std::vector<FrameId> stack{b.frame(spec)};
  const std::int64_t values[] = {5};
  b.add_row(b.stack(stack), LabelSetId{}, values);
  const Profile profile = decode(report::to_pprof({std::make_shared<const Snapshot>(b.finish().value()), "x", ""}));
  const Profile::Location& location = profile.locations.begin()->second;
  const Profile::Mapping& mapping = profile.mappings.at(location.mapping);
  CHECK(location.address - mapping.start + mapping.offset == 0x999);
}

TEST_CASE("pprof: no common sample type and no negation are errors") {
  const auto single = [](const char* type, std::int64_t value) {
    SnapshotBuilder b;
    b.add_column({type, "bytes"});
    const std::int64_t values[] = {value};
    b.add_row(b.pseudo_stack(kNoStackRecorded), LabelSetId{}, values);
    return SnapshotRef{std::make_shared<const Snapshot>(b.finish().value()), "x", ""};
  };
  GrowthReport report;
  report.baseline = single("space", 1);
  report.current = single("inuse_space", 1);
  CHECK(report::to_pprof_diff(report).error().code == ErrorCode::incompatible);
  report.baseline = single("inuse_space", INT64_MIN);
  CHECK(report::to_pprof_diff(report).error().code == ErrorCode::limit);
}

TEST_CASE("pprof: go tool pprof opens both and agrees on the totals") {
  if (!have_go()) {
    WARN("skipped: go is not installed");
    return;
  }
  const std::string top = go_top(report::to_pprof(sample_snapshot(0x400000, 1)), "-top -unit=B");
  INFO(top);
  CHECK(top.find("Type: inuse_space") != std::string::npos);
  CHECK(top.find("13496B, 100% of 13496B total") != std::string::npos);
  CHECK(top.find("6400B 47.42% 47.42%      6400B 47.42%  alloc_body") != std::string::npos);

  GrowthReport report;
  report.metric = "inuse_space";
  report.baseline = sample_snapshot(0x400000, 1);
  report.current = sample_snapshot(0x7f0000000000, 3);
  const std::string diff = go_top(report::to_pprof_diff(report).value(), "-top -unit=B");
  INFO(diff);
  // Growth 10800 of a baseline of 13496: percentages are of the baseline.
  CHECK(diff.find("10800B, 80.02% of 13496B total") != std::string::npos);
  CHECK(diff.find("12800B 94.84%") != std::string::npos);
  CHECK(diff.find("-2000B 14.82%") != std::string::npos);
}
