// Any bytes through the pickle machine, with a consumer that gives every container a role: a value
// or an error, in bounded time, and the same one whatever the window.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "formats/input/read_failure.hpp"
#include "formats/pickle/machine.hpp"
#include "fuzz/fuzz_targets.hpp"
#include "support/memory_input.hpp"

using namespace snapdiff;
using namespace snapdiff::formats::pickle;

namespace {

/// Roles are depths: even ones are lists that become handles, odd ones records.
class Consumer {
 public:
  Role root_role(Kind) { return 1; }
  static Role child(Role parent, std::uint32_t key, Kind kind) {
    if (parent == 0 || parent > 40) return 0;
    if (kind == Kind::list) return static_cast<Role>(key == kNoKey ? 0 : parent + 1 + parent % 2);
    return static_cast<Role>(parent + 1 + (parent % 2 == 0 ? 0 : 1));
  }
  static bool gathers(Role role) { return role % 4 == 0; }
  static bool takes_runs(Role role) { return role % 2 == 0; }
  bool is_empty(Role role) const { return count_[role] == 0; }
  static bool wants_text(Role role, std::uint32_t) { return role % 3 == 0; }
  void open(Role role) { count_[role] = 0; }
  void field(Role role, std::uint32_t key, const Value& value) { add(role, key, value); }
  void item(Role role, const Value& value) {
    ++count_[role];
    add(role, 1, value);
  }
  Value close(Role role) {
    digest = mix64(digest + role);
    return role % 2 == 0 ? make_value(Kind::handle, count_[role] % 1000, 1) : make_value(Kind::lost, 0, role);
  }
  void reopen(Role role, std::uint64_t number) { count_[role] = number; }
  void at(std::uint64_t) {}
  void bad_text() { digest = mix64(digest + 77); }
  std::uint64_t digest = 0;

 private:
  void add(Role role, std::uint32_t key, const Value& value) {
    digest = mix64(digest ^ (std::uint64_t{role} << 40) ^ key ^ static_cast<std::uint64_t>(value.kind) << 50);
    if (value.kind == Kind::integer || value.kind == Kind::text || value.kind == Kind::pair)
      digest = mix64(digest ^ value.bits);
  }
  std::uint64_t count_[256] = {};
};

std::string outcome(std::string_view bytes, std::size_t window) {
  test::MemoryInput in(bytes, window);
  Pools pools;
  Consumer consumer;
  try {
    Machine<Consumer> machine(in, pools, consumer);
    machine.run();
    const std::uint64_t behind = machine.drain();
    return std::to_string(consumer.digest) + " " + std::to_string(behind);
  } catch (const snapdiff::Failure& error) {
    if (error.error.code == ErrorCode::internal || error.error.message.empty()) std::abort();
    if (error.error.offset.value_or(0) > bytes.size()) std::abort();
    return error.error.text();
  }
}

}  // namespace

void snapdiff::test::fuzz_pickle(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string whole = outcome(bytes, 0);
  const std::string pieces = outcome(bytes, 1 + size % 61);
  // Runs of fetches are taken at once only where the window holds them: not the calls, but what
  // they amount to must agree.
  if ((whole.find("malformed") == std::string::npos) != (pieces.find("malformed") == std::string::npos)) std::abort();
}
