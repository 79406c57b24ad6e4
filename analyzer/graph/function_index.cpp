#include "analyzer/graph/function_index.hpp"

#include <tuple>

#include "snapdiff/keyed_hash.hpp"

namespace snapdiff::graph {
namespace {

bool named(const FrameView& frame) { return !frame.function.empty(); }

bool same(const FrameView& a, const FrameView& b) {
  if (a.pseudo != b.pseudo || named(a) != named(b)) return false;
  if (named(a)) return a.function == b.function && base_name(a.file) == base_name(b.file);
  return a.offset == b.offset && base_name(a.module) == base_name(b.module);
}

std::uint64_t text_hash(const FrameView& frame) {
  if (named(frame)) {
    const Hash128 name = hash_bytes(frame.function, frame.pseudo ? 1 : 0);
    return keyed_hash(name) ^ mix64(keyed_hash(base_name(frame.file)));
  }
  return mix64(keyed_hash(base_name(frame.module)) ^ mix64(frame.offset));
}

}  // namespace

FunctionIndex::Seen FunctionIndex::address_of(const FrameView& frame) {
  if (named(frame)) {
    // Two names may start at one address only when one of them is a prefix view of the other.
    const std::uint64_t kind = (frame.pseudo ? 1U : 0U) | (static_cast<std::uint64_t>(frame.function.size()) << 1) |
                               (static_cast<std::uint64_t>(frame.file.size()) << 32);
    return {frame.function.data(), frame.file.data(), kind, kAbsent};
  }
  return {frame.module.data(), nullptr, frame.offset, kAbsent};
}

std::size_t FunctionIndex::slot_of(const Seen& key) const {
  const auto a = reinterpret_cast<std::uintptr_t>(key.name);
  const auto b = reinterpret_cast<std::uintptr_t>(key.file);
  const std::uint64_t hash = mix64(a * 0x9e3779b97f4a7c15ULL + b * 0xd1342543de82ef95ULL + key.offset);
  const std::size_t mask = by_address_.size() - 1;
  for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
    const Seen& seen = by_address_[i];
    if (seen.id == kAbsent) return i;
    if (seen.name == key.name && seen.file == key.file && seen.offset == key.offset) return i;
  }
}

void FunctionIndex::grow() {
  std::vector<Seen> old(by_address_.empty() ? 1024 : by_address_.size() * 2);
  old.swap(by_address_);
  for (const Seen& seen : old) {
    if (seen.id != kAbsent) by_address_[slot_of(seen)] = seen;
  }
}

std::uint32_t FunctionIndex::id(const FrameView& frame) {
  if ((used_ + 1) * 2 > by_address_.size()) grow();
  Seen key = address_of(frame);
  const std::size_t slot = slot_of(key);
  if (by_address_[slot].id != kAbsent) return by_address_[slot].id;

  const std::uint64_t hash = text_hash(frame);
  std::uint32_t id = by_text_.find(hash, [&](std::uint32_t row) { return same(frames_[row], frame); });
  if (id == kAbsent) {
    id = static_cast<std::uint32_t>(frames_.size());
    frames_.push_back(frame);
    hashes_.push_back(hash);
    by_text_.insert(hash, id);
  }
  key.id = id;
  by_address_[slot] = key;
  ++used_;
  return id;
}

std::uint32_t FunctionIndex::find(const FrameView& frame) const {
  return by_text_.find(text_hash(frame), [&](std::uint32_t row) { return same(frames_[row], frame); });
}

bool FunctionIndex::less(std::uint32_t a, std::uint32_t b) const {
  const auto key = [this](std::uint32_t id) {
    const FrameView& frame = frames_[id];
    const bool has_name = named(frame);
    return std::tuple(has_name ? frame.function : base_name(frame.module),
                      has_name ? base_name(frame.file) : std::string_view(), has_name ? std::uint64_t{0} : frame.offset,
                      has_name, frame.pseudo);
  };
  return key(a) < key(b);
}

}  // namespace snapdiff::graph
