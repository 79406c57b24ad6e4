#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/input/all_formats.hpp"
#include "support/imported.hpp"

namespace snapdiff::test {

/// Writes chunks of recordings byte by byte, with types of its own numbers and orders of fields.
struct JfrBytes {
  static std::string fixed(std::uint64_t value, unsigned size) {
    std::string out;
    for (unsigned i = size; i-- > 0;) out += static_cast<char>(static_cast<unsigned char>(value >> (8 * i)));
    return out;
  }
  static std::string n(std::uint64_t value) {
    std::string out;
    for (int i = 0; i < 8 && value >= 128; ++i, value >>= 7)
      out += static_cast<char>(static_cast<unsigned char>(value | 128));
    return out + static_cast<char>(static_cast<unsigned char>(value));
  }
  static std::string text(std::string_view value) { return '\3' + n(value.size()) + std::string(value); }
  static std::string event(std::uint64_t type, const std::string& body) {
    const std::string all = n(type) + body;
    const std::uint64_t size = all.size() + 4;  // of four bytes, as writers leave room for it
    std::string out;
    for (unsigned i = 0; i < 4; ++i)
      out += static_cast<char>(static_cast<unsigned char>((size >> (7 * i) & 127) | (i < 3 ? 128 : 0)));
    return out + all;
  }

  struct Field {
    std::string name;
    std::uint64_t type = 0;
    bool in_pool = false;
    bool is_array = false;
  };
  struct Type {
    std::uint64_t id = 0;
    std::string name;
    std::vector<Field> fields;
  };

  std::vector<Type> types = {
      {1, "long", {}},
      {2, "int", {}},
      {3, "boolean", {}},
      {4, "java.lang.String", {}},
      {5, "float", {}},
      {10, "jdk.types.Symbol", {{"string", 4}}},
      {11, "java.lang.Class", {{"loader", 1}, {"name", 10, true}}},
      {12, "jdk.types.Method", {{"type", 11, true}, {"name", 10, true}}},
      {13, "jdk.types.StackFrame", {{"method", 12, true}, {"lineNumber", 2}, {"bytecodeIndex", 2}}},
      {14, "jdk.types.StackTrace", {{"truncated", 3}, {"frames", 13, false, true}}},
      {15, "jdk.types.OldObject", {{"address", 1}, {"type", 11, true}, {"description", 4}, {"referrer", 16, true}}},
      {16, "jdk.types.Reference", {{"array", 17, true}, {"field", 18, true}, {"object", 15, true}, {"skip", 2}}},
      {17, "jdk.types.OldObjectArray", {{"size", 2}, {"index", 2}}},
      {18, "jdk.types.OldObjectField", {{"name", 4}}},
      {19, "jdk.types.OldObjectGcRoot", {{"description", 4}, {"system", 4}, {"type", 4}}},
      {20, "jdk.types.GCWhen", {{"when", 4}}},
      {21, "jdk.types.VirtualSpace", {{"start", 1}, {"committedSize", 1}, {"reservedSize", 1}}},
      {101,
       "jdk.OldObjectSample",
       {{"startTime", 1}, {"stackTrace", 14, true}, {"objectSize", 1}, {"object", 15, true}, {"root", 19, true}}},
      {102,
       "profiler.LiveObject",
       {{"startTime", 1}, {"stackTrace", 14, true}, {"objectClass", 11, true}, {"allocationSize", 1}}},
      {103, "profiler.Malloc", {{"startTime", 1}, {"stackTrace", 14, true}, {"address", 1}, {"size", 1}}},
      {104, "profiler.Free", {{"startTime", 1}, {"stackTrace", 14, true}, {"address", 1}}},
      {105,
       "jdk.ObjectAllocationSample",
       {{"startTime", 1}, {"stackTrace", 14, true}, {"objectClass", 11, true}, {"weight", 1}}},
      {106,
       "jdk.ObjectAllocationInNewTLAB",
       {{"startTime", 1}, {"stackTrace", 14, true}, {"objectClass", 11, true}, {"allocationSize", 1}, {"tlabSize", 1}}},
      {107,
       "jdk.GCHeapSummary",
       {{"startTime", 1}, {"gcId", 2}, {"when", 20, true}, {"heapSpace", 21}, {"heapUsed", 1}}},
      {108, "jdk.GarbageCollection", {{"startTime", 1}, {"gcId", 2}, {"name", 4}}},
      {109, "jdk.ResidentSetSize", {{"startTime", 1}, {"size", 1}, {"peak", 1}}},
      {110, "jdk.CPULoad", {{"startTime", 1}, {"user", 5}}},
  };

  std::string metadata() const {
    std::vector<std::string> strings;
    const auto s = [&](const std::string& value) {
      for (std::size_t i = 0; i < strings.size(); ++i) {
        if (strings[i] == value) return n(i);
      }
      strings.push_back(value);
      return n(strings.size() - 1);
    };
    std::string classes;
    for (const Type& type : types) {
      classes +=
          s("class") + n(2) + s("id") + s(std::to_string(type.id)) + s("name") + s(type.name) + n(type.fields.size());
      for (const Field& field : type.fields) {
        classes += s("field") + n(2 + (field.in_pool ? 1U : 0U) + (field.is_array ? 1U : 0U)) + s("name") +
                   s(field.name) + s("class") + s(std::to_string(field.type));
        if (field.in_pool) classes += s("constantPool") + s("true");
        if (field.is_array) classes += s("dimension") + s("1");
        classes += n(0);
      }
    }
    const std::string tree = s("root") + n(0) + n(1) + s("metadata") + n(0) + n(types.size()) + classes;
    std::string body = n(0) + n(0) + n(1) + n(strings.size());
    for (const std::string& each : strings) body += text(each);
    return event(0, body + tree);
  }

  /// A pool: constants as key and value in bytes.
  static std::string pool(std::uint64_t type, std::uint64_t count, const std::string& constants) {
    return n(type) + n(count) + constants;
  }
  static std::string checkpoint(std::uint64_t pools, const std::string& bytes) {
    return event(1, n(0) + n(0) + n(0) + '\0' + n(pools) + bytes);
  }

  /// Symbols 1 main, 2 put, 3 app/Cache, 4 [B, 5 java/util/HashMap; classes 1 app.Cache, 2 [B, 3 HashMap;
  /// methods 1 app.Cache.main, 2 app.Cache.put; stacks 1 put:7 main:3, 2 main:9 (cut).
  static std::string constants() {
    return checkpoint(6, pool(10, 5,
                              n(1) + text("main") + n(2) + text("put") + n(3) + text("app/Cache") + n(4) + text("[B") +
                                  n(5) + text("java/util/HashMap")) +
                             pool(11, 3, n(1) + n(0) + n(3) + n(2) + n(0) + n(4) + n(3) + n(0) + n(5)) +
                             pool(12, 2, n(1) + n(1) + n(1) + n(2) + n(1) + n(2)) +
                             pool(14, 2,
                                  n(1) + '\0' + n(2) + n(2) + n(7) + n(0) + n(1) + n(3) + n(0) + n(2) + '\1' + n(1) +
                                      n(1) + n(9) + n(0)) +
                             pool(20, 2, n(1) + text("Before GC") + n(2) + text("After GC")) + pool(19, 0, ""));
  }

  /// `start` in seconds; a second long, a tick is a microsecond and tick 0 is the start.
  std::string chunk(const std::string& events, std::int64_t start = 1000, std::uint32_t flags = 1) const {
    const std::string body = events + metadata();
    return std::string("FLR\0", 4) + fixed(2, 2) + fixed(1, 2) + fixed(68 + body.size(), 8) + fixed(68, 8) +
           fixed(68 + events.size(), 8) + fixed(static_cast<std::uint64_t>(start) * 1'000'000'000, 8) +
           fixed(1'000'000'000, 8) + fixed(0, 8) + fixed(1'000'000, 8) + fixed(flags, 4) + body;
  }
};

namespace jfr_bytes {
using B = JfrBytes;
inline std::string n(std::uint64_t value) { return B::n(value); }
}  // namespace jfr_bytes

inline Imported read_jfr(std::string_view bytes, std::size_t window = 0) {
  return import_with(
      bytes, [](Input& in, SnapshotSink& out) { return formats::kJfr.read(in, out); }, window);
}

/// Each kind of event that is read, once.
inline std::string one_of_each(const JfrBytes& j) {
  using namespace jfr_bytes;
  std::string events = B::constants();
  // byte[] 1 in element 4 of HashMap 2, which the field CACHE of the class app.Cache holds; the root is a thread's.
  events += B::checkpoint(
      5, B::pool(15, 3,
                 n(1) + n(64) + n(2) + B::text("") + n(1) + n(2) + n(128) + n(3) + B::text("Size: 8") + n(2) + n(3) +
                     n(256) + n(1) + B::text("Class Name: app/Cache") + n(0)) +
             B::pool(16, 2, n(1) + n(1) + n(0) + n(2) + n(0) + n(2) + n(0) + n(1) + n(3) + n(0)) +
             B::pool(17, 1, n(1) + n(8) + n(4)) + B::pool(18, 1, n(1) + B::text("CACHE")) +
             B::pool(19, 1, n(1) + B::text("Thread Name: main") + B::text("Threads") + B::text("Stack Variable")));
  events += B::event(101, n(500'000) + n(1) + n(4112) + n(1) + n(1));
  events += B::event(103, n(30) + n(2) + n(0x7000) + n(96));
  events += B::event(103, n(10) + n(1) + n(0x7000) + n(64));  // written late by another thread
  events += B::event(104, n(20) + n(0) + n(0x7000));
  events += B::event(105, n(40) + n(1) + n(2) + n(8192));
  events += B::event(107, n(100) + n(7) + n(1) + n(0) + n(65536) + n(0) + n(5000));
  events += B::event(107, n(200) + n(7) + n(2) + n(0) + n(65536) + n(0) + n(3000));
  events += B::event(108, n(100) + n(7) + B::text("G1Full"));
  events += B::event(109, n(300) + n(100'000) + n(120'000));
  events += B::event(110, n(400) + std::string(4, '\0'));
  return j.chunk(events);
}

}  // namespace snapdiff::test
