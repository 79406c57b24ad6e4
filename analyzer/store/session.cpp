#include "analyzer/store/session.hpp"

#include "analyzer/store/stack_codec.hpp"

namespace snapdiff::store {
namespace {

/// 32 MB of decoded stacks: all of a usual store, and a scan never decodes a chunk twice.
constexpr std::size_t kKeptFrames = 8 * 1024 * 1024;

}  // namespace

void Session::drop() {
  known_.reset();
  catalog_.reset();
  stacks_.reset();
  samples_.drop();
  allocators_.clear();
  chunks_.clear();
  chunk_frames_ = 0;
  data_version_.reset();
}

void Session::refresh() {
  const std::int64_t version = query_integer(db_, "PRAGMA data_version");
  const std::int64_t changes = sqlite3_total_changes64(db_);
  if (data_version_ != version || own_changes_ != changes) drop();
  data_version_ = version;
  own_changes_ = changes;
}

void Session::own_changes_are_known() { own_changes_ = sqlite3_total_changes64(db_); }

Catalog& Session::catalog() {
  if (catalog_ == nullptr) catalog_ = std::make_unique<Catalog>(db_);
  return *catalog_;
}

StackIndex& Session::stacks() {
  if (stacks_ == nullptr) stacks_ = std::make_unique<StackIndex>(db_, catalog());
  return *stacks_;
}

KnownDictionary& Session::known(const std::shared_ptr<const Dictionary>& dictionary) {
  if (known_ == nullptr || known_->of.lock() != dictionary)
    known_ = std::make_unique<KnownDictionary>(db_, catalog(), dictionary);
  known_->grow();
  return *known_;
}

std::shared_ptr<const DecodedStacks> Session::stacks_from(std::uint32_t stack) {
  for (auto at = chunks_.begin(); at != chunks_.end(); ++at) {
    if (stack < (*at)->first_id || stack - (*at)->first_id >= (*at)->size()) continue;
    chunks_.splice(chunks_.begin(), chunks_, at);
    return chunks_.front();
  }
  Statement select(
      db_,
      "SELECT first_id, stacks, data FROM stack_chunk WHERE first_id >= "
      "coalesce((SELECT max(first_id) FROM stack_chunk WHERE first_id <= ?1), 0) ORDER BY first_id LIMIT 2");
  select.bind(1, std::int64_t{stack});
  while (select.step()) {
    const std::uint32_t first = select.id(0, "stack chunk");
    const std::uint32_t count = select.id(1, "stack count");
    if (first <= stack && stack - first >= count) continue;
    auto chunk = std::make_shared<DecodedStacks>();
    chunk->first_id = first;
    for_each_stack(select.blob(2), first, count, [&](std::uint32_t, const StackChunkReader& in) {
      chunk->frame.insert(chunk->frame.end(), in.root_first().begin(), in.root_first().end());
      chunk->begin.push_back(chunk->frame.size());
    });
    chunk_frames_ += chunk->frame.size();
    chunks_.push_front(chunk);
    while (chunk_frames_ > kKeptFrames && chunks_.size() > 1) {
      chunk_frames_ -= chunks_.back()->frame.size();
      chunks_.pop_back();
    }
    return chunk;
  }
  return nullptr;
}

}  // namespace snapdiff::store
