#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analyzer/cuda/cuda.hpp"
#include "analyzer/cuda/stack_phase.hpp"
#include "snapdiff/keyed_hash.hpp"

namespace snapdiff::cuda {

/// A block's life: the numbers of the events that allocated and freed it.
struct RoleQuery {
  StackId stack{};
  std::int64_t start = -1;  ///< negative: before the trace
  std::int64_t end = 0;     ///< kNeverFreed: beyond the trace
  std::int64_t requested = 0;
  bool unattributed = false;
  std::uint64_t address = 0;

  static constexpr std::int64_t kNeverFreed = std::numeric_limits<std::int64_t>::max();
  bool never_freed() const { return end == kNeverFreed; }
};

/// Roles of blocks (README.md, "Roles"). One pass over the trace; each question then takes a few look-ups.
class Roles {
 public:
  Roles(const Snapshot& snapshot, const EventLog& events);
  Role of(const RoleQuery& block);
  /// The part of the loop that the last of so many events is in; "" where not known. Lives as long as the program.
  std::string_view part_at(std::uint64_t events) const;

 private:
  enum class Part : std::uint8_t { script, forward, backward, step, recompute };
  /// group: of sections that follow each other in one backward pass the same, also where it computes forward again
  struct Section {
    std::int64_t start = 0;
    Part part = Part::script;
    std::size_t group = 0;
  };
  using Addresses = std::unordered_set<std::uint64_t, KeyedHash>;
  enum class Rule : std::uint8_t { none, parameter, bucket, gradient, optimizer_state, workspace };  ///< later outweigh

  void add_section(std::int64_t number, const StackPhase& phase);
  void push(std::int64_t number, Part part);
  std::size_t section_of(std::int64_t number) const;
  std::size_t group_of(std::int64_t number) const { return sections_[section_of(number)].group; }
  std::size_t backwards_between(std::int64_t start, std::int64_t end) const;
  bool is_input(std::int64_t start, std::int64_t end) const;
  Rule rule_of(StackId stack);
  Rule look_at(std::size_t function) const;
  void find_state_before(const Snapshot& snapshot, const std::unordered_map<std::int64_t, std::int64_t>& gradients,
                         const Addresses& traced);
  void find_loaded_state(const std::map<std::int64_t, std::vector<std::uint64_t>>& loose,
                         const std::unordered_map<std::int64_t, std::int64_t>& gradients);
  bool is_workspace(const RoleQuery& block) const;
  Role from_before(const RoleQuery& block, const StackPhase& phase, Rule rule) const;
  Role of_backward(const RoleQuery& block, const StackPhase& phase) const;
  Role of_script(const RoleQuery& block, const StackPhase& phase) const;

  const Dictionary& dictionary_;
  StackPhases phases_;
  std::vector<Section> sections_;
  std::vector<std::int64_t> backwards_;  ///< where each backward pass begins
  std::int64_t first_forward_ = 0;
  std::size_t hopper_sized_ = 0;            ///< allocations of kHopperWorkspace bytes
  std::set<std::int64_t> parameter_sizes_;  ///< requested bytes of gradients and of optimizer state
  std::set<std::int64_t> model_sizes_;      ///< requested bytes of what stacks say is a parameter
  Addresses state_before_;                  ///< addresses of optimizer state from before the trace
  Addresses loaded_state_;                  ///< of that which the script loaded
  double own_gradients_ = 0;                ///< bytes that backward passes left behind: gradients outside of buckets
  std::set<StackId> inputs_;                ///< stacks of inputs that were freed
  std::unordered_map<StackId, Rule> rules_;
  std::vector<std::optional<Rule>> rule_of_function_;  ///< where it was looked at
};

/// The role of the block that each event allocates, by number of the event; unknown for other events. One pass; memory
/// grows with the number of events, a byte each, and of different addresses.
std::vector<Role> roles_of_events(const EventLog& events, Roles& roles);

}  // namespace snapdiff::cuda
