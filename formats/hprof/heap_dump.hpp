#pragma once

#include "analyzer/base/object_graph.hpp"
#include "formats/hprof/chunks.hpp"
#include "formats/hprof/classes.hpp"
#include "formats/input/byte_window.hpp"

namespace snapdiff::formats::hprof {

// Bytes that instances before their class may keep in memory.
constexpr std::uint64_t kMostWaitingBytes = std::uint64_t{1} << 30;

constexpr std::uint64_t kWrap = std::uint64_t{1} << 32;

inline std::string hex(std::uint32_t tag) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  return {'0', 'x', kDigits[tag >> 4 & 15U], kDigits[tag & 15U]};
}

/// Tags of sub-records that no record has.
inline bool only_sub_record(char tag) {
  const auto value = static_cast<unsigned char>(tag);
  return value == 0x20 || value == 0x21 || value == 0x22 || value == 0x23 || value == 0xff;
}

/// Big-endian numbers of 2, 4 and 8 bytes, at any address.
inline std::uint32_t load_u2(const char* p) {
  std::uint16_t value = 0;
  std::memcpy(&value, p, sizeof value);
  return __builtin_bswap16(value);
}
inline std::uint32_t load_u4(const char* p) {
  std::uint32_t value = 0;
  std::memcpy(&value, p, sizeof value);
  return __builtin_bswap32(value);
}
inline std::uint64_t load_u8(const char* p) {
  std::uint64_t value = 0;
  std::memcpy(&value, p, sizeof value);
  return __builtin_bswap64(value);
}

enum class Kind : std::uint8_t { instance, object_array, primitive_array, class_object };

/// Kind of an object before names are known: a Kind and a row of the ClassTable or a type of values.
constexpr std::uint32_t pack_kind(Kind kind, std::uint32_t row) {
  return (row << 2) | static_cast<std::uint32_t>(kind);
}
constexpr Kind kind_of(std::uint32_t packed) { return static_cast<Kind>(packed & 3U); }
constexpr std::uint32_t row_of(std::uint32_t packed) { return packed >> 2; }
inline constexpr std::uint32_t kMostClasses = 1U << 30;

/// Edges of classes that no field makes: rows 0 .. of ClassTable::field_name.
inline constexpr std::string_view kFixedNames[] = {"<superclass>",        "<class loader>",  "<signers>",
                                                   "<protection domain>", "<constant pool>", "<class>"};
inline constexpr std::uint32_t kClassLabel = 5;  ///< of kFixedNames: from an instance to its class

struct RawRoot {
  std::uint64_t id = 0;
  std::uint8_t tag = 0;
};

/// The objects of a dump as they were met: nodes in file order, edges by address.
struct RawHeap {
  Chunks<std::uint64_t> id;
  Chunks<std::uint32_t> kind;        ///< pack_kind()
  Chunks<std::uint32_t> length;      ///< elements of an array, bytes of the statics of a class, else 0
  Chunks<std::uint32_t> edge_count;  ///< without late edges
  Chunks<std::uint64_t> target;
  Chunks<std::uint32_t> label;  ///< row of ClassTable::field_name, or an index with kEdgeIsIndex
  Chunks<RawRoot> roots;

  /// Edges of instances that came before their class, by node.
  struct LateEdge {
    std::uint64_t target = 0;
    std::uint32_t node = 0;
    std::uint32_t label = 0;
  };
  std::vector<LateEdge> late;
};

/// Reads sub-records of heap dumps. Throws Failure.
class HeapDump {
 public:
  HeapDump(ByteWindow& bytes, std::uint32_t id_bytes, ClassTable& classes, Notes& notes)
      : bytes_(bytes), id_bytes_(id_bytes), classes_(classes), notes_(notes) {
    for (std::size_t i = 0; i < std::size(kFixedNames); ++i) classes_.add_field(0, 0);
  }

  /// Consumes a record of `length` bytes. `may_wrap`: the record's kind has lengths modulo 2^32.
  void read(const char*& p, std::uint32_t length, bool may_wrap) {
    p_ = p;
    left_ = length;
    may_wrap_ = may_wrap;
    for (;;) {
      if (left_ == 0) {
        if (!may_wrap_ || length == 0 || !bytes_.ensure(p_, 1) || !only_sub_record(*p_)) break;
        left_ = kWrap;
        may_wrap_ = false;
      }
      record_ = offset();
      need(1);
      have(1);
      const auto tag = static_cast<std::uint8_t>(*p_++);
      left_ -= 1;
      sub_record(tag);
    }
    p = p_;
  }

  /// Instances that waited for their class.
  void finish() {
    while (waiting_.size() > 0) {
      const Waiting instance = waiting_.take_front();
      record_ = instance.offset;
      scratch_.clear();
      for (std::uint32_t i = 0; i < instance.size; ++i) scratch_ += waiting_bytes_.take_front();
      if (check_instance(instance.class_row, instance.size) != Summed::done) {
        notes_.add(Severity::data_loss, "instances of classes that are not in the dump: their references are lost",
                   instance.offset);
        continue;
      }
      for (const ReferenceField& field : classes_.layout(instance.class_row)) {
        const std::uint64_t target = read_id(scratch_.data() + field.offset);
        if (target != 0) heap.late.push_back({target, instance.node, field.label});
      }
    }
  }

  RawHeap heap;

 private:
  std::uint64_t offset() const { return bytes_.offset_of(p_); }
  /// Accounts for `size` bytes of the record that are about to be consumed.
  void need(std::uint64_t size) {
    if (size > left_) [[unlikely]]
      need_wrap(size);
  }

  void need_wrap(std::uint64_t size) {
    if (may_wrap_) {
      left_ += kWrap;
      may_wrap_ = false;
      if (size <= left_) return;
    }
    fail_malformed("sub-record beyond its heap dump record: it has " + std::to_string(size) +
                       " more bytes, the record has " + std::to_string(left_) + " left",
                   record_);
  }

  void have(std::size_t size) {
    if (!bytes_.ensure(p_, size)) truncated();
  }

  [[noreturn]] void truncated() {
    fail_malformed(
        "truncated: the input ends within a heap dump record, which has " + std::to_string(left_) + " more bytes",
        offset());
  }

  std::uint64_t read_id(const char* p) const { return id_bytes_ == 8 ? load_u8(p) : load_u4(p); }
  /// Consumes `size` bytes that load(p_) reads.
  template <class Load>
  auto take(std::uint32_t size, Load load) {
    need(size);
    have(size);
    const auto value = load(p_);
    p_ += size;
    left_ -= size;
    return value;
  }

  std::uint64_t take_id() {
    return take(id_bytes_, [this](const char* p) { return read_id(p); });
  }

  std::uint32_t take_u4() { return take(4, load_u4); }
  std::uint32_t take_u2() { return take(2, load_u2); }
  void skip(std::uint64_t size) {
    need(size);
    if (!bytes_.skip(p_, size)) truncated();
    left_ -= size;
  }

  void sub_record(std::uint8_t tag) {
    switch (tag) {
      case 0x21: instance(); return;
      case 0x22: object_array(); return;
      case 0x23: primitive_array(true); return;
      case 0xc3: primitive_array(false); return;
      case 0x20: class_dump(); return;
      case 0x01: root(tag, id_bytes_); return;
      case 0x02:
      case 0x03:
      case 0x08:
      case 0x8e: root(tag, 8); return;
      case 0x04:
      case 0x06: root(tag, 4); return;
      case 0xff:
      case 0x05:
      case 0x07:
      case 0x89:
      case 0x8a:
      case 0x8b:
      case 0x8c:
      case 0x8d:
      case 0x90: root(tag, 0); return;
      case 0xfe: skip(std::uint64_t{4} + id_bytes_); return;
      default: break;
    }
    fail_malformed("unknown sub-record: found tag " + hex(tag) + ", expected one of a heap dump", record_);
  }

  void root(std::uint8_t tag, std::uint32_t more) {
    const std::uint64_t id = take_id();
    skip(more);
    heap.roots.push({id, tag});
  }

  void class_dump() {
    const std::uint64_t id = take_id();
    take_u4();
    const std::uint32_t row = classes_.row_of(id);
    if (row >= kMostClasses || classes_.field_name.size() >= kEdgeLabel)
      fail(ErrorCode::limit, "too many classes or fields: expected fewer than 2^30", record_);
    if (classes_[row].is_dumped) fail_malformed("class is there twice: expected one dump of each", record_);
    std::uint32_t edges = 0;
    const std::uint64_t super = take_id();
    edges += edge(super, 0) ? 1U : 0U;
    const bool has_loader = edge(take_id(), 1);
    edges += has_loader ? 1U : 0U;
    edges += edge(take_id(), 2) ? 1U : 0U;
    edges += edge(take_id(), 3) ? 1U : 0U;
    take_id();
    take_id();
    take_u4();
    constants(edges);
    const std::uint32_t static_bytes = statics(row, edges);
    fields(row);
    classes_[row].super = super;
    classes_[row].has_loader = has_loader;
    classes_[row].is_dumped = true;
    add_node(id, Kind::class_object, row, static_bytes);
    heap.edge_count.push(edges);
  }

  void constants(std::uint32_t& edges) {
    for (std::uint32_t count = take_u2(); count > 0; --count) {
      take_u2();
      const std::uint8_t type = take_type();
      if (type == kObject) {
        edges += edge(take_id(), 4) ? 1U : 0U;
      } else {
        skip(value_bytes(type, id_bytes_));
      }
    }
  }

  std::uint32_t statics(std::uint32_t row, std::uint32_t& edges) {
    std::uint32_t total = 0;
    for (std::uint32_t count = take_u2(); count > 0; --count) {
      const std::uint64_t name = take_id();
      const std::uint8_t type = take_type();
      total += value_bytes(type, id_bytes_);
      if (type == kObject) {
        if (const std::uint64_t target = take_id(); target != 0)
          edges += edge(target, classes_.add_field(name, row)) ? 1U : 0U;
      } else {
        skip(value_bytes(type, id_bytes_));
      }
    }
    return total;
  }

  void fields(std::uint32_t row) {
    std::uint32_t offset = 0;
    OwnFields own;
    for (std::uint32_t count = take_u2(); count > 0; --count) {
      const std::uint64_t name = take_id();
      const std::uint8_t type = take_type();
      const std::uint32_t bytes = value_bytes(type, id_bytes_);
      if (type == kObject) classes_.add_own_reference(row, offset, classes_.add_field(name, row));
      (type == kObject ? own.references
       : bytes == 8    ? own.eights
       : bytes == 4    ? own.fours
       : bytes == 2    ? own.twos
                       : own.ones) += 1;
      offset += bytes;
    }
    classes_[row].own_bytes = offset;
    classes_[row].own = own;
  }

  std::uint8_t take_type() {
    need(1);
    have(1);
    const auto type = static_cast<std::uint8_t>(*p_);
    if (value_bytes(type, id_bytes_) == 0)
      fail_malformed("unknown type of a value: found " + hex(type) + ", expected 2 or 4 to 11", offset());
    ++p_;
    --left_;
    return type;
  }

  void instance() {
    const std::uint64_t id = take_id();
    take_u4();
    const std::uint64_t class_id = take_id();
    const std::uint32_t size = take_u4();
    need(size);
    if (class_id != last_class_ || last_class_ == 0) {
      last_row_ = classes_.row_of(class_id);
      last_class_ = class_id;
    }
    const std::uint32_t row = last_row_;
    if (row >= kMostClasses) fail(ErrorCode::limit, "too many classes: expected fewer than 2^30", record_);
    add_node(id, Kind::instance, row, 0);
    if (check_instance(row, size) != Summed::done) return wait_for_class(row, size);
    std::uint32_t edges = 0;
    const auto used = static_cast<std::size_t>(classes_[row].bytes);
    have(used);
    for (const ReferenceField& field : classes_.layout(row))
      edges += edge(read_id(p_ + field.offset), field.label) ? 1U : 0U;
    heap.edge_count.push(edges);
    skip(size);
  }

  void object_array() {
    const std::uint64_t id = take_id();
    take_u4();
    const std::uint32_t count = take_u4();
    const std::uint32_t row = classes_.row_of(take_id());
    if (row >= kMostClasses) fail(ErrorCode::limit, "too many classes: expected fewer than 2^30", record_);
    need(std::uint64_t{count} * id_bytes_);
    add_node(id, Kind::object_array, row, count);
    std::uint32_t edges = 0;
    for (std::uint32_t i = 0; i < count;) {
      have(id_bytes_);
      const auto here = static_cast<std::uint32_t>(
          std::min<std::size_t>(count - i, static_cast<std::size_t>(bytes_.end() - p_) / id_bytes_));
      for (const std::uint32_t end = i + here; i < end; ++i, p_ += id_bytes_)
        edges += edge(read_id(p_), kEdgeIsIndex | std::min(i, kEdgeLabel)) ? 1U : 0U;
    }
    left_ -= std::uint64_t{count} * id_bytes_;
    heap.edge_count.push(edges);
  }

  void primitive_array(bool with_values) {
    const std::uint64_t id = take_id();
    take_u4();
    const std::uint32_t count = take_u4();
    const std::uint8_t type = take_type();
    if (type == kObject)
      fail_malformed("array of objects among arrays of values: found type 2, expected 4 to 11", record_);
    if (with_values) skip(std::uint64_t{count} * value_bytes(type, id_bytes_));
    add_node(id, Kind::primitive_array, type, count);
    heap.edge_count.push(0);
  }

  void add_node(std::uint64_t id, Kind kind, std::uint32_t row, std::uint32_t length) {
    if (heap.id.size() >= std::numeric_limits<std::uint32_t>::max() - 1)
      fail(ErrorCode::limit, "too many objects: expected fewer than 2^32 - 1", record_);
    heap.id.push(id);
    heap.kind.push(pack_kind(kind, row));
    heap.length.push(length);
  }

  bool edge(std::uint64_t target, std::uint32_t label) {
    if (target == 0) return false;
    heap.target.push(target);
    heap.label.push(label);
    return true;
  }

  void wait_for_class(std::uint32_t row, std::uint32_t size) {
    if (waiting_bytes_.size() + size > kMostWaitingBytes)
      fail(ErrorCode::limit, "too many instances before their classes: expected at most 1 GiB of them", record_);
    heap.edge_count.push(0);
    waiting_.push({static_cast<std::uint32_t>(heap.id.size() - 1), row, size, record_});
    for (std::uint32_t rest = size; rest > 0;) {
      have(1);
      const auto here =
          static_cast<std::uint32_t>(std::min<std::size_t>(rest, static_cast<std::size_t>(bytes_.end() - p_)));
      waiting_bytes_.append(p_, here);
      p_ += here;
      left_ -= here;
      rest -= here;
    }
  }

  /// Whether the class of an instance of `size` bytes is known with all its ancestors, and agrees.
  Summed check_instance(std::uint32_t row, std::uint64_t size) {
    const Summed summed = classes_.sum(row);
    if (summed == Summed::circle) fail_malformed("class is an ancestor of itself", record_);
    if (summed == Summed::done && classes_[row].bytes > size)
      fail_malformed("instance too short: found " + std::to_string(size) + " bytes, its class has fields of " +
                         std::to_string(classes_[row].bytes),
                     record_);
    return summed;
  }

  struct Waiting {
    std::uint32_t node = 0;
    std::uint32_t class_row = 0;
    std::uint32_t size = 0;
    std::uint64_t offset = 0;
  };

  ByteWindow& bytes_;
  const std::uint32_t id_bytes_;
  ClassTable& classes_;
  Notes& notes_;
  const char* p_ = nullptr;
  std::uint64_t left_ = 0;    // of the record
  bool may_wrap_ = false;     // its length may be short by 2^32
  std::uint64_t record_ = 0;  // offset of the sub-record
  std::uint64_t last_class_ = 0;
  std::uint32_t last_row_ = 0;
  Chunks<Waiting> waiting_;
  Chunks<char> waiting_bytes_;
  std::string scratch_;
};

}  // namespace snapdiff::formats::hprof
