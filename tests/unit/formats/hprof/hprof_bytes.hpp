#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/input/all_formats.hpp"
#include "support/memory_input.hpp"

namespace snapdiff::test {

/// Writes heap dumps byte by byte (HPROF 1.0.2, big-endian).
struct HprofBytes {
  explicit HprofBytes(std::uint32_t id_bytes_ = 8, std::string_view version = "1.0.2") : id_bytes(id_bytes_) {
    bytes = "JAVA PROFILE ";
    bytes += version;
    bytes += '\0';
    bytes += number(id_bytes, 4) + number(1'700'000'000'123, 8);
  }

  static std::string number(std::uint64_t value, std::uint32_t size) {
    std::string out;
    for (std::uint32_t i = size; i-- > 0;) out += static_cast<char>(static_cast<unsigned char>(value >> (8 * i)));
    return out;
  }
  std::string id(std::uint64_t value) const { return number(value, id_bytes); }

  HprofBytes& record(std::uint8_t tag, const std::string& body) {
    bytes += number(tag, 1) + number(0, 4) + number(body.size(), 4) + body;
    return *this;
  }
  HprofBytes& text(std::uint64_t at, std::string_view value) { return record(0x01, id(at) + std::string(value)); }
  HprofBytes& load(std::uint64_t class_id, std::uint64_t name) {
    return record(0x02, number(1, 4) + id(class_id) + number(0, 4) + id(name));
  }

  /// Class: fields and statics as (name, type[, value]) already in bytes.
  std::string class_dump(std::uint64_t at, std::uint64_t super, std::uint32_t statics, const std::string& static_bytes,
                         std::uint32_t fields, const std::string& field_bytes) const {
    return number(0x20, 1) + id(at) + number(0, 4) + id(super) + id(0) + id(0) + id(0) + id(0) + id(0) + number(0, 4) +
           number(0, 2) + number(statics, 2) + static_bytes + number(fields, 2) + field_bytes;
  }
  std::string field(std::uint64_t name, std::uint8_t type) const { return id(name) + number(type, 1); }
  std::string instance(std::uint64_t at, std::uint64_t of, const std::string& fields) const {
    return number(0x21, 1) + id(at) + number(0, 4) + id(of) + number(fields.size(), 4) + fields;
  }
  std::string objects(std::uint64_t at, std::uint64_t of, std::uint32_t count, const std::string& ids) const {
    return number(0x22, 1) + id(at) + number(0, 4) + number(count, 4) + id(of) + ids;
  }
  std::string values(std::uint64_t at, std::uint8_t type, std::uint32_t count, const std::string& data) const {
    return number(0x23, 1) + id(at) + number(0, 4) + number(count, 4) + number(type, 1) + data;
  }
  std::string root(std::uint8_t tag, std::uint64_t at, std::uint32_t more) const {
    return number(tag, 1) + id(at) + std::string(more, '\0');
  }

  std::uint32_t id_bytes;
  std::string bytes;
};

inline Result<std::vector<Snapshot>> read_all_hprof(std::string_view bytes, std::size_t window = 0) {
  MemoryInput in(bytes, window);
  SnapshotList list;
  if (Status status = formats::kHprof.read(in, list); !status) return std::move(status).error();
  return std::move(list.snapshots);
}

inline Result<Snapshot> read_hprof(std::string_view bytes, std::size_t window = 0) {
  Result<std::vector<Snapshot>> all = read_all_hprof(bytes, window);
  if (!all) return std::move(all).error();
  return std::move(all->at(0));
}

/// Object, Class, Reference, Weak and Box with their texts; ids 1..5 of classes times 0x100.
inline HprofBytes with_classes(std::uint32_t id_bytes) {
  HprofBytes h(id_bytes);
  h.text(1, "java/lang/Object").text(2, "java/lang/Class").text(3, "java/lang/ref/Reference");
  h.text(4, "java/lang/ref/WeakReference").text(5, "app/Box$1").text(6, "[Ljava/lang/Object;");
  h.text(11, "referent").text(12, "next").text(13, "left").text(14, "size").text(15, "SHARED").text(16, "LIMIT");
  for (std::uint64_t i = 1; i <= 6; ++i) h.load(i * 0x100, i);
  return h;
}

inline std::string class_dumps(const HprofBytes& h) {
  return h.class_dump(0x100, 0, 0, "", 0, "") + h.class_dump(0x200, 0x100, 0, "", 0, "") +
         h.class_dump(0x300, 0x100, 0, "", 2, h.field(11, 2) + h.field(12, 2)) +
         h.class_dump(0x400, 0x300, 0, "", 0, "") +
         h.class_dump(0x500, 0x100, 2, h.field(15, 2) + h.id(0x9000) + h.field(16, 10) + h.number(7, 4), 3,
                      h.field(14, 10) + h.field(13, 2) + h.field(12, 2)) +
         h.class_dump(0x600, 0x100, 0, "", 0, "");
}

}  // namespace snapdiff::test
