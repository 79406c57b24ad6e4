#include "analyzer/cuda/event_roles.hpp"

#include <limits>
#include <unordered_map>

#include "snapdiff/keyed_hash.hpp"

namespace snapdiff::cuda {

std::vector<Role> roles_of_events(const EventLog& events, Roles& roles) {
  std::vector<Role> out(events.size(), Role::unknown);
  std::unordered_map<std::uint64_t, RoleQuery, KeyedHash> open;
  const auto close = [&](RoleQuery block, std::int64_t end) {
    block.end = end;
    out[static_cast<std::size_t>(block.start)] = roles.of(block);
  };
  EventLog::Reader reader = events.read();
  TraceEvent event;
  for (std::int64_t n = 0; reader.next(event); ++n) {
    if (event.action == TraceAction::alloc) {
      RoleQuery& block = open[event.address];
      if (block.start >= 0) close(block, n);  // a damaged trace: it was still in use
      block = {event.stack, n, 0, event.size, false};
    } else if (event.action == TraceAction::free_completed) {
      const auto at = open.find(event.address);
      if (at == open.end()) continue;
      close(at->second, n);
      open.erase(at);
    }
  }
  for (const auto& [address, block] : open) close(block, std::numeric_limits<std::int64_t>::max());
  return out;
}

}  // namespace snapdiff::cuda
