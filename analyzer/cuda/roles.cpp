#include "analyzer/cuda/roles.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "analyzer/base/contains.hpp"
#include "analyzer/cuda/role_rules.hpp"
#include "snapdiff/keyed_hash.hpp"

namespace snapdiff::cuda {
namespace {

constexpr std::int64_t kNoForward = std::numeric_limits<std::int64_t>::max();

bool is_of_autograd(Phase phase) {
  return phase == Phase::engine || phase == Phase::backward || phase == Phase::backward_call;
}

}  // namespace

Roles::Roles(const Snapshot& snapshot, const EventLog& events)
    : dictionary_(*snapshot.dictionary),
      phases_(dictionary_),
      first_forward_(kNoForward),
      rule_of_function_(dictionary_.functions.name.size()) {
  struct Open {
    std::size_t group = 0;
    Part part = Part::script;
    std::int64_t size = 0;
    StackId stack{};
    std::int64_t start = 0;
  };
  std::unordered_map<std::uint64_t, Open, KeyedHash> open;
  // What outlives the backward pass or the step that allocated it has the size of a parameter; a workspace does so
  // once.
  std::unordered_map<std::int64_t, std::int64_t> outlived, alive, gradients;  // by size; gradients: the most at once
  Addresses traced;                                                           // of blocks that the trace allocates
  const auto learn = [&](const Open& block, std::size_t now) {
    if (now == block.group || (block.part != Part::backward && block.part != Part::step)) return;
    if (block.part == Part::backward && !is_cublas_size(block.size)) own_gradients_ += static_cast<double>(block.size);
    if (++outlived[block.size] > 1 || !is_cublas_size(block.size)) parameter_sizes_.insert(block.size);
  };
  EventLog::Reader reader = events.read();
  TraceEvent event;
  for (std::int64_t n = 0; reader.next(event); ++n) {
    if (index_of(event.stack) >= dictionary_.stacks.size()) continue;  // damaged: live_sets() says so
    if (event.action == TraceAction::alloc) {
      add_section(n, phases_.of(event.stack));
      traced.insert(event.address);
      hopper_sized_ += event.size == kHopperWorkspace ? 1U : 0U;
      if (rule_of(event.stack) == Rule::parameter) model_sizes_.insert(event.size);
      if (sections_.back().part == Part::backward)
        gradients[event.size] = std::max(gradients[event.size], ++alive[event.size]);
      open[event.address] = {sections_.back().group, sections_.back().part, event.size, event.stack, n};
    } else if (event.action == TraceAction::free_completed) {
      // The gradient of the loss goes when the call of backward returns.
      if (!sections_.empty() && sections_.back().part == Part::backward &&
          phases_.of(event.stack).phase == Phase::backward)
        push(n + 1, Part::script);
      const auto at = open.find(event.address);
      if (at == open.end()) continue;
      learn(at->second, sections_.back().group);
      if (at->second.part == Part::backward) --alive[at->second.size];
      if (at->second.part == Part::script && is_input(at->second.start, n)) inputs_.insert(at->second.stack);
      open.erase(at);
    }
  }
  std::map<std::int64_t, std::vector<std::uint64_t>> loose;  // by size: blocks that the script made and keeps
  std::set<std::int64_t> stepped;                            // sizes of state that a step made
  for (const auto& [address, block] : open) {
    // Of a step nothing but state outlives it.
    learn(block, block.part == Part::step ? sections_.back().group + 1 : sections_.back().group);
    if (block.part == Part::step) stepped.insert(block.size);
    if (block.part == Part::script && rule_of(block.stack) == Rule::none && !phases_.of(block.stack).module_call)
      loose[block.size].push_back(address);
  }
  find_state_before(snapshot, gradients, traced);
  std::erase_if(loose, [&](const auto& of_size) { return stepped.contains(of_size.first); });
  find_loaded_state(loose, gradients);
}

/// Where steps made no state, it was loaded: of each gradient two blocks or more of its size that the script keeps. One
/// may be an average of the weights.
void Roles::find_loaded_state(const std::map<std::int64_t, std::vector<std::uint64_t>>& loose,
                              const std::unordered_map<std::int64_t, std::int64_t>& gradients) {
  const auto is_step = [](const Section& section) { return section.part == Part::step; };
  if (std::none_of(sections_.begin(), sections_.end(), is_step)) return;
  for (const auto& [size, addresses] : loose) {
    const auto found = gradients.find(size);
    const auto of_each = found == gradients.end() ? std::size_t{0} : static_cast<std::size_t>(found->second);
    if (of_each == 0 || addresses.size() < 2 * of_each || addresses.size() % of_each != 0) continue;
    if (parameter_sizes_.contains(size)) loaded_state_.insert(addresses.begin(), addresses.end());
  }
}

/// Blocks from before the trace have no stacks. The numbers of parameters and gradients of one size are equal, and the
/// optimizer keeps one or more blocks of that size for each; parameters were allocated first, so that they lie below.
void Roles::find_state_before(const Snapshot& snapshot, const std::unordered_map<std::int64_t, std::int64_t>& gradients,
                              const Addresses& traced) {
  if (snapshot.allocator == nullptr) return;
  const BlockTable& blocks = snapshot.allocator->blocks;
  std::map<std::int64_t, std::vector<std::uint64_t>> before;
  for (std::size_t b = 0; b < blocks.size_rows(); ++b) {
    if (blocks.state[b] != BlockState::inactive && blocks.stack[b] == StackId{} &&
        !traced.contains(blocks.address[b]) && parameter_sizes_.contains(blocks.requested[b]))
      before[blocks.requested[b]].push_back(blocks.address[b]);
  }
  for (auto& [size, addresses] : before) {
    const auto found = gradients.find(size);
    const auto of_each = found == gradients.end() ? std::size_t{0} : static_cast<std::size_t>(found->second);
    if (of_each == 0 || addresses.size() <= of_each || addresses.size() % of_each != 0) continue;
    std::sort(addresses.begin(), addresses.end());
    state_before_.insert(addresses.begin() + static_cast<std::ptrdiff_t>(of_each), addresses.end());
  }
}

/// By its size alone, where that of no parameter is known to be the same. A forward and a backward thread take one
/// each; tensors of that size come with each iteration.
bool Roles::is_workspace(const RoleQuery& block) const {
  constexpr std::size_t kThreads = 2;
  if (block.requested == kHopperWorkspace && hopper_sized_ > kThreads) return false;
  return block.never_freed() && is_cublas_size(block.requested) && !parameter_sizes_.contains(block.requested) &&
         !model_sizes_.contains(block.requested);
}

void Roles::add_section(std::int64_t number, const StackPhase& phase) {
  Part part = Part::script;
  if (phase.phase == Phase::unknown) {
    // Of the thread that is at work: backward, where no stacks are recorded for it.
    if (!sections_.empty() && sections_.back().part != Part::recompute) return;
    if (!sections_.empty()) part = Part::backward;
  } else if (is_of_autograd(phase.phase)) {
    part = phase.module_call ? Part::recompute : Part::backward;
  } else if (phase.phase == Phase::optimizer) {
    part = Part::step;
  } else if (phase.module_call) {
    part = Part::forward;
    first_forward_ = std::min(first_forward_, number);
  }
  if (sections_.empty() || sections_.back().part != part) push(number, part);
}

void Roles::push(std::int64_t number, Part part) {
  const auto in_backward = [](Part p) { return p == Part::backward || p == Part::recompute; };
  const bool goes_on = !sections_.empty() && in_backward(part) && in_backward(sections_.back().part);
  const std::size_t group = sections_.empty() ? 0 : sections_.back().group + (goes_on ? 0 : 1);
  sections_.push_back({number, part, group});
  if (in_backward(part) && !goes_on) backwards_.push_back(number);
}

std::size_t Roles::section_of(std::int64_t number) const {
  const auto after = std::upper_bound(sections_.begin(), sections_.end(), number,
                                      [](std::int64_t n, const Section& section) { return n < section.start; });
  return after == sections_.begin() ? 0 : static_cast<std::size_t>(after - sections_.begin()) - 1;
}

std::size_t Roles::backwards_between(std::int64_t start, std::int64_t end) const {
  const auto first = std::upper_bound(backwards_.begin(), backwards_.end(), start);
  return static_cast<std::size_t>(std::lower_bound(first, backwards_.end(), end) - first);
}

Roles::Rule Roles::look_at(std::size_t function) const {
  const std::string_view name = dictionary_.strings[dictionary_.functions.name[function]];
  std::string file(dictionary_.strings[dictionary_.functions.file[function]]);
  std::replace(file.begin(), file.end(), '\\', '/');
  Rule found = Rule::none;
  for (const RoleRule& rule : kRoleRules) {
    if (!contains(name, rule.function) || !contains(file, rule.file)) continue;
    const Rule said = rule.role == Role::workspace         ? Rule::workspace
                      : rule.role == Role::optimizer_state ? Rule::optimizer_state
                      : rule.role == Role::gradient        ? Rule::gradient
                      : rule.role == Role::autograd_detail ? Rule::bucket
                                                           : Rule::parameter;
    found = std::max(found, said);
  }
  return found;
}

Roles::Rule Roles::rule_of(StackId stack) {
  const auto [at, is_new] = rules_.try_emplace(stack, Rule::none);
  if (!is_new) return at->second;
  Rule found = Rule::none;
  for (const FrameId frame : dictionary_.stacks.frames(stack)) {
    const std::size_t function = index_of(dictionary_.frames.function[index_of(frame)]);
    std::optional<Rule>& known = rule_of_function_[function];
    if (!known) known = look_at(function);
    found = std::max(found, *known);
  }
  return at->second = found;
}

Role Roles::from_before(const RoleQuery& block, const StackPhase& phase, Rule rule) const {
  if (state_before_.contains(block.address)) return Role::optimizer_state;
  if (rule == Rule::parameter || parameter_sizes_.contains(block.requested)) return Role::parameter;
  if (phase.phase == Phase::optimizer) return Role::optimizer_state;
  return phase.module_call ? Role::activation : Role::before_trace;
}

Role Roles::of_backward(const RoleQuery& block, const StackPhase& phase) const {
  // Computed again: what it does not free itself is there for the gradients.
  if (phase.module_call)
    return !block.never_freed() && section_of(block.end) == section_of(block.start) ? Role::temporary
                                                                                    : Role::activation;
  const std::size_t group = group_of(block.start);
  const bool outlives = group_of(block.end) != group;
  const bool is_last = group == sections_.back().group;
  if (outlives || (is_last && parameter_sizes_.contains(block.requested))) return Role::gradient;
  return Role::autograd_detail;
}

/// Of a block that no module allocates.
bool Roles::is_input(std::int64_t start, std::int64_t end) const {
  const std::size_t next = section_of(start) + 1;
  return next < sections_.size() && sections_[next].part == Part::forward && section_of(end) >= next &&
         backwards_between(start, end) <= 1;
}

Role Roles::of_script(const RoleQuery& block, const StackPhase& phase) const {
  const std::size_t passes = backwards_between(block.start, block.end);
  if (phase.module_call) return passes > 0 || block.never_freed() ? Role::activation : Role::temporary;
  if (block.never_freed() && block.start < first_forward_ && parameter_sizes_.contains(block.requested))
    return Role::parameter;
  if (block.never_freed() && inputs_.contains(block.stack)) return Role::input;
  const std::size_t section = section_of(block.start);
  const bool after_forward = section > 0 && sections_[section - 1].part == Part::forward;
  if (after_forward && (passes > 0 || block.never_freed())) return Role::activation;
  if (block.never_freed()) return Role::unknown;
  if (section_of(block.end) == section) return Role::temporary;
  if (passes > 1) return Role::unknown;
  // Functions without modules: tensors that backward needs of them are not inputs.
  if (is_input(block.start, block.end)) return Role::input;
  return passes > 0 ? Role::activation : Role::unknown;
}

Role Roles::of(const RoleQuery& block) {
  if (block.unattributed) {
    // State that a step replaces.
    const bool in_step = !sections_.empty() && sections_[section_of(block.end)].part == Part::step;
    return in_step && parameter_sizes_.contains(block.requested) ? Role::optimizer_state : Role::before_trace;
  }
  const Rule rule = rule_of(block.stack);
  if (rule == Rule::workspace || (rule == Rule::none && is_workspace(block))) return Role::workspace;
  const StackPhase phase = phases_.of(block.stack);
  if (block.start < 0) return from_before(block, phase, rule);
  const bool stays = block.never_freed() || section_of(block.end) != section_of(block.start);
  if (rule == Rule::optimizer_state && stays) return Role::optimizer_state;
  if (rule == Rule::gradient && stays) return Role::gradient;
  if (rule == Rule::bucket && stays && own_gradients_ < static_cast<double>(block.requested)) return Role::gradient;
  if (block.never_freed() && loaded_state_.contains(block.address)) return Role::optimizer_state;
  if (rule == Rule::parameter && stays) return Role::parameter;
  if (phase.phase == Phase::optimizer) {
    return stays ? Role::optimizer_state : Role::temporary;
  }
  const Part part = sections_[section_of(block.start)].part;
  const bool in_backward = part == Part::backward || part == Part::recompute;
  if (is_of_autograd(phase.phase) || (phase.phase == Phase::unknown && in_backward)) return of_backward(block, phase);
  return phase.phase == Phase::script ? of_script(block, phase) : Role::unknown;
}

std::string_view Roles::part_at(std::uint64_t events) const {
  constexpr std::string_view kNames[] = {"", "forward", "backward", "the optimizer's step", "backward"};
  if (events == 0 || sections_.empty()) return {};
  return kNames[static_cast<std::size_t>(sections_[section_of(static_cast<std::int64_t>(events) - 1)].part)];
}

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
      block = {event.stack, n, 0, event.size, false, event.address};
    } else if (event.action == TraceAction::free_completed) {
      const auto at = open.find(event.address);
      if (at == open.end()) continue;
      close(at->second, n);
      open.erase(at);
    }
  }
  for (const auto& [address, block] : open) close(block, RoleQuery::kNeverFreed);
  return out;
}

}  // namespace snapdiff::cuda
