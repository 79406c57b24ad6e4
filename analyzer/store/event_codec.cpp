
#include "analyzer/store/allocator_codec.hpp"
#include "snapdiff/checked.hpp"

namespace snapdiff::store {
namespace {

enum EventColumn { kHeads, kPlaces, kStacks, kAddresses, kSizes, kTimes };
constexpr std::size_t kColumns = 6;

// A head: the action, and which fields are not those of the event before.
constexpr unsigned kAction = 15;
constexpr unsigned kOtherPlace = 16;
constexpr unsigned kOtherStack = 32;
constexpr unsigned kOtherAddress = 64;
constexpr unsigned kOtherSize = 128;

/// The allocator's rounding; 1 instead of a difference says that it is not a multiple.
constexpr std::int64_t kUnit = 512;

/// Of EventLog's contract; differences stay below 2^63.
constexpr std::int64_t kTimeLimit = std::int64_t{1} << 62;

bool is_time(std::int64_t time) { return time > -kTimeLimit && time < kTimeLimit; }

}  // namespace

void EventChunkWriter::add(const TraceEvent& event) {
  unsigned head = static_cast<unsigned>(event.action);
  if (event.stream != last_.stream || event.pool != last_.pool) {
    head |= kOtherPlace;
    put_varint(columns_[kPlaces], event.stream);
    put_varint(columns_[kPlaces], event.pool);
  }
  if (event.stack != last_.stack) {
    head |= kOtherStack;
    put_varint(columns_[kStacks], index_of(event.stack));
  }
  if (event.address != last_.address) {
    head |= kOtherAddress;
    const auto difference = static_cast<std::int64_t>(event.address - last_.address);
    if (difference % kUnit == 0) {
      put_varint(columns_[kAddresses], zigzag(static_cast<std::uint64_t>(difference / kUnit)) << 1);
    } else {
      put_varint(columns_[kAddresses], 1);
      put_varint(columns_[kAddresses], zigzag(static_cast<std::uint64_t>(difference)));
    }
  }
  if (event.size != last_.size) {
    head |= kOtherSize;
    put_varint(columns_[kSizes], zigzag(bits(wrapping_difference(event.size, last_.size))));
  }
  if (event.time_us == kNoTime) {
    put_varint(columns_[kTimes], 0);
  } else {
    if (!is_time(event.time_us)) fail(ErrorCode::internal, "time of an event is beyond 2^62 us");
    put_varint(columns_[kTimes], 1 + zigzag(bits(wrapping_difference(event.time_us, last_time_))));
    last_time_ = event.time_us;
  }
  columns_[kHeads].push_back(static_cast<char>(head));
  last_ = event;
  ++events_;
}

std::string EventChunkWriter::finish(int level) {
  std::string blob = pack_columns(columns_, level);
  for (std::string& column : columns_) column.clear();
  last_ = {};
  last_time_ = 0;
  events_ = 0;
  return blob;
}

EventChunkReader::EventChunkReader(std::string_view blob) {
  const auto columns = unpack_columns(blob, kColumns, buffer_);
  events_ = columns[kHeads].size();
  if (events_ == 0 || events_ > kChunkRows)
    fail(ErrorCode::malformed, std::to_string(events_) + " events, expected 1 to " + std::to_string(kChunkRows));
  heads_ = ByteReader(columns[kHeads]);
  places_ = ByteReader(columns[kPlaces]);
  stacks_ = ByteReader(columns[kStacks]);
  addresses_ = ByteReader(columns[kAddresses]);
  sizes_ = ByteReader(columns[kSizes]);
  times_ = ByteReader(columns[kTimes]);
}

bool EventChunkReader::next(TraceEvent& event) {
  if (heads_.left() == 0) {
    for (const ByteReader* column : {&places_, &stacks_, &addresses_, &sizes_, &times_}) column->expect_end();
    return false;
  }
  constexpr std::uint64_t kIds = 0xffffffffU;
  const unsigned head = heads_.byte();
  if ((head & kAction) > static_cast<unsigned>(TraceAction::unknown))
    fail(ErrorCode::malformed, "action " + std::to_string(head & kAction) + ", expected 0 to 9");
  last_.action = static_cast<TraceAction>(head & kAction);
  if ((head & kOtherPlace) != 0) {
    last_.stream = places_.below(kIds, "stream");
    last_.pool = places_.below(kIds, "pool");
  }
  if ((head & kOtherStack) != 0) last_.stack = StackId{stacks_.below(kIds, "stack")};
  if ((head & kOtherAddress) != 0) {
    const std::uint64_t coded = addresses_.varint();
    last_.address += coded == 1 ? unzigzag(addresses_.varint()) : unzigzag(coded >> 1) * std::uint64_t{kUnit};
  }
  if ((head & kOtherSize) != 0) last_.size = wrapping_sum(last_.size, number(unzigzag(sizes_.varint())));
  const std::uint64_t time = times_.varint();
  event = last_;
  event.time_us = kNoTime;
  if (time == 0) return true;
  last_time_ = wrapping_sum(last_time_, number(unzigzag(time - 1)));
  if (!is_time(last_time_)) fail(ErrorCode::malformed, "time of an event is beyond 2^62 us");
  event.time_us = last_time_;
  return true;
}

}  // namespace snapdiff::store
