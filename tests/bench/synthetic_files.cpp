#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "synthetic_heap.hpp"

namespace snapdiff::bench {
namespace {

/// Appends protobuf fields to a byte string.
class Wire {
 public:
  void varint(std::uint64_t value) {
    while (value >= 0x80) {
      bytes.push_back(static_cast<char>(value | 0x80));
      value >>= 7;
    }
    bytes.push_back(static_cast<char>(value));
  }
  void number(std::uint32_t field, std::uint64_t value) {
    if (value == 0) return;
    varint(field << 3);
    varint(value);
  }
  void block(std::uint32_t field, std::string_view content) {
    varint(field << 3 | 2);
    varint(content.size());
    bytes.append(content);
  }
  std::string bytes;
};

class ProfileWriter {
 public:
  explicit ProfileWriter(const Program& program) : program_(program) {
    string("");
    location_.resize(program.sites.size());
  }

  /// The layout that the Go runtime writes: locations and functions where first used, strings last.
  std::string write(const std::vector<Bucket>& buckets, std::int64_t time_ns) {
    value_type(1, "alloc_objects", "count");
    value_type(1, "alloc_space", "bytes");
    value_type(1, "inuse_objects", "count");
    value_type(1, "inuse_space", "bytes");
    value_type(11, "space", "bytes");
    out_.number(12, static_cast<std::uint64_t>(kSamplePeriod));
    const std::uint64_t bytes_key = string("bytes");
    for (const Bucket& bucket : buckets) sample(bucket, bytes_key);
    Wire mapping;
    mapping.number(1, 1);
    mapping.number(2, Program::kTextStart);
    mapping.number(3, program_.text_limit);
    mapping.number(5, string("/opt/service/bin/service"));
    mapping.number(6, string(program_.build_id));
    mapping.number(7, 1);
    mapping.number(8, 1);
    mapping.number(9, 1);
    mapping.number(10, 1);
    out_.block(3, mapping.bytes);
    out_.number(9, static_cast<std::uint64_t>(time_ns));
    for (const std::string& text : texts_) out_.block(6, text);
    return std::move(out_.bytes);
  }

 private:
  std::uint64_t string(const std::string& text) {
    const auto [place, added] = text_id_.emplace(text, texts_.size());
    if (added) texts_.push_back(text);
    return place->second;
  }
  void value_type(std::uint32_t field, const char* type, const char* unit) {
    Wire wire;
    wire.number(1, string(type));
    wire.number(2, string(unit));
    out_.block(field, wire.bytes);
  }
  std::uint64_t function(std::uint32_t f) {
    const auto [place, added] = function_.emplace(f, function_.size() + 1);
    if (added) {
      Wire wire;
      const std::uint64_t name = string(Program::function_name(f));
      wire.number(1, place->second);
      wire.number(2, name);
      wire.number(3, name);
      wire.number(4, string(Program::file_name(f)));
      out_.block(5, wire.bytes);
    }
    return place->second;
  }
  void line(Wire& location, std::uint64_t function_id, std::uint32_t number) {
    Wire wire;
    wire.number(1, function_id);
    wire.number(2, number);
    location.block(4, wire.bytes);
  }
  std::uint64_t location(std::uint32_t site_row) {
    std::uint64_t& id = location_[site_row];
    if (id == 0) {
      id = ++locations_;
      const Site& site = program_.sites[site_row];
      Wire wire;
      wire.number(1, id);
      wire.number(2, 1);
      wire.number(3, site.address);
      if (site.inlined_function != 0) line(wire, function(site.inlined_function), site.line / 2 + 3);
      line(wire, function(site.function), site.line);
      out_.block(4, wire.bytes);
    }
    return id;
  }
  void sample(const Bucket& bucket, std::uint64_t bytes_key) {
    Wire ids, values, label, wire;
    for (const std::uint32_t site : bucket.stack) ids.varint(location(site));
    const double size = static_cast<double>(bucket.object_bytes);
    const double scale = 1 / -std::expm1(-size / static_cast<double>(kSamplePeriod));
    for (const std::int64_t count : {bucket.allocated, bucket.in_use}) {
      values.varint(static_cast<std::uint64_t>(static_cast<double>(count) * scale));
      values.varint(static_cast<std::uint64_t>(static_cast<double>(count) * size * scale));
    }
    label.number(1, bytes_key);
    label.number(3, static_cast<std::uint64_t>(bucket.object_bytes));
    wire.block(1, ids.bytes);
    wire.block(2, values.bytes);
    wire.block(3, label.bytes);
    out_.block(2, wire.bytes);
  }

  const Program& program_;
  Wire out_;
  std::vector<std::string> texts_;
  std::map<std::string, std::uint64_t> text_id_;
  std::map<std::uint32_t, std::uint64_t> function_;
  std::vector<std::uint64_t> location_;
  std::uint64_t locations_ = 0;
};

// --- text ------------------------------------------------------------------------------------------

/// Where the kernel put the position-independent program.
constexpr std::uint64_t kLoadBase = 0x55d0c0a00000;

std::string hex(std::uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string addresses(const Program& program, const Bucket& bucket) {
  std::string out = "@";
  for (const std::uint32_t site : bucket.stack) out += " 0x" + hex(kLoadBase + program.sites[site].address);
  return out + "\n";
}

/// "objects: bytes" of `count` objects.
std::string pair(std::int64_t count, std::int64_t bytes) {
  return std::to_string(count) + ": " + std::to_string(bytes);
}

std::string memory_map(const Program& program) {
  return "\nMAPPED_LIBRARIES:\n" + hex(kLoadBase + Program::kTextStart) + "-" + hex(kLoadBase + program.text_limit) +
         " r-xp 00400000 08:01 1311 /opt/service/bin/service\n";
}

struct Totals {
  std::int64_t in_use = 0, in_use_bytes = 0, allocated = 0, allocated_bytes = 0;
  explicit Totals(const std::vector<Bucket>& buckets) {
    for (const Bucket& bucket : buckets) {
      in_use += bucket.in_use;
      in_use_bytes += bucket.in_use * bucket.object_bytes;
      allocated += bucket.allocated;
      allocated_bytes += bucket.allocated * bucket.object_bytes;
    }
  }
};

}  // namespace

std::string profile_proto(const Program& program, const std::vector<Bucket>& buckets, std::int64_t time_ns) {
  return ProfileWriter(program).write(buckets, time_ns);
}

std::string jemalloc_text(const Program& program, const std::vector<Bucket>& buckets) {
  const auto rows = [](std::int64_t count, std::int64_t bytes) {
    const std::string numbers = pair(count, bytes) + " [0: 0]\n";
    return "  t*: " + numbers + "  t0: " + numbers;
  };
  const Totals totals(buckets);
  std::string out = "heap_v2/" + std::to_string(kSamplePeriod) + "\n" + rows(totals.in_use, totals.in_use_bytes);
  for (const Bucket& bucket : buckets) {
    out += addresses(program, bucket) + rows(bucket.in_use, bucket.in_use * bucket.object_bytes);
  }
  return out + memory_map(program);
}

std::string tcmalloc_text(const Program& program, const std::vector<Bucket>& buckets) {
  const Totals totals(buckets);
  std::string out = "heap profile: " + pair(totals.in_use, totals.in_use_bytes) + " [" +
                    pair(totals.allocated, totals.allocated_bytes) + "] @ heapprofile\n";
  for (const Bucket& bucket : buckets) {
    out += pair(bucket.in_use, bucket.in_use * bucket.object_bytes) + " [" +
           pair(bucket.allocated, bucket.allocated * bucket.object_bytes) + "] " + addresses(program, bucket);
  }
  return out + memory_map(program);
}

}  // namespace snapdiff::bench
