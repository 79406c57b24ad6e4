#include <cstring>
#include <deque>
#include <optional>

#include "formats/input/byte_window.hpp"
#include "formats/input/read_failure.hpp"
#include "formats/memray/readers.hpp"
#include "formats/memray/recording.hpp"
#include "snapdiff/hash.hpp"
#include "snapdiff/hash_index.hpp"
#include "snapdiff/printable.hpp"

namespace snapdiff::formats::memray {
namespace {

constexpr std::uint32_t kOldestVersion = 10, kNewestVersion = 13;  // memray 1.7 to 1.20
constexpr std::uint32_t kFirstCompact = 12;                        // other record types, code objects
/// Names and tables of real programs have some KB.
constexpr std::size_t kMostTextBytes = std::size_t{1} << 24;
constexpr std::size_t kMostRows = kNoRow - 1;
constexpr std::size_t kRecentAddresses = 16;  // 15 are used; a power of two turns more easily
/// File versions before 12 number the allocators otherwise.
constexpr std::array<std::uint8_t, 16> kOldAllocators{0, 6, 5, 8, 7, 9, 10, 11, 12, 13, kMmap, kMunmap, 2, 3, 4, 1};

/// What a record is, whatever the file version.
enum class Kind : std::uint8_t {
  unknown,
  padding,
  trailer,
  allocation,
  native_allocation,
  object,
  frame_push,
  frame_pop,
  frame_names,
  code,
  native_node,
  map_start,
  image,
  thread_name,
  thread,
  memory,
  memory_snapshot,
  python_frame,
  python_node,
  total,
  surviving_object
};

constexpr Kind kOldKinds[] = {Kind::padding,    Kind::allocation,  Kind::native_allocation, Kind::frame_names,
                              Kind::frame_push, Kind::native_node, Kind::map_start,         Kind::image,
                              Kind::unknown,    Kind::frame_pop,   Kind::thread_name,       Kind::memory,
                              Kind::thread,     Kind::unknown,     Kind::unknown,           Kind::unknown};
constexpr Kind kCompactKinds[] = {Kind::padding, Kind::trailer,     Kind::memory,      Kind::unknown,
                                  Kind::unknown, Kind::native_node, Kind::map_start,   Kind::image,
                                  Kind::unknown, Kind::unknown,     Kind::thread_name, Kind::unknown,
                                  Kind::thread,  Kind::unknown,     Kind::code,        Kind::unknown};
constexpr Kind kTotalKinds[] = {Kind::padding,      Kind::memory_snapshot,  Kind::total,       Kind::python_node,
                                Kind::python_frame, Kind::native_node,      Kind::map_start,   Kind::image,
                                Kind::unknown,      Kind::unknown,          Kind::thread_name, Kind::unknown,
                                Kind::thread,       Kind::surviving_object, Kind::code,        Kind::trailer};

/// Reads a recording once, from front to back.
class Reader {
 public:
  explicit Reader(Input& in) : window_(in) { r_.threads.intern(0); }

  Recording read() {
    header();
    compact_ = r_.version >= kFirstCompact;
    while (window_.ensure(p_, ByteWindow::kPadding), p_ < window_.end()) {
      offset_ = window_.offset_of(p_);
      const auto type = static_cast<std::uint8_t>(*p_++);
      const Kind kind = kind_of(type);
      if (kind == Kind::trailer) {
        if (!r_.aggregated && r_.records != events_) {
          r_.facts.notes.add(Severity::warning, "the header counts other allocations and frees than the file has");
        }
        return std::move(r_);
      }
      if (kind == Kind::padding) {
        padding();
        break;
      }
      if (!record(kind, type)) break;
    }
    r_.facts.lose("the recording ends early: read up to its last whole record", offset_);
    return std::move(r_);
  }

 private:
  [[noreturn]] void malformed(std::string text) const { fail_malformed(std::move(text), offset_); }

  // Parts of records. Behind the end of the input lie zeros: whole() says afterwards whether all of it was there.

  bool whole() const { return p_ <= window_.end(); }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<std::uint8_t>(*p_++);
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
    malformed("number not readable: found more than 10 bytes, expected the last one to be below 0x80");
  }
  std::uint64_t signed_varint() {
    const std::uint64_t value = varint();
    return (value >> 1) ^ (0 - (value & 1));
  }
  template <class T>
  T raw() {
    T value;
    std::memcpy(&value, p_, sizeof value);
    p_ += sizeof value;
    return value;
  }

  /// `size` bytes, valid until the next record or text; nothing where the input ends before.
  std::optional<std::string_view> bytes(std::uint64_t size) {
    if (size > kMostTextBytes)
      malformed("text too long: found " + std::to_string(size) + " bytes, expected up to 16 MiB");
    if (!window_.ensure(p_, size)) return std::nullopt;
    const std::string_view found(p_, size);
    p_ += size;
    return found;
  }
  std::optional<std::string_view> text() {
    for (std::size_t wanted = ByteWindow::kPadding;; wanted *= 2) {
      const bool more = window_.ensure(p_, wanted);
      const auto size = std::min(static_cast<std::size_t>(window_.end() - p_), kMostTextBytes);
      const void* const end = whole() ? std::memchr(p_, 0, size) : nullptr;
      if (end != nullptr) {
        const std::string_view found(p_, static_cast<std::size_t>(static_cast<const char*>(end) - p_));
        p_ += found.size() + 1;
        return found;
      }
      if (!more || !whole()) return std::nullopt;
      if (size == kMostTextBytes) malformed("text too long: found no end, expected one within 16 MiB");
    }
  }
  /// A text in Recording::strings, for what has to outlive the window.
  bool named(StringId& out) {
    const auto found = text();
    if (!found) return false;
    if (r_.strings.size() >= kMostRows) table_full();
    out = r_.strings.append(*found);
    window_.ensure(p_, ByteWindow::kPadding);
    return true;
  }
  [[noreturn]] void table_full() const {
    fail(ErrorCode::limit, "table is full: more than 4 294 967 294 entries of one kind", offset_);
  }

  void header() {
    constexpr std::size_t kFixed = 7 + 4;
    const bool enough = window_.ensure(p_, ByteWindow::kPadding) || window_.end() - p_ >= std::ptrdiff_t{kFixed};
    if (!enough || std::string_view(p_, kMemrayMagic.size()) != kMemrayMagic) {
      malformed("no memray recording: expected \"memray\", a zero and a version in front");
    }
    p_ += kMemrayMagic.size();
    r_.version = raw<std::uint32_t>();
    if (r_.version < kOldestVersion || r_.version > kNewestVersion) {
      fail(ErrorCode::unsupported,
           "memray file version " + std::to_string(r_.version) +
               ": expected 10 to 13 (memray 1.7 to 1.20); `memray transform csv --leaks` of the memray that wrote it "
               "makes what is read",
           kMemrayMagic.size());
    }
    if (!facts()) malformed("header not whole: the input ends, expected a recording");
  }

  bool facts() {
    if (r_.version >= 12) r_.python_version = raw<std::uint32_t>();
    r_.native = raw<std::uint8_t>() != 0;
    const auto format = raw<std::uint8_t>();
    if (format > 1) malformed("file format not readable: found " + std::to_string(format) + ", expected 0 or 1");
    r_.aggregated = format == 1;
    r_.records = raw<std::uint64_t>();
    raw<std::uint64_t>();  // frames
    r_.start_ms = raw<std::int64_t>();
    window_.ensure(p_, ByteWindow::kPadding);
    r_.end_ms = raw<std::int64_t>();
    const auto command = whole() ? text() : std::nullopt;
    if (!command) return false;
    r_.facts.command_line = *command;
    window_.ensure(p_, ByteWindow::kPadding);
    r_.facts.pid = raw<std::int32_t>();
    r_.main_thread = raw<std::uint64_t>();
    r_.skipped_frames = raw<std::uint64_t>();
    p_ += 1 + (r_.version >= 11 ? 1 : 0) + (r_.version >= 12 ? 1 : 0);  // Python's allocator; what is tracked
    if (!whole()) return false;
    // The folders of the standard library, of packages, and those where modules are looked for: two lists.
    for (int lists = 0; r_.version >= 13 && lists < 3;) {
      const auto folder = text();
      if (!folder) return false;
      if (lists == 0 || folder->empty()) ++lists;
    }
    return true;
  }

  Kind kind_of(std::uint8_t type) const {
    if (r_.aggregated) return type < 16 ? kTotalKinds[type] : Kind::unknown;
    if (!compact_ && (type & 15U) == 0 && type != 0) return type == 0x10 ? Kind::trailer : Kind::unknown;
    if (!compact_) return kOldKinds[type & 15U];
    if (type >= 128) return Kind::allocation;
    if (type >= 64) return Kind::frame_push;
    if (type >= 32) return Kind::object;
    return type >= 16 ? Kind::frame_pop : kCompactKinds[type];
  }

  /// One record behind its type; false where the input ends within it.
  bool record(Kind kind, std::uint8_t type) {
    const unsigned flags = compact_ ? type : type >> 4U;
    switch (kind) {
      case Kind::allocation:
      case Kind::native_allocation: return allocation(kind, flags);
      case Kind::frame_push: return frame_push();
      case Kind::frame_pop: return frame_pop((flags & 15U) + 1);
      case Kind::object: return object(flags);
      case Kind::frame_names: return frame_names(last_frame_ += signed_varint(), true);
      case Kind::code: return code();
      case Kind::native_node: return native_node();
      case Kind::map_start: return true;
      case Kind::image: return image();
      case Kind::thread_name: return thread_name();
      case Kind::thread: return thread();
      case Kind::memory: return memory();
      case Kind::memory_snapshot: return memory_snapshot();
      case Kind::python_frame: return python_frame();
      case Kind::python_node: return python_node();
      case Kind::total: return total();
      case Kind::surviving_object:
        varint();
        if (r_.native) varint();
        return whole();
      default: break;
    }
    std::string found;
    append_hex(found, static_cast<char>(type));
    malformed("record not readable: found type 0x" + found + ", expected one of file version " +
              std::to_string(r_.version));
  }

  /// A file that was not closed ends in zeros.
  void padding() {
    do {
      while (p_ < window_.end() && *p_ == 0) ++p_;
    } while (p_ == window_.end() && window_.ensure(p_, 1));
    if (p_ < window_.end()) malformed("record not readable: found zeros, expected a record");
  }

  // Allocations.

  std::uint64_t address(unsigned index) {
    if (index != 15) return recent_[(newest_ + index) % kRecentAddresses];
    last_address_ += signed_varint();
    newest_ = (newest_ + kRecentAddresses - 1) % kRecentAddresses;
    return recent_[newest_] = last_address_ << 3U;
  }

  std::uint8_t allocator(unsigned number) const {
    const unsigned found = number > 15 ? 0 : compact_ ? number : kOldAllocators[number];
    if (found == 0) malformed("allocator not readable: found " + std::to_string(number) + ", expected 1 to 15");
    return static_cast<std::uint8_t>(found);
  }

  bool allocation(Kind kind, unsigned flags) {
    std::uint64_t at = 0, size = 0, native = 0;
    std::uint8_t by = 0;
    if (compact_) {
      at = address(flags >> 3U & 15U);
      by = allocator((flags & 7U) != 0 ? flags & 7U : raw<std::uint8_t>());
      if (!frees_a_block(by)) {
        if (r_.native) native = last_native_ += signed_varint();
        size = varint();
      }
    } else {
      at = last_address_ += signed_varint();
      by = allocator(flags);
      if (kind == Kind::native_allocation || !frees_a_block(by)) size = varint();
      if (kind == Kind::native_allocation) native = last_native_ += signed_varint();
    }
    if (!whole()) return false;
    event(by, at, size, native);
    return true;
  }

  void event(std::uint8_t by, std::uint64_t address, std::uint64_t unsigned_size, std::uint64_t native) {
    const auto size = static_cast<std::int64_t>(unsigned_size);
    const std::uint64_t end = std::max(address, address + unsigned_size);
    if (size < 0 && by != kMunmap) {  // which is recorded before the kernel refuses it
      malformed("size not readable: found " + std::to_string(unsigned_size) + ", expected one below 2^63");
    }
    ++events_;
    const auto changed = [this](std::uint32_t row, std::int64_t count, std::int64_t bytes) {
      r_.change(r_.sites[row], count, -bytes);
    };
    if (frees_a_block(by)) {
      // What was allocated before the recording is freed too.
      if (const Block gone = blocks_.take(address); gone.row != kNoRow) r_.change(r_.sites[gone.row], -1, -gone.size);
    } else if (by == kMunmap) {
      ranges_.remove(address, end, changed);
    } else {
      const std::uint32_t row = site(by, native);
      Site& made = r_.sites[row];
      if (!checked_add(r_.allocated_bytes, size, r_.allocated_bytes)) {
        fail(ErrorCode::limit, "bytes ever allocated are beyond 2^63-1, expected them to fit in 64 bits", offset_);
      }
      ++r_.allocations[by];
      ++made.made_count;
      made.made_bytes += size;
      if (by != kMmap) {
        r_.change(made, 1, size);
        if (const Block former = blocks_.put({address, size, row}); former.row != kNoRow) {
          r_.facts.notes.add(Severity::warning, "block at an address that was not free: the former one counts as freed",
                             offset_);
          r_.change(r_.sites[former.row], -1, -former.size);
        }
      } else if (end > address) {
        r_.change(made, 1, static_cast<std::int64_t>(end - address));
        ranges_.add(address, end, row, changed);
      }
    }
    r_.look_for_peak();
  }

  /// The row for an allocation here and now. The one before at this Python stack is mostly the same.
  std::uint32_t site(std::uint8_t by, std::uint64_t native) {
    if (native >= r_.addresses.size()) {
      r_.facts.notes.add(Severity::data_loss, "native stack out of range: left out", offset_);
      native = 0;
    }
    const std::uint32_t python = stack_->empty() ? 0 : stack_->back();
    const auto fits = [&](std::uint32_t row) {
      const Site& s = r_.sites[row];
      return s.python == python && s.native == native && s.thread == thread_ && s.allocator == by;
    };
    std::uint32_t& last = node_site_[python];
    if (last != kNoRow && fits(last)) return last;
    const std::uint64_t hash =
        keyed_hash(Hash128{std::uint64_t{python} << 32U | native, std::uint64_t{thread_} << 8U | by});
    last = site_rows_.find(hash, fits);
    if (last != HashIndex::kAbsent) return last;
    if (r_.sites.size() >= kMostRows) table_full();
    last = static_cast<std::uint32_t>(r_.sites.size());
    site_rows_.insert(hash, last);
    Site made;
    made.python = python;
    made.native = static_cast<std::uint32_t>(native);
    made.thread = thread_;
    made.allocator = by;
    r_.sites.push_back(made);
    return last;
  }

  bool object(unsigned flags) {
    address(flags >> 1U & 15U);
    if (r_.native && (flags & 1U) != 0) last_native_ += signed_varint();
    return whole();
  }

  /// Sums that memray made itself.
  bool total() {
    if (!window_.ensure(p_, 72)) return false;
    const auto thread = raw<std::uint64_t>();
    const std::uint8_t by =
        allocator(static_cast<unsigned>(raw<std::uint64_t>() & 0xff));  // seven bytes have no meaning
    const auto native = raw<std::uint64_t>(), python = raw<std::uint64_t>();
    raw<std::uint64_t>();  // generation of the memory map
    Site site;
    site.peak_count = raw<std::int64_t>();
    site.count = raw<std::int64_t>();
    site.peak_bytes = raw<std::int64_t>();
    site.bytes = raw<std::int64_t>();
    if ((site.peak_count | site.count | site.peak_bytes | site.bytes) < 0) {
      malformed("sum not readable: found one below 0 or beyond 2^63-1");
    }
    if (python >= r_.python.size() || native >= r_.addresses.size()) {
      malformed("stack out of range: found " + std::to_string(python) + " and " + std::to_string(native) +
                ", expected below " + std::to_string(r_.python.size()) + " and " + std::to_string(r_.addresses.size()));
    }
    site.kept_peak = r_.peaks;
    site.python = static_cast<std::uint32_t>(python);
    site.native = static_cast<std::uint32_t>(native);
    site.thread = r_.threads.intern(thread);
    site.allocator = by;
    if (!checked_add(r_.peak_heap, site.peak_bytes, r_.peak_heap)) {
      fail(ErrorCode::limit, "bytes at the peak are beyond 2^63-1, expected them to fit in 64 bits", offset_);
    }
    r_.sites.push_back(site);
    return true;
  }

  // Stacks.

  std::uint32_t frame_row(std::uint32_t code, std::int32_t instruction) {
    const std::uint64_t key = std::uint64_t{code} << 32U | static_cast<std::uint32_t>(instruction);
    const std::uint32_t row = r_.frame_ids.intern(key + 1);
    if (row == r_.frames.size()) r_.frames.push_back({.code = code, .instruction = instruction});
    return row;
  }
  std::uint32_t code_row(std::uint64_t id) {
    const std::uint32_t row = r_.code_ids.intern(id);
    if (row == r_.codes.size()) r_.codes.emplace_back();
    return row;
  }

  bool frame_push() {
    std::uint32_t frame = 0;
    const std::uint32_t parent = stack_->empty() ? 0 : stack_->back();
    if (compact_) {
      const std::uint64_t id = varint();
      const auto instruction = static_cast<std::int32_t>(signed_varint());
      if (!whole()) return false;
      frame = frame_row(code_row(id), instruction);
    } else {
      const std::uint64_t id = last_frame_ += signed_varint();
      if (!whole()) return false;
      frame = r_.frame_ids.intern(id);
      if (frame == r_.frames.size()) r_.frames.emplace_back();
    }
    stack_->push_back(node(parent, frame));
    return true;
  }

  std::uint32_t node(std::uint32_t parent, std::uint32_t frame) {
    const auto fits = [&](std::uint32_t row) {
      return r_.python[row].parent == parent && r_.python[row].what == frame;
    };
    if (const std::uint32_t last = last_child_[parent]; last != 0 && fits(last)) return last;
    const std::uint64_t key = std::uint64_t{parent} << 32U | frame;
    std::uint32_t row = node_rows_.find(key, fits);
    if (row == HashIndex::kAbsent) {
      row = new_node(frame, parent);
      node_rows_.insert(key, row);
    }
    return last_child_[parent] = row;
  }
  std::uint32_t new_node(std::uint32_t frame, std::uint32_t parent) {
    if (r_.python.size() >= kMostRows) table_full();
    r_.python.push_back({frame, parent});
    node_site_.push_back(kNoRow);
    const auto row = static_cast<std::uint32_t>(last_child_.size());
    last_child_.push_back(0);
    return row;
  }

  bool frame_pop(std::size_t count) {
    if (count > stack_->size()) {
      malformed("stack too short: found " + std::to_string(stack_->size()) + " frames, expected at least " +
                std::to_string(count));
    }
    stack_->resize(stack_->size() - count);
    return true;
  }

  /// `in_deltas`: the line is one; else it is raw, and a flag follows.
  bool frame_names(std::uint64_t id, bool in_deltas) {
    PythonFrame frame;
    if (!whole() || !named(frame.function) || !named(frame.file)) return false;
    if (in_deltas) {
      frame.line = static_cast<std::int32_t>(last_line_ += signed_varint());
    } else {
      frame.line = raw<std::int32_t>();
      ++p_;
    }
    if (!whole()) return false;
    const std::uint32_t row = r_.frame_ids.intern(id);
    if (row == r_.frames.size()) r_.frames.emplace_back();
    r_.frames[row] = frame;
    return true;
  }

  bool code() {
    const std::uint64_t id = varint();
    Code code;
    if (!whole() || !named(code.function) || !named(code.file)) return false;
    code.first_line = static_cast<std::int32_t>(last_first_line_ += signed_varint());
    const std::uint64_t size = varint();
    const auto table = whole() ? bytes(size) : std::nullopt;
    if (!table) return false;
    code.line_table = *table;
    r_.codes[code_row(id)] = std::move(code);
    return true;
  }

  /// Of a file with sums, where frames and stacks have numbers.
  bool python_frame() {
    if (!compact_) return frame_names(raw<std::uint64_t>(), false);
    const std::uint64_t id = varint(), code = varint();
    const auto instruction = static_cast<std::int32_t>(signed_varint());
    ++p_;  // whether C called it
    if (!whole()) return false;
    if (r_.frame_ids.find(id) != NumberRows::kAbsent) malformed("frame not readable: found its number a second time");
    r_.frame_ids.intern(id);
    r_.frames.push_back({.code = code_row(code), .instruction = instruction});
    return true;
  }
  bool python_node() {
    const std::uint64_t frame = compact_ ? varint() : raw<std::uint64_t>();
    const std::uint64_t parent = compact_ ? varint() : raw<std::uint32_t>();
    if (!whole()) return false;
    const std::uint32_t row = r_.frame_ids.find(frame);
    if (row == NumberRows::kAbsent || parent >= r_.python.size()) {
      malformed("stack not readable: found frame " + std::to_string(frame) + " below stack " + std::to_string(parent) +
                ", expected ones that came before");
    }
    new_node(row, static_cast<std::uint32_t>(parent));
    return true;
  }

  bool native_node() {
    last_ip_ += signed_varint();
    const std::uint64_t parent = last_native_ += signed_varint();
    if (!whole()) return false;
    if (parent >= r_.addresses.size()) {
      malformed("native stack not readable: found caller " + std::to_string(parent) + ", expected one below " +
                std::to_string(r_.addresses.size()));
    }
    if (r_.addresses.size() >= kMostRows) table_full();
    r_.addresses.push_back({last_ip_, static_cast<std::uint32_t>(parent)});
    return true;
  }

  bool image() {
    const auto name = text();
    if (!name) return false;
    const auto file = static_cast<std::uint32_t>(r_.files.size());
    const auto [known, is_new] = file_rows_.try_emplace(std::string(*name), file);
    if (is_new) r_.files.push_back(known->first);
    window_.ensure(p_, ByteWindow::kPadding);
    const std::uint64_t segments = varint();
    const auto base = raw<std::uint64_t>();
    for (std::uint64_t i = 0; i < segments && whole(); ++i) {
      window_.ensure(p_, ByteWindow::kPadding);
      if (p_ < window_.end() && *p_ != 8) malformed("segment not readable: expected type 0x08");
      ++p_;
      const std::uint64_t start = base + raw<std::uint64_t>();
      const std::uint64_t end = start + varint();
      if (whole() && start < end) r_.add_image(start, {end, base, known->second});
    }
    return whole();
  }

  // Threads and memory.

  bool thread() {
    const auto id = raw<std::uint64_t>();
    if (whole()) switch_to(id);
    return whole();
  }
  void switch_to(std::uint64_t id) {
    thread_ = r_.threads.intern(id);
    if (thread_ == stacks_.size()) stacks_.emplace_back();
    stack_ = &stacks_[thread_];
  }
  bool thread_name() {
    const auto name = text();
    if (name) r_.thread_names[r_.threads.numbers()[thread_]] = *name;
    return name.has_value();
  }
  bool memory() {
    const std::uint64_t rss = varint(), time = varint();
    if (whole()) memory_is(rss, time);
    return whole();
  }
  bool memory_snapshot() {
    const std::uint64_t time = raw<std::uint64_t>() - static_cast<std::uint64_t>(r_.start_ms),
                        rss = raw<std::uint64_t>();
    p_ += 8;  // the heap then
    if (whole()) memory_is(rss, time);
    return whole();
  }
  void memory_is(std::uint64_t rss, std::uint64_t time) {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 62;
    if (rss >= kMost || time >= kMost) malformed("resident size or time not readable: found one beyond 2^62");
    r_.rss = static_cast<std::int64_t>(rss);
    r_.rss_peak = std::max(r_.rss_peak, r_.rss);
    r_.time_ms = static_cast<std::int64_t>(time);
  }

  ByteWindow window_;
  const char* p_ = nullptr;
  std::uint64_t offset_ = 0;  ///< of the record
  Recording r_;
  bool compact_ = false;
  std::uint64_t events_ = 0;
  std::uint64_t last_address_ = 0, last_native_ = 0, last_ip_ = 0, last_frame_ = 0, last_line_ = 0,
                last_first_line_ = 0;
  std::array<std::uint64_t, kRecentAddresses> recent_{};
  std::size_t newest_ = 0;

  LiveBlocks blocks_;
  LiveRanges ranges_;
  HashIndex site_rows_, node_rows_;
  std::vector<std::uint32_t> node_site_{kNoRow}, last_child_{0};  ///< by node of Recording::python
  std::deque<std::vector<std::uint32_t>> stacks_{1};              ///< by thread: nodes, the root first
  std::vector<std::uint32_t>* stack_ = &stacks_[0];
  std::uint32_t thread_ = 0;
  std::unordered_map<std::string, std::uint32_t, KeyedHash> file_rows_;
};

}  // namespace

void read_recording(Input& in, SnapshotSink& out, const ReadRequest& request) {
  const bool at_peak = request.point == "peak";
  if (!at_peak && !request.point.empty() && request.point != "end" && request.point != "last") {
    fail(ErrorCode::usage, "no point '" + request.point + "': expected end or peak");
  }
  give(out, make_snapshot(Reader(in).read(), at_peak));
}

}  // namespace snapdiff::formats::memray
