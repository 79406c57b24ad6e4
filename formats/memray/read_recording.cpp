#include "analyzer/base/printable.hpp"
#include "formats/input/record_cursor.hpp"
#include "formats/memray/event_counts.hpp"
#include "formats/memray/readers.hpp"

namespace snapdiff::formats::memray {
namespace {

constexpr std::uint32_t kOldestVersion = 10, kNewestVersion = 13;  // memray 1.7 to 1.20
constexpr std::uint32_t kFirstCompact = 12;                        // other record types, code objects
/// File versions before 12 number the allocators otherwise.
constexpr std::array<std::uint8_t, 16> kOldAllocators{0, 6, 5, 8, 7, 9, 10, 11, 12, 13, kMmap, kMunmap, 2, 3, 4, 1};

/// Reads a recording once, from front to back. A function that reads one record returns false if the
/// input ends within it.
class Reader {
 public:
  explicit Reader(Input& in) : at_(in), counts_(r_) {}

  Recording read() {
    header();
    compact_ = r_.version >= kFirstCompact;
    const int end = r_.aggregated ? 15 : compact_ ? 1 : 16;
    while (at_.next()) {
      const auto type = at_.raw<std::uint8_t>();
      if (type == end) return finished();
      if (type == 0) {  // a file that was not closed ends in zeros
        if (!at_.only_zeros()) at_.malformed("record not readable: found zeros, expected a record");
        break;
      }
      if (!(r_.aggregated ? record_of_sums(type) : compact_ ? record(type) : old_record(type))) break;
    }
    r_.facts.lose("the recording ends early: read up to its last whole record", at_.offset());
    return std::move(r_);
  }

 private:
  Recording finished() {
    if (!r_.aggregated && r_.records != counts_.events())
      r_.facts.notes.add(Severity::warning, "the header counts other allocations and frees than the file has");
    return std::move(r_);
  }

  void header() {
    if (at_.bytes(kMemrayMagic.size()) != kMemrayMagic)
      at_.malformed("no memray recording: expected \"memray\" and a zero in front");
    at_.room();
    r_.version = at_.raw<std::uint32_t>();
    if (!at_.whole()) at_.malformed("header not whole: the input ends, expected a file version");
    if (r_.version < kOldestVersion || r_.version > kNewestVersion) {
      fail(ErrorCode::unsupported,
           "memray file version " + std::to_string(r_.version) +
               ": expected 10 to 13 (memray 1.7 to 1.20); `memray transform csv --leaks` of the memray that wrote it "
               "makes what is read",
           kMemrayMagic.size());
    }
    if (!facts()) at_.malformed("header not whole: the input ends, expected a recording");
  }

  bool facts() {
    if (r_.version >= 12) r_.python_version = at_.raw<std::uint32_t>();
    r_.native = at_.raw<std::uint8_t>() != 0;
    const auto format = at_.raw<std::uint8_t>();
    if (format > 1) at_.malformed(instead("file format not readable", format, "0 or 1"));
    r_.aggregated = format == 1;
    r_.records = at_.raw<std::uint64_t>();
    at_.raw<std::uint64_t>();  // frames
    r_.start_ms = at_.raw<std::int64_t>();
    at_.room();
    r_.end_ms = at_.raw<std::int64_t>();
    const auto command = at_.whole() ? at_.text() : std::nullopt;
    if (!command) return false;
    r_.facts.command_line = *command;
    at_.room();
    r_.facts.pid = at_.raw<std::int32_t>();
    r_.main_thread = at_.raw<std::uint64_t>();
    r_.skipped_frames = at_.raw<std::uint64_t>();
    // Python's allocator; whether its calls are traced; whether objects are.
    for (std::uint32_t flags = 10; flags <= std::min(r_.version, 12U); ++flags) at_.raw<std::uint8_t>();
    if (!at_.whole()) return false;
    // The folders of the standard library, of packages, and those where modules are looked for: two lists.
    for (int lists = 0; r_.version >= 13 && lists < 3;) {
      const auto folder = at_.text();
      if (!folder) return false;
      if (lists == 0 || folder->empty()) ++lists;
    }
    return true;
  }

  bool record(std::uint8_t type) {
    if (type >= 128) return allocation(type);
    if (type >= 64) return frame_push();
    if (type >= 32) return object(type);
    if (type >= 16) return frame_pop((type & 15U) + 1);
    if (type == 2) return memory();
    return type == 14 ? code() : shared_record(type);
  }
  bool old_record(std::uint8_t type) {
    const unsigned flags = type >> 4U;
    switch (type & 15U) {
      case 1: return old_allocation(flags, false);
      case 2: return old_allocation(flags, true);
      case 3: return frame_names(last_frame_ += at_.delta());
      case 4: return frame_push();
      case 9: return frame_pop(flags + 1);
      case 11: return memory();
      default: return shared_record(type);
    }
  }
  bool record_of_sums(std::uint8_t type) {
    switch (type) {
      case 1: return memory_snapshot();
      case 2: return total();
      case 3: return python_node();
      case 4: return python_frame();
      case 13: return surviving_object();
      case 14: return code();
      default: return shared_record(type);
    }
  }
  bool shared_record(std::uint8_t type) {
    switch (type) {
      case 5: return native_node();
      case 6: return true;  // a new memory map follows
      case 7: return image();
      case 10: return thread_name();
      case 12: return thread();
      default: break;
    }
    std::string found;
    append_hex(found, static_cast<char>(type));
    at_.malformed("record not readable: found type 0x" + found + ", expected one of file version " +
                  std::to_string(r_.version));
  }

  // Allocations.

  std::uint64_t address(unsigned index) {
    if (index != 15) return recent_[(newest_ + index) % recent_.size()];
    last_address_ += at_.delta();
    newest_ = (newest_ + recent_.size() - 1) % recent_.size();
    return recent_[newest_] = last_address_ << 3U;
  }

  std::uint8_t allocator(unsigned number) const {
    const unsigned found = number > 15 ? 0 : compact_ ? number : kOldAllocators[number];
    if (found == 0) at_.malformed(instead("allocator not readable", number, "1 to 15"));
    return static_cast<std::uint8_t>(found);
  }

  bool allocation(unsigned flags) {
    const std::uint64_t where = address(flags >> 3U & 15U);
    const std::uint8_t by = allocator((flags & 7U) != 0 ? flags & 7U : at_.raw<std::uint8_t>());
    std::uint64_t native = 0, size = 0;
    if (!frees_a_block(by)) {
      if (r_.native) native = last_native_ += at_.delta();
      size = at_.number();
    }
    if (at_.whole()) counts_.take(by, where, size, native, at_.offset());
    return at_.whole();
  }
  bool old_allocation(unsigned number, bool with_native) {
    const std::uint64_t where = last_address_ += at_.delta();
    const std::uint8_t by = allocator(number);
    const std::uint64_t size = with_native || !frees_a_block(by) ? at_.number() : 0;
    const std::uint64_t native = with_native ? last_native_ += at_.delta() : 0;
    if (at_.whole()) counts_.take(by, where, size, native, at_.offset());
    return at_.whole();
  }

  /// A Python object was made or is gone.
  bool object(unsigned flags) {
    address(flags >> 1U & 15U);
    if (r_.native && (flags & 1U) != 0) last_native_ += at_.delta();
    return at_.whole();
  }

  bool surviving_object() {
    at_.number();
    if (r_.native) at_.number();
    return at_.whole();
  }

  /// Sums that memray made itself.
  bool total() {
    constexpr std::size_t kBytes = 9 * 8;
    const auto record = at_.bytes(kBytes);
    if (!record) return false;
    std::array<std::int64_t, kBytes / 8> field{};
    std::memcpy(field.data(), record->data(), kBytes);
    const auto python = static_cast<std::uint64_t>(field[3]), native = static_cast<std::uint64_t>(field[2]);
    Site site;
    site.allocator = allocator(static_cast<unsigned>(field[1] & 0xff));  // the other seven bytes have no meaning
    site.peak_count = field[5];
    site.count = field[6];
    site.peak_bytes = field[7];
    site.bytes = field[8];
    if ((site.peak_count | site.count | site.peak_bytes | site.bytes) < 0)
      at_.malformed("sum not readable: found one below 0 or beyond 2^63-1");
    if (python >= r_.python.size() || native >= r_.addresses.size())
      at_.malformed("stack out of range: found " + std::to_string(python) + " and " + std::to_string(native) +
                    ", expected below " + std::to_string(r_.python.size()) + " and " +
                    std::to_string(r_.addresses.size()));
    site.kept_peak = r_.peaks;
    site.python = static_cast<std::uint32_t>(python);
    site.native = static_cast<std::uint32_t>(native);
    site.thread = r_.threads.intern(static_cast<std::uint64_t>(field[0]));
    add_to(r_.peak_heap, site.peak_bytes, "bytes at the peak are", at_.offset());
    r_.sites.push_back(site);
    return true;
  }

  // Stacks.

  /// A text that outlives the window.
  bool named(StringId& out) {
    const auto found = at_.whole() ? at_.text() : std::nullopt;
    if (!found) return false;
    new_row(r_.strings.size());
    out = r_.strings.append(*found);
    at_.room();
    return true;
  }

  std::uint32_t frame_row(std::uint32_t code, std::int32_t instruction) {
    const std::uint64_t key = std::uint64_t{code} << 32U | static_cast<std::uint32_t>(instruction);
    const std::uint32_t row = r_.frame_ids.intern(key + 1);
    if (row == r_.frames.size()) r_.frames.push_back({.code = code, .instruction = instruction});
    return row;
  }
  std::uint32_t named_frame(std::uint64_t id) {
    const std::uint32_t row = r_.frame_ids.intern(id);
    if (row == r_.frames.size()) r_.frames.emplace_back();
    return row;
  }
  std::uint32_t code_row(std::uint64_t id) {
    const std::uint32_t row = r_.code_ids.intern(id);
    if (row == r_.codes.size()) r_.codes.emplace_back();
    return row;
  }

  bool frame_push() {
    const std::uint64_t id = compact_ ? at_.number() : last_frame_ += at_.delta();
    const auto instruction = static_cast<std::int32_t>(compact_ ? at_.delta() : 0);
    if (!at_.whole()) return false;
    counts_.push(compact_ ? frame_row(code_row(id), instruction) : named_frame(id));
    return true;
  }

  bool frame_pop(std::size_t count) {
    if (counts_.pop(count)) return true;
    at_.malformed("stack too short: found " + std::to_string(counts_.depth()) + " frames, expected at least " +
                  std::to_string(count));
  }

  bool frame_names(std::uint64_t id) {
    PythonFrame frame;
    if (!at_.whole() || !named(frame.function) || !named(frame.file)) return false;
    if (!r_.aggregated) {
      frame.line = static_cast<std::int32_t>(last_line_ += at_.delta());
    } else {
      frame.line = at_.raw<std::int32_t>();
      at_.raw<std::uint8_t>();  // whether C called it
    }
    if (!at_.whole()) return false;
    r_.frames[named_frame(id)] = frame;
    return true;
  }

  bool code() {
    const std::uint64_t id = at_.number();
    Code code;
    if (!at_.whole() || !named(code.function) || !named(code.file)) return false;
    code.first_line = static_cast<std::int32_t>(last_first_line_ += at_.delta());
    const std::uint64_t size = at_.number();
    const auto table = at_.whole() ? at_.bytes(size) : std::nullopt;
    if (!table) return false;
    code.line_table = *table;
    r_.codes[code_row(id)] = std::move(code);
    return true;
  }

  /// Of a file with sums, where frames and stacks have numbers.
  bool python_frame() {
    if (!compact_) return frame_names(at_.raw<std::uint64_t>());
    const std::uint64_t id = at_.number(), code = at_.number();
    const auto instruction = static_cast<std::int32_t>(at_.delta());
    at_.raw<std::uint8_t>();  // whether C called it
    if (!at_.whole()) return false;
    if (r_.frame_ids.find(id) != NumberRows::kAbsent)
      at_.malformed("frame not readable: found its number a second time");
    r_.frame_ids.intern(id);
    r_.frames.push_back({.code = code_row(code), .instruction = instruction});
    return true;
  }
  bool python_node() {
    const std::uint64_t frame = compact_ ? at_.number() : at_.raw<std::uint64_t>();
    const std::uint64_t parent = compact_ ? at_.number() : at_.raw<std::uint32_t>();
    if (!at_.whole()) return false;
    const std::uint32_t row = r_.frame_ids.find(frame);
    if (row == NumberRows::kAbsent || parent >= r_.python.size())
      at_.malformed("stack not readable: found frame " + std::to_string(frame) + " below stack " +
                    std::to_string(parent) + ", expected ones that came before");
    new_row(r_.python.size());
    r_.python.push_back({row, static_cast<std::uint32_t>(parent)});
    return true;
  }

  bool native_node() {
    last_ip_ += at_.delta();
    const std::uint64_t parent = last_native_ += at_.delta();
    if (!at_.whole()) return false;
    if (parent >= r_.addresses.size())
      at_.malformed("native stack not readable: found caller " + std::to_string(parent) + ", expected one below " +
                    std::to_string(r_.addresses.size()));
    new_row(r_.addresses.size());
    r_.addresses.push_back({last_ip_, static_cast<std::uint32_t>(parent)});
    return true;
  }

  bool image() {
    const auto name = at_.text();
    if (!name) return false;
    const auto file = static_cast<std::uint32_t>(r_.files.size());
    const auto [known, is_new] = file_rows_.try_emplace(std::string(*name), file);
    if (is_new) r_.files.push_back(known->first);
    at_.room();
    const std::uint64_t segments = at_.number();
    const auto base = at_.raw<std::uint64_t>();
    for (std::uint64_t i = 0; i < segments && at_.whole(); ++i) {
      at_.room();
      const bool fits = at_.raw<std::uint8_t>() == 8;
      if (at_.whole() && !fits) at_.malformed("segment not readable: expected type 0x08");
      const std::uint64_t start = base + at_.raw<std::uint64_t>();
      const std::uint64_t end = start + at_.number();
      if (at_.whole() && start < end) r_.add_image(start, {end, base, known->second});
    }
    return at_.whole();
  }

  // Threads and memory.

  bool thread() {
    const auto id = at_.raw<std::uint64_t>();
    if (at_.whole()) counts_.switch_to(id);
    return at_.whole();
  }
  bool thread_name() {
    const auto name = at_.text();
    if (name) r_.thread_names[counts_.thread()] = *name;
    return name.has_value();
  }
  bool memory() {
    const std::uint64_t rss = at_.number(), time = at_.number();
    if (at_.whole()) memory_is(rss, time);
    return at_.whole();
  }
  bool memory_snapshot() {
    const std::uint64_t time = at_.raw<std::uint64_t>() - static_cast<std::uint64_t>(r_.start_ms),
                        rss = at_.raw<std::uint64_t>();
    at_.raw<std::uint64_t>();  // the heap then
    if (at_.whole()) memory_is(rss, time);
    return at_.whole();
  }
  void memory_is(std::uint64_t rss, std::uint64_t time) {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 62;
    if (rss >= kMost || time >= kMost) at_.malformed("resident size or time not readable: found one beyond 2^62");
    r_.rss = static_cast<std::int64_t>(rss);
    r_.rss_peak = std::max(r_.rss_peak, r_.rss);
    r_.time_ms = static_cast<std::int64_t>(time);
  }

  RecordCursor at_;
  Recording r_;
  EventCounts counts_;
  bool compact_ = false;
  std::uint64_t last_address_ = 0, last_native_ = 0, last_ip_ = 0, last_frame_ = 0, last_line_ = 0;
  std::uint64_t last_first_line_ = 0;
  std::array<std::uint64_t, 16> recent_{};  ///< 15 are used; a power of two turns more easily
  std::size_t newest_ = 0;
  std::unordered_map<std::string, std::uint32_t, KeyedHash> file_rows_;
};

}  // namespace

void read_recording(Input& in, SnapshotSink& out, const ReadRequest& request) {
  const bool at_peak = request.point == "peak";
  if (!at_peak && !request.point.empty() && request.point != "end" && request.point != "last")
    fail(ErrorCode::usage, "no point '" + request.point + "': expected end or peak");
  give(out, make_snapshot(Reader(in).read(), at_peak));
}

}  // namespace snapdiff::formats::memray
