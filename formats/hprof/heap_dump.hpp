#pragma once

#include <cstring>
#include <deque>

#include "formats/hprof/classes.hpp"
#include "formats/input/byte_window.hpp"

namespace snapdiff::formats::hprof {

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

/// A column of unknown length: blocks of growing size, so that it never moves while it grows, and
/// gives each block back as it is read. A vector that doubles would need up to three times the memory here.
template <class T>
class Chunks {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  std::size_t size() const { return size_; }

  void push(T value) {
    if (next_ == end_) add_block();
    *next_++ = value;
    ++size_;
  }

  void append(const T* values, std::size_t count) {
    size_ += count;
    while (count > 0) {
      if (next_ == end_) add_block();
      const std::size_t here = std::min(count, static_cast<std::size_t>(end_ - next_));
      std::copy_n(values, here, next_);
      next_ += here;
      values += here;
      count -= here;
    }
  }

  /// The first value that was not yet taken; there must be one. Only once everything is in.
  T take_front() {
    if (front_ == front_end_) next_front();
    --size_;
    return *front_++;
  }

  /// All values, moved into a vector without a second copy of the whole.
  std::vector<T> take_all() {
    std::vector<T> out;
    out.reserve(size_);
    while (size_ > 0) {
      if (front_ == front_end_) next_front();
      const std::size_t here = std::min(size_, static_cast<std::size_t>(front_end_ - front_));
      out.insert(out.end(), front_, front_ + here);
      front_ += here;
      size_ -= here;
    }
    blocks_.clear();
    return out;
  }

 private:
  // Blocks beyond 32 MiB are mapped by the C library, so that freeing one gives it back to the system.
  static constexpr std::size_t kFirstBlock = std::size_t{1024};
  static constexpr std::size_t kLastBlock = (std::size_t{36} << 20) / sizeof(T);
  struct Block {
    std::unique_ptr<T[]> values;
    std::size_t size = 0;
  };

  void add_block() {
    const std::size_t size = std::clamp(size_, kFirstBlock, kLastBlock);
    blocks_.push_back(Block{std::make_unique_for_overwrite<T[]>(size), size});
    next_ = blocks_.back().values.get();
    end_ = next_ + size;
  }
  void next_front() {
    if (front_end_ != nullptr) blocks_.pop_front();
    front_ = blocks_.front().values.get();
    front_end_ = front_ + blocks_.front().size;
  }

  std::deque<Block> blocks_;
  T* next_ = nullptr;  // in the last block
  T* end_ = nullptr;
  T* front_ = nullptr;  // in the first block, once reading has begun
  T* front_end_ = nullptr;
  std::size_t size_ = 0;
};

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
  void read(const char*& p, std::uint32_t length, bool may_wrap);

  /// Instances that waited for their class.
  void finish();

  RawHeap heap;

 private:
  std::uint64_t offset() const { return bytes_.offset_of(p_); }
  /// Accounts for `size` bytes of the record that are about to be consumed.
  void need(std::uint64_t size) {
    if (size > left_) [[unlikely]]
      need_wrap(size);
  }
  void need_wrap(std::uint64_t size);
  void have(std::size_t size) {
    if (!bytes_.ensure(p_, size)) truncated();
  }
  [[noreturn]] void truncated();
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
  void skip(std::uint64_t size);
  void sub_record(std::uint8_t tag);
  void root(std::uint8_t tag, std::uint32_t more);
  void class_dump();
  void constants(std::uint32_t& edges);
  std::uint32_t statics(std::uint32_t row, std::uint32_t& edges);
  void fields(std::uint32_t row);
  std::uint8_t take_type();
  void instance();
  void object_array();
  void primitive_array(bool with_values);
  void add_node(std::uint64_t id, Kind kind, std::uint32_t row, std::uint32_t length);
  bool edge(std::uint64_t target, std::uint32_t label);
  void wait_for_class(std::uint32_t row, std::uint32_t size);
  Summed check_instance(std::uint32_t row, std::uint64_t size);

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
