#include <cmath>

#include "formats/heaptrack/heap_recording.hpp"
#include "formats/heaptrack/line_of_hex.hpp"
#include "formats/input/all_formats.hpp"
#include "formats/text/scan.hpp"

namespace snapdiff::formats {
namespace {

using namespace heaptrack;

inline constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

/// Where a recording is cut.
///   end           after the last event
///   peak          when most bytes were live; the first such moment
///   after_events  after `number` allocations and frees
///   at_time       at the first time stamp of at least `number` milliseconds
///   first_stamp   at the first time stamp after an event
///   every_events, every_time   again and again, and at the end
struct Moment {
  enum class Kind : std::uint8_t { end, peak, after_events, at_time, first_stamp, every_events, every_time };
  Kind kind = Kind::end;
  std::uint64_t number = 0;
  bool is_series() const { return kind == Kind::every_events || kind == Kind::every_time; }
};

using Kind = Moment::Kind;

[[noreturn]] void no_point(const std::string& point) {
  fail(ErrorCode::usage, "no point '" + point +
                             "': expected end, peak, first, 12.5s, 500ms, a number of events, every:500ms or "
                             "every:1000 (events)");
}

/// "12.5s" or "500ms" in milliseconds.
std::optional<std::uint64_t> milliseconds(std::string_view text) {
  constexpr double kMost = 1e15;
  double factor = 1000;
  if (text.size() > 2 && text.substr(text.size() - 2) == "ms") {
    factor = 1;
    text.remove_suffix(2);
  } else if (text.size() > 1 && text.back() == 's') {
    text.remove_suffix(1);
  } else {
    return std::nullopt;
  }
  double value = 0;
  if (!text::parse_whole(text, value) || !(value >= 0 && value * factor < kMost)) return std::nullopt;
  return static_cast<std::uint64_t>(std::llround(value * factor));
}

/// "end", "last", "peak", "first", "1200" (events), "12.5s", "500ms", "every:1000", "every:500ms", "every:2s".
/// Throws Failure: usage.
Moment parse_moment(const std::string& point) {
  constexpr std::string_view kEvery = "every:";
  if (point == "end" || point == "last") return Moment{Kind::end};
  if (point == "peak") return Moment{Kind::peak};
  if (point == "first") return Moment{Kind::first_stamp};
  const bool every = point.starts_with(kEvery);
  const std::string_view number = every ? std::string_view(point).substr(kEvery.size()) : std::string_view(point);
  if (const auto time = milliseconds(number)) {
    if (every && *time == 0) no_point(point);
    return Moment{every ? Kind::every_time : Kind::at_time, *time};
  }
  const auto events = text::whole_number(number);
  if (!events || (every && *events == 0)) no_point(point);
  return Moment{every ? Kind::every_events : Kind::after_events, static_cast<std::uint64_t>(*events)};
}

constexpr std::string_view kBadEvent = "event that names no allocation of this file, skipped";
constexpr std::string_view kFreedTwice = "free of a block that is not live, skipped";
constexpr std::string_view kCutShort = "the recording ends early: read up to its last whole line";
constexpr std::size_t kLongLine = std::size_t{1} << 19;

[[noreturn]] void too_many_live(std::uint64_t offset) {
  fail(ErrorCode::limit, "live bytes are beyond 2^63-1, expected them to fit in 64 bits", offset);
}

/// Reads the lines of one recording in a single pass and hands out the snapshots of `moment`.
///
/// What was live at the peak is known only when the last event was read. So that nothing is copied at each new
/// peak (there may be millions), a row keeps the number it had at the peak when it changes for the first time
/// after it: `at_peak_`.
class EventReader {
 public:
  EventReader(Input& in, SnapshotSink& out, Moment moment) : in_(in), out_(out), moment_(moment) {}

  /// Throws Failure, as Format::decode.
  void read() {
    if (moment_.kind == Kind::after_events || moment_.kind == Kind::every_events) next_event_ = moment_.number;
    if (moment_.kind == Kind::at_time) next_time_ = moment_.number;
    if (moment_.kind == Kind::every_time) next_time_ = moment_.number;
    if (moment_.kind == Kind::first_stamp) next_time_ = 0;
    const bool with_peak = moment_.kind == Kind::peak;
    std::size_t wanted = 1;
    while (!done_) {
      Result<std::string_view> view = in_.peek(wanted);
      if (!view) {
        // A killed process leaves a stream without its end; what was written before it holds.
        if (view.error().code != ErrorCode::malformed || !have_version_) fail(std::move(view).error());
        recording_.facts.lose(kCutShort, in_.offset());
        break;
      }
      const std::size_t last = view->rfind('\n');
      if (last == std::string_view::npos) {
        if (view->size() > kMaxLineBytes)
          fail(ErrorCode::limit, "line too long: no end within 16 MiB, expected a line of a recording", in_.offset());
        if (view->size() < wanted) {
          if (!view->empty()) recording_.facts.lose(kCutShort, in_.offset());
          break;
        }
        // One byte more is as much as comes at once, and keeps all of it if what follows is damaged.
        wanted = view->size() < kLongLine ? view->size() + 1 : view->size() * 2;
        continue;
      }
      const char* const begin = view->data();
      const std::size_t left = view->size() - (last + 1);
      if (with_peak) {
        lines<true>(begin, begin + last + 1, in_.offset());
      } else {
        lines<false>(begin, begin + last + 1, in_.offset());
      }
      in_.consume(last + 1);
      wanted = left + 1;
    }
    if (done_) return;
    if (!have_version_)
      fail(ErrorCode::malformed, "no version line: the input ends, expected v and two numbers", in_.offset());
    return finish();
  }

 private:
  /// Lines beyond this are damage: the longest names of real files have some 100 KB.
  static constexpr std::size_t kMaxLineBytes = std::size_t{16} << 20;
  /// As many snapshots as one series may have out of one file.
  static constexpr std::uint64_t kMostCuts = 10'000;

  struct AtPeak {
    std::uint64_t peak_events = kNever;  ///< the peak that `live` was noted for
    std::int64_t live = 0;
  };

  struct Event {
    const char* line = nullptr;
    std::uint32_t row = 0;
  };
  using Batch = std::array<Event, 16>;

  /// Events from p on up to the first line that is no event, or that needs a closer look; p moves after them. Their
  /// rows are fetched ahead: with many allocations each is a cache miss.
  std::size_t next_events(const char*& p, const char* end, Batch& batch) const {
    const std::span<const Allocation> allocations = recording_.allocations;
    const char* line = p;
    std::size_t count = 0;
    while (count < batch.size() && static_cast<std::size_t>(end - line) >= 2 + LineOfHex::kReads &&
           (*line == '+' || *line == '-') && line[1] == ' ') {
      const LineOfHex number = line_of_hex(line + 2);
      if (number.digits == 0 || number.value >= allocations.size()) break;
      __builtin_prefetch(&allocations[number.value], 1);
      batch[count++] = {line, number.value};
      line += 2 + number.digits + 1;
    }
    p = line;
    return count;
  }

  /// All lines of [p, end), which ends after a line's end. Nearly all of them are events of a few bytes: these are
  /// read right here, and what they change is kept in registers.
  template <bool kWithPeak>
  void lines(const char* p, const char* end, std::uint64_t offset) {
    const char* const begin = p;
    Recording& r = recording_;
    const bool fast = have_version_ && r.file_version > 0;
    std::int64_t live = r.live_bytes;
    std::int64_t peak = r.peak_bytes;
    std::uint64_t peak_events = r.peak_events;
    std::uint64_t events = r.events;
    std::uint32_t last = last_allocated_;
    const auto store = [&] {
      r.live_bytes = live;
      if (peak != r.peak_bytes) r.peak_time_ms = r.time_ms;
      r.peak_bytes = peak;
      r.peak_events = peak_events;
      r.events = events;
      last_allocated_ = last;
    };
    const auto load = [&] {
      live = r.live_bytes;
      peak = r.peak_bytes;
      peak_events = r.peak_events;
      events = r.events;
      last = last_allocated_;
    };
    Batch batch;
    while (p != end) {
      const std::size_t count = fast ? next_events(p, end, batch) : 0;
      bool all = true;
      for (std::size_t i = 0; i < count; ++i) {
        const auto [line, row] = batch[i];
        Allocation& allocation = r.allocations[row];
        if (kWithPeak) keep_for_peak(row, peak_events);
        // Whether a block comes or goes is a coin's toss to the processor, so nothing branches on it here.
        const std::int64_t step = '+' + 1 - *line;                  // 1, or -1 for a free
        const std::int64_t is_free = step >> 1;                     // 0, or all bits set
        if ((allocation.size | (allocation.live + is_free)) < 0) {  // no size, or nothing to free
          p = line;
          all = false;
          break;
        }
        if (!checked_add(live, step * allocation.size, live))
          too_many_live(offset + static_cast<std::uint64_t>(line - begin));
        if (allocation.made == 0) r.used.push_back(row);
        allocation.live += step;
        allocation.made += 1 + is_free;
        allocation.temporary += (last == row ? 1 : 0) & is_free;
        last = row | static_cast<std::uint32_t>(is_free);
        ++events;
        peak_events = live > peak ? events : peak_events;
        peak = live > peak ? live : peak;
        if (events != next_event_) continue;
        store();
        cut();
        if (done_) return;
      }
      if (all && (count == batch.size() || p == end)) continue;
      const auto* line_end = static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p)));
      store();
      const std::string_view line(p, static_cast<std::size_t>(line_end - p));
      const std::uint64_t at = offset + static_cast<std::uint64_t>(p - begin);
      other_line(line, at);
      if (done_) return;
      load();
      p = line_end + 1;
      if (!fast && have_version_ && r.file_version > 0)
        return lines<kWithPeak>(p, end, offset + static_cast<std::uint64_t>(p - begin));
    }
    store();
  }

  void other_line(std::string_view line, std::uint64_t offset) {
    if (!have_version_) {
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      recording_.take_version(line);
      have_version_ = true;
      return;
    }
    const char mode = line.empty() ? '#' : line[0];
    if (mode == 'c') return time_stamp(line, offset);
    if (mode == 'A') return restart();
    if (mode != '+' && mode != '-') return recording_.take_line(line, offset);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.size() < 3 || line[1] != ' ') return recording_.skip(kBadEvent, offset);
    if (recording_.file_version == 0) return event_of_version_0(line, offset);
    std::uint32_t row = 0;
    Fields fields(line.substr(2));
    if (!fields.number(row) || !fields.at_end() || row >= recording_.allocations.size() ||
        recording_.allocations[row].size < 0)
      return recording_.skip(kBadEvent, offset);
    if (mode == '+') return allocated(row, offset);
    freed(row, offset);
    if (recording_.events == next_event_) cut();
  }

  void time_stamp(std::string_view line, std::uint64_t offset) {
    recording_.take_line(line, offset);
    const std::uint64_t now = recording_.time_ms;
    if (now < next_time_ || (recording_.events == 0 && moment_.kind != Kind::at_time)) return;
    if (moment_.kind == Kind::every_time) next_time_ = (now / moment_.number + 1) * moment_.number;
    return cut();
  }

  void event_of_version_0(std::string_view line, std::uint64_t offset) {
    Fields fields(line.substr(2));
    std::uint64_t size = 0;
    std::uint32_t trace = 0;
    std::uint64_t address = 0;
    if (line[0] == '-') {
      if (!fields.number(address)) return recording_.skip(kBadEvent, offset);
      const auto block = block_at_.find(address);
      // Blocks from before the recorder was there are freed too: that is no damage.
      if (block == block_at_.end()) return;
      const std::uint32_t row = block->second;
      block_at_.erase(block);
      if (address != last_address_) last_allocated_ = Recording::kNoRow;
      freed(row, offset);
      if (recording_.events == next_event_) cut();
      return;
    }
    if (!fields.number(size) || !fields.number(trace) || !fields.number(address))
      return recording_.skip(kBadEvent, offset);
    const std::uint32_t row = recording_.allocation_of(size, trace);
    if (row == Recording::kNoRow) return recording_.skip(kBadEvent, offset);
    const auto [block, is_new] = block_at_.try_emplace(address, row);
    if (!is_new) {
      recording_.facts.notes.add(Severity::warning,
                                 "block at an address that was not free: the former one counts as freed", offset);
      freed(block->second, offset);
      block->second = row;
    }
    last_address_ = address;
    return allocated(row, offset);
  }

  void allocated(std::uint32_t row, std::uint64_t offset) {
    Recording& r = recording_;
    keep_for_peak(row, r.peak_events);
    Allocation& allocation = r.allocations[row];
    if (!checked_add(r.live_bytes, allocation.size, r.live_bytes)) too_many_live(offset);
    ++allocation.live;
    if (allocation.made++ == 0) r.used.push_back(row);
    last_allocated_ = row;
    ++r.events;
    if (r.live_bytes > r.peak_bytes) {
      r.peak_bytes = r.live_bytes;
      r.peak_events = r.events;
      r.peak_time_ms = r.time_ms;
    }
    if (r.events == next_event_) cut();
  }

  void freed(std::uint32_t row, std::uint64_t offset) {
    Recording& r = recording_;
    Allocation& allocation = r.allocations[row];
    if (allocation.live <= 0) {
      // Blocks from before the recorder was attached are freed too: that is no damage.
      if (!r.attached) r.skip(kFreedTwice, offset);
      return;
    }
    keep_for_peak(row, r.peak_events);
    --allocation.live;
    r.live_bytes -= allocation.size;
    if (last_allocated_ == row) ++allocation.temporary;
    last_allocated_ = Recording::kNoRow;
    ++r.events;
  }

  /// The recorder was attached to a running process: nothing in front of this line counts.
  void restart() {
    Recording& r = recording_;
    for (const std::uint32_t row : r.used) {
      Allocation& allocation = r.allocations[row];
      allocation.live = allocation.made = allocation.temporary = 0;
      if (row < at_peak_.size()) at_peak_[row] = {};
    }
    r.used.clear();
    r.attached = true;
    r.live_bytes = r.peak_bytes = 0;
    r.peak_events = r.events;
    r.peak_time_ms = r.time_ms;
    last_cut_events_ = kNever;
    last_allocated_ = Recording::kNoRow;
    block_at_.clear();
  }

  /// Notes how many blocks of this row are live before it changes, once after each peak.
  void keep_for_peak(std::uint32_t row, std::uint64_t peak_events) {
    if (moment_.kind != Kind::peak) return;
    if (row >= at_peak_.size()) at_peak_.resize(recording_.allocations.size());
    AtPeak& kept = at_peak_[row];
    if (kept.peak_events == peak_events) return;
    kept = {peak_events, recording_.allocations[row].live};
  }

  /// A snapshot of what is live now.
  void cut() {
    if (moment_.kind == Kind::every_events) next_event_ += moment_.number;
    if (recording_.events == last_cut_events_) return;
    if (++cuts_ > kMostCuts) fail(ErrorCode::limit, "more than 10 000 snapshots of one recording");
    last_cut_events_ = recording_.events;
    done_ = !moment_.is_series();
    give(out_,
         make_snapshot(recording_, {.events = recording_.events, .time_ms = recording_.time_ms, .cumulative = done_}));
  }

  void finish() {
    const Recording& r = recording_;
    if (moment_.kind == Kind::after_events && moment_.number > r.events)
      fail(ErrorCode::usage, "no point '" + std::to_string(moment_.number) + "': the recording has " +
                                 std::to_string(r.events) + " events");
    if (moment_.is_series() && last_cut_events_ == r.events) return;
    SnapshotWish wish;
    wish.events = r.events;
    wish.time_ms = r.time_ms;
    wish.cumulative = !moment_.is_series();
    std::vector<std::int64_t> live;
    if (moment_.kind == Kind::peak || moment_.kind == Kind::after_events) {
      if (moment_.kind == Kind::peak) live = live_at_peak();
      live.resize(r.allocations.size());  // none after 0 events
      wish.live = live;
      wish.is_peak = moment_.kind == Kind::peak;
      wish.events = wish.is_peak ? r.peak_events : 0;
      wish.time_ms = wish.is_peak ? r.peak_time_ms : 0;
      wish.cumulative = false;
    }
    Snapshot made = make_snapshot(r, wish);
    // What read() gives is the end, under whichever name it was asked for.
    if (moment_.kind == Kind::end) made.facts.position = 0;
    give(out_, std::move(made));
  }

  std::vector<std::int64_t> live_at_peak() const {
    std::vector<std::int64_t> live;
    live.reserve(recording_.allocations.size());
    for (std::size_t row = 0; row < recording_.allocations.size(); ++row) {
      const bool changed = row < at_peak_.size() && at_peak_[row].peak_events == recording_.peak_events;
      live.push_back(changed ? at_peak_[row].live : recording_.allocations[row].live);
    }
    return live;
  }

  Input& in_;
  SnapshotSink& out_;
  Moment moment_;
  Recording recording_;
  bool have_version_ = false;
  bool done_ = false;
  std::uint64_t next_event_ = kNever;  ///< cut when so many were read
  std::uint64_t next_time_ = kNever;   ///< cut at a time stamp from here on
  std::uint64_t cuts_ = 0;
  std::uint64_t last_cut_events_ = kNever;
  std::uint32_t last_allocated_ = Recording::kNoRow;  ///< by the event before, for temporary ones
  std::vector<AtPeak> at_peak_;
  std::unordered_map<std::uint64_t, std::uint32_t, KeyedHash> block_at_;  ///< version 0: row by address
  std::uint64_t last_address_ = 0;
};

/// "v 10400 3", and nothing else.
bool is_version_line(std::string_view line) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  if (line.size() < 3 || line.substr(0, 2) != "v ") return false;
  Fields fields(line.substr(2));
  std::uint64_t number = 0;
  if (!fields.number(number)) return false;
  return fields.at_end() || (fields.number(number) && fields.at_end());
}

Match sniff_heaptrack(std::string_view head) {
  constexpr std::string_view kModes = "sitaXIScRA+-#xm";
  const std::size_t end = head.find('\n');
  if (!is_version_line(head.substr(0, end))) return Match::no;
  if (end == std::string_view::npos || end + 1 == head.size()) return Match::possible;
  const std::string_view next = head.substr(end + 1);
  const bool known = kModes.find(next[0]) != std::string_view::npos;
  return certain_if(known && (next.size() < 2 || next[1] == ' ' || next[1] == '\n' || next[0] == '#'));
}

void decode_heaptrack(Input& in, SnapshotSink& out, const ReadRequest& request) {
  const Moment moment = request.point.empty() ? Moment{} : parse_moment(request.point);
  EventReader(in, out, moment).read();
}

}  // namespace

constexpr Format kHeaptrack{
    .info = {"heaptrack", "heaptrack recording (interpreted), file versions 0 to 3", "heaptrack.*.zst, heaptrack.*.gz",
             "single events; addresses of frames, which differ from run to run"},
    .sniff = sniff_heaptrack,
    .decode = decode_heaptrack,
    .has_moments = true};

}  // namespace snapdiff::formats
