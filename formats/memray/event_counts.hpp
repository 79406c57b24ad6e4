#pragma once

#include <deque>

#include "formats/input/read_failure.hpp"
#include "formats/memray/memray_recording.hpp"

namespace snapdiff::formats::memray {

/// Takes the events of a recording of all allocations, one after the other. `offset` is that of the record.
/// Throws Failure: malformed, limit.
class EventCounts {
 public:
  explicit EventCounts(Recording& recording) : r_(recording) { r_.threads.intern(0); }

  std::uint64_t events() const { return events_; }
  std::uint64_t thread() const { return r_.threads.numbers()[thread_]; }
  /// The next records are of this thread.
  void switch_to(std::uint64_t thread) {
    thread_ = r_.threads.intern(thread);
    if (thread_ == stacks_.size()) stacks_.emplace_back();
    stack_ = &stacks_[thread_];
  }
  void push(std::uint32_t frame) { stack_->push_back(node(here(), frame)); }
  /// False where there are fewer.
  bool pop(std::size_t frames) {
    if (frames > stack_->size()) return false;
    stack_->resize(stack_->size() - frames);
    return true;
  }
  std::size_t depth() const { return stack_->size(); }

  /// An allocator of kAllocators got or gave back memory; `native` is a node.
  void take(std::uint8_t by, std::uint64_t address, std::uint64_t unsigned_size, std::uint64_t native,
            std::uint64_t offset) {
    const auto size = static_cast<std::int64_t>(unsigned_size);
    const std::uint64_t end = std::max(address, address + unsigned_size);
    if (size < 0 && by != kMunmap) {  // which is recorded before the kernel refuses it
      fail_malformed(instead("size not readable", unsigned_size, "one below 2^63"), offset);
    }
    ++events_;
    const auto changed = [this](std::uint32_t row, std::int64_t count, std::int64_t bytes) {
      r_.change(r_.sites[row], count, -bytes);
    };
    if (frees_a_block(by)) {
      // Blocks from before the recording are freed too.
      if (const Block gone = blocks_.take(address); gone.row != kNoRow) r_.change(r_.sites[gone.row], -1, -gone.size);
    } else if (by == kMunmap) {
      ranges_.remove(address, end, changed);
    } else {
      const std::uint32_t row = site(by, native, offset);
      Site& made = r_.sites[row];
      add_to(r_.allocated_bytes, size, "bytes ever allocated are", offset);
      ++r_.allocations[by];
      ++made.made_count;
      made.made_bytes += size;
      if (by != kMmap) {
        r_.change(made, 1, size);
        if (const Block former = blocks_.put({address, size, row}); former.row != kNoRow) {
          r_.facts.notes.add(Severity::warning, "block at an address that was not free: the former one counts as freed",
                             offset);
          r_.change(r_.sites[former.row], -1, -former.size);
        }
      } else if (end > address) {
        r_.change(made, 1, static_cast<std::int64_t>(end - address));
        ranges_.add(address, end, row, changed);
      }
    }
    r_.look_for_peak();
  }

 private:
  std::uint32_t here() const { return stack_->empty() ? 0 : stack_->back(); }

  /// The row for an allocation here and now. The one before at this Python stack is mostly the same.
  std::uint32_t site(std::uint8_t by, std::uint64_t native, std::uint64_t offset) {
    if (native >= r_.addresses.size()) {
      r_.facts.notes.add(Severity::data_loss, "native stack out of range: left out", offset);
      native = 0;
    }
    const std::uint32_t python = here();
    const auto fits = [&](std::uint32_t row) {
      const Site& s = r_.sites[row];
      return s.python == python && s.native == native && s.thread == thread_ && s.allocator == by;
    };
    std::uint32_t& last = node_site_[python];
    if (last != kNoRow && fits(last)) return last;
    const std::uint64_t hash =
        keyed_hash(Hash128{std::uint64_t{python} << 32U | native, std::uint64_t{thread_} << 8U | by});
    const auto [row, is_new] = site_rows_.intern(hash, r_.sites.size(), fits);
    if (is_new) {
      new_row(r_.sites.size());
      r_.sites.push_back(
          {.python = python, .native = static_cast<std::uint32_t>(native), .thread = thread_, .allocator = by});
    }
    return last = row;
  }

  std::uint32_t node(std::uint32_t parent, std::uint32_t frame) {
    const auto fits = [&](std::uint32_t row) {
      return r_.python[row].parent == parent && r_.python[row].what == frame;
    };
    if (const std::uint32_t last = last_child_[parent]; last != 0 && fits(last)) return last;
    const std::uint64_t key = std::uint64_t{parent} << 32U | frame;
    const auto [row, is_new] = node_rows_.intern(key, r_.python.size(), fits);
    if (is_new) {
      new_row(r_.python.size());
      r_.python.push_back({frame, parent});
      node_site_.push_back(kNoRow);
      last_child_.push_back(0);
    }
    return last_child_[parent] = row;
  }

  Recording& r_;
  std::uint64_t events_ = 0;
  LiveBlocks blocks_;
  LiveRanges ranges_;
  HashIndex site_rows_, node_rows_;
  std::vector<std::uint32_t> node_site_{kNoRow}, last_child_{0};  ///< by node of Recording::python
  std::deque<std::vector<std::uint32_t>> stacks_{1};              ///< by thread: nodes, the root first
  std::vector<std::uint32_t>* stack_ = &stacks_[0];
  std::uint32_t thread_ = 0;
};

}  // namespace snapdiff::formats::memray
