#include "analyzer/store/allocator_codec.hpp"
#include "analyzer/base/role_names.hpp"
#include "snapdiff/keyed_hash.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <unordered_map>

namespace snapdiff::store {
namespace {

constexpr std::uint32_t kNoRow = 0xffffffffU;

// Columns of a chunk of segments and of one of blocks. The first says which rows are old ones.
enum SegmentColumn {
  kRuns,
  kDevice,
  kAddress,
  kSize,
  kAllocated,
  kActive,
  kRequested,
  kPlace,
  kFlags,
  kStack,
  kBlocks
};
constexpr std::size_t kSegmentColumns = 11;
enum BlockColumn { kBlockRuns, kBlockAddress, kBlockSize, kBlockRequested, kBlockState, kBlockStack };
constexpr std::size_t kBlockColumns = 6;

constexpr std::uint8_t kNoRole = 0;
constexpr int kRoleShift = 2;  // in the byte of a block's state

/// The role of a block, from 1; kNoRole where the table does not say.
std::uint8_t role_of(const BlockTable& table, std::size_t row) {
  return table.role.empty() ? kNoRole : static_cast<std::uint8_t>(table.role[row] + 1);
}

bool same_segment(const SegmentTable& a, std::size_t i, const SegmentTable& b, std::size_t j) {
  return a.address[i] == b.address[j] && a.device[i] == b.device[j] && a.size[i] == b.size[j] &&
         a.stated_allocated[i] == b.stated_allocated[j] && a.stated_active[i] == b.stated_active[j] &&
         a.stated_requested[i] == b.stated_requested[j] && a.stream[i] == b.stream[j] && a.pool[i] == b.pool[j] &&
         a.flags[i] == b.flags[j] && a.stack[i] == b.stack[j] &&
         a.block_begin[i + 1] - a.block_begin[i] == b.block_begin[j + 1] - b.block_begin[j];
}

bool same_block(const BlockTable& a, std::size_t i, const BlockTable& b, std::size_t j) {
  return a.address[i] == b.address[j] && a.size[i] == b.size[j] && a.requested[i] == b.requested[j] &&
         a.state[i] == b.state[j] && a.stack[i] == b.stack[j] && role_of(a, i) == role_of(b, j);
}

/// By row of `after`: the row of `before` that says the same, or kNoRow. Tables mostly go on in step;
/// where they do not, the address leads on.
template <class Table, class Same>
std::vector<std::uint32_t> find_old_rows(const Table& before, const Table& after, Same same) {
  const std::size_t old_rows = before.address.size();
  std::vector<std::uint32_t> from(after.address.size(), kNoRow);
  if (old_rows == 0 || old_rows >= kNoRow) return from;
  std::unordered_map<std::uint64_t, std::uint32_t, KeyedHash> by_address;
  by_address.reserve(old_rows);
  for (std::size_t row = 0; row < old_rows; ++row)
    by_address.try_emplace(before.address[row], static_cast<std::uint32_t>(row));
  std::uint32_t next = 0;
  for (std::size_t row = 0; row < from.size(); ++row) {
    if (next < old_rows && same(before, next, after, row)) {
      from[row] = next++;
      continue;
    }
    const auto at = by_address.find(after.address[row]);
    if (at == by_address.end()) continue;
    if (same(before, at->second, after, row)) from[row] = at->second;
    next = at->second + 1;
  }
  return from;
}

/// Runs: own rows, old rows, and where there are any the first of them, against the end of the run before.
void put_runs(std::string& out, std::span<const std::uint32_t> from) {
  std::uint64_t expected = 0;
  for (std::size_t row = 0; row < from.size();) {
    std::size_t own = 0;
    while (row < from.size() && from[row] == kNoRow) ++own, ++row;
    const std::size_t first = row;
    while (row < from.size() && from[row] != kNoRow && from[row] == from[first] + (row - first)) ++row;
    put_varint(out, own);
    put_varint(out, row - first);
    if (row == first) continue;
    put_varint(out, zigzag(from[first] - expected));
    expected = from[first] + (row - first);
  }
}

template <class Own, class Old>
void take_runs(std::string_view column, std::size_t old_rows, Own take_own, Old take_old) {
  ByteReader in(column);
  std::uint64_t expected = 0;
  std::size_t rows = 0;
  while (in.left() > 0) {
    const std::uint32_t own = in.below(kChunkRows + 1 - rows, "own rows");
    rows += own;
    for (std::uint32_t i = 0; i < own; ++i) take_own();
    const std::uint32_t old = in.below(kChunkRows + 1 - rows, "old rows");
    rows += old;
    if (old == 0) continue;
    const std::uint64_t first = expected + unzigzag(in.varint());
    if (first >= old_rows || old > old_rows - first)
      fail(ErrorCode::malformed,
           "old row " + std::to_string(first) + ", expected less than " + std::to_string(old_rows));
    for (std::uint64_t row = first; row < first + old; ++row) take_old(static_cast<std::size_t>(row));
    expected = first + old;
  }
}

std::string segment_chunk(const SegmentTable& table, std::span<const std::uint32_t> from, std::size_t begin,
                          int level) {
  std::vector<std::string> out(kSegmentColumns);
  put_runs(out[kRuns], from);
  std::uint64_t last_address = 0;
  std::uint64_t last_stack = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] != kNoRow) continue;
    const std::size_t row = begin + i;
    put_varint(out[kDevice], table.device[row]);
    put_varint(out[kAddress], zigzag(table.address[row] - last_address));
    put_varint(out[kSize], bits(table.size[row]));
    put_varint(out[kAllocated], zigzag(bits(table.stated_allocated[row])));
    put_varint(out[kActive], zigzag(bits(table.stated_active[row])));
    put_varint(out[kRequested], zigzag(bits(table.stated_requested[row])));
    put_varint(out[kPlace], table.stream[row]);
    put_varint(out[kPlace], table.pool[row]);
    out[kFlags].push_back(static_cast<char>(table.flags[row]));
    put_varint(out[kStack], zigzag(bits(table.stack[row]) - last_stack));
    put_varint(out[kBlocks], table.block_begin[row + 1] - table.block_begin[row]);
    last_address = table.address[row];
    last_stack = bits(table.stack[row]);
  }
  return pack_columns(out, level);
}

/// Where the next block of a segment begins.
std::uint64_t end_of(const BlockTable& table, std::size_t row) { return table.address[row] + bits(table.size[row]); }

std::string block_chunk(const BlockTable& table, std::span<const std::uint32_t> from, std::size_t begin, int level) {
  std::vector<std::string> out(kBlockColumns);
  put_runs(out[kBlockRuns], from);
  std::uint64_t last_stack = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] != kNoRow) continue;
    const std::size_t row = begin + i;
    put_varint(out[kBlockAddress], zigzag(table.address[row] - (i == 0 ? 0 : end_of(table, row - 1))));
    put_varint(out[kBlockSize], bits(table.size[row]));
    const bool is_free = table.state[row] == BlockState::inactive;
    put_varint(out[kBlockRequested], zigzag((is_free ? 0 : bits(table.size[row])) - bits(table.requested[row])));
    out[kBlockState].push_back(
        static_cast<char>(static_cast<std::uint8_t>(table.state[row]) | role_of(table, row) << kRoleShift));
    // A free block has no stack, which says nothing of the next one's.
    put_varint(out[kBlockStack], table.stack[row] == StackId{} ? 0 : 1 + zigzag(bits(table.stack[row]) - last_stack));
    if (table.stack[row] != StackId{}) last_stack = bits(table.stack[row]);
  }
  return pack_columns(out, level);
}

StackId stack_of(std::uint64_t value) {
  if (value >= kNoRow)
    fail(ErrorCode::malformed, "stack " + std::to_string(value) + ", expected less than " + std::to_string(kNoRow));
  return StackId{static_cast<std::uint32_t>(value)};
}

template <class Encode>
void encode_chunks(const std::vector<std::uint32_t>& from, std::vector<std::string>& chunks, Encode encode) {
  for (std::size_t begin = 0; begin < from.size(); begin += kChunkRows)
    chunks.push_back(encode(std::span(from).subspan(begin, std::min(kChunkRows, from.size() - begin)), begin));
}

}  // namespace

EncodedTables encode_tables(const AllocatorTables* before, const AllocatorTables& after) {
  const AllocatorTables nothing;
  const AllocatorTables& old = before != nullptr ? *before : nothing;
  const auto segments = find_old_rows(old.segments, after.segments, same_segment);
  const auto blocks = find_old_rows(old.blocks, after.blocks, same_block);
  const auto is_old = [](std::uint32_t row) { return row != kNoRow; };
  constexpr std::size_t kBytesPerBlock = 8;  // about; only chooses the level
  const int level = compression_level(blocks.size() * kBytesPerBlock);
  EncodedTables out;
  out.is_delta =
      std::any_of(segments.begin(), segments.end(), is_old) || std::any_of(blocks.begin(), blocks.end(), is_old);
  encode_chunks(segments, out.segments,
                [&](auto from, std::size_t begin) { return segment_chunk(after.segments, from, begin, level); });
  encode_chunks(blocks, out.blocks,
                [&](auto from, std::size_t begin) { return block_chunk(after.blocks, from, begin, level); });
  return out;
}

TablesDecoder::TablesDecoder(const AllocatorTables* before) : before_(before != nullptr ? *before : nothing_) {}

void TablesDecoder::add_segments(std::string_view blob) {
  std::string buffer;
  const auto columns = unpack_columns(blob, kSegmentColumns, buffer);
  std::vector<ByteReader> in(columns.begin(), columns.end());
  const SegmentTable& old = before_.segments;
  SegmentTable& to = after_.segments;
  std::uint64_t last_address = 0;
  std::uint64_t last_stack = 0;
  const auto add_blocks_of = [&to](std::uint64_t blocks) {
    if (blocks > std::numeric_limits<std::uint32_t>::max() - to.block_begin.back())
      fail(ErrorCode::malformed, "segment of " + std::to_string(blocks) + " blocks");
    to.block_begin.push_back(to.block_begin.back() + blocks);
  };
  const auto own = [&] {
    last_address += unzigzag(in[kAddress].varint());
    to.device.push_back(in[kDevice].below(std::uint64_t{1} << 32, "device"));
    to.address.push_back(last_address);
    to.size.push_back(number(in[kSize].varint()));
    to.stated_allocated.push_back(number(unzigzag(in[kAllocated].varint())));
    to.stated_active.push_back(number(unzigzag(in[kActive].varint())));
    to.stated_requested.push_back(number(unzigzag(in[kRequested].varint())));
    to.stream.push_back(in[kPlace].below(kNoRow, "stream"));
    to.pool.push_back(in[kPlace].below(kNoRow, "pool"));
    to.flags.push_back(in[kFlags].byte());
    last_stack += unzigzag(in[kStack].varint());
    to.stack.push_back(stack_of(last_stack));
    add_blocks_of(in[kBlocks].varint());
  };
  take_runs(columns[kRuns], old.size_rows(), own, [&](std::size_t row) {
    to.device.push_back(old.device[row]);
    to.address.push_back(old.address[row]);
    to.size.push_back(old.size[row]);
    to.stated_allocated.push_back(old.stated_allocated[row]);
    to.stated_active.push_back(old.stated_active[row]);
    to.stated_requested.push_back(old.stated_requested[row]);
    to.stream.push_back(old.stream[row]);
    to.pool.push_back(old.pool[row]);
    to.flags.push_back(old.flags[row]);
    to.stack.push_back(old.stack[row]);
    add_blocks_of(old.block_begin[row + 1] - old.block_begin[row]);
  });
  for (std::size_t c = kDevice; c < kSegmentColumns; ++c) in[c].expect_end();
}

void TablesDecoder::add_blocks(std::string_view blob) {
  std::string buffer;
  const auto columns = unpack_columns(blob, kBlockColumns, buffer);
  std::vector<ByteReader> in(columns.begin(), columns.end());
  const BlockTable& old = before_.blocks;
  BlockTable& to = after_.blocks;
  std::uint64_t last_stack = 0;
  bool first = true;
  const auto own = [&] {
    const std::uint64_t expected = first ? 0 : end_of(to, to.address.size() - 1);
    first = false;
    const std::uint8_t byte = in[kBlockState].byte();
    const std::uint8_t state = byte & ((1U << kRoleShift) - 1);
    const auto role = static_cast<std::uint8_t>(byte >> kRoleShift);
    if (state > static_cast<std::uint8_t>(BlockState::inactive))
      fail(ErrorCode::malformed, "block state " + std::to_string(state) + ", expected 0 to 2");
    if (role > kRoleNames.size())
      fail(ErrorCode::malformed,
           "block of role " + std::to_string(role) + ", expected at most " + std::to_string(kRoleNames.size()));
    add_role(role);
    to.address.push_back(expected + unzigzag(in[kBlockAddress].varint()));
    to.size.push_back(number(in[kBlockSize].varint()));
    to.state.push_back(static_cast<BlockState>(state));
    const std::uint64_t asked = to.state.back() == BlockState::inactive ? 0 : bits(to.size.back());
    to.requested.push_back(number(asked - unzigzag(in[kBlockRequested].varint())));
    const std::uint64_t stack = in[kBlockStack].varint();
    if (stack != 0) last_stack += unzigzag(stack - 1);
    to.stack.push_back(stack == 0 ? StackId{} : stack_of(last_stack));
  };
  take_runs(columns[kBlockRuns], old.size_rows(), own, [&](std::size_t row) {
    first = false;
    add_role(role_of(old, row));
    to.address.push_back(old.address[row]);
    to.size.push_back(old.size[row]);
    to.state.push_back(old.state[row]);
    to.requested.push_back(old.requested[row]);
    to.stack.push_back(old.stack[row]);
  });
  for (std::size_t c = kBlockAddress; c < kBlockColumns; ++c) in[c].expect_end();
}

/// Of the next block. A table has roles of all its blocks or of none.
void TablesDecoder::add_role(std::uint8_t role) {
  BlockTable& blocks = after_.blocks;
  if ((role != kNoRole) != !blocks.role.empty() && blocks.size_rows() > 0)
    fail(ErrorCode::malformed, "blocks with a role and without one, expected it of all or none");
  if (role != kNoRole) blocks.role.push_back(static_cast<std::uint8_t>(role - 1));
}

AllocatorTables TablesDecoder::finish() {
  const SegmentTable& segments = after_.segments;
  BlockTable& blocks = after_.blocks;
  if (segments.block_begin.back() != blocks.size_rows())
    fail(ErrorCode::malformed,
         std::to_string(blocks.size_rows()) + " blocks, expected " + std::to_string(segments.block_begin.back()));
  blocks.segment.reserve(blocks.size_rows());
  for (std::size_t s = 0; s < segments.size_rows(); ++s)
    blocks.segment.insert(blocks.segment.end(), segments.block_begin[s + 1] - segments.block_begin[s],
                          static_cast<std::uint32_t>(s));
  return std::move(after_);
}

}  // namespace snapdiff::store
