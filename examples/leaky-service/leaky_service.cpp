// A service that leaks in one place, keeps a bounded cache in another, and dumps its heap profile
// after every round of requests. Usage: leaky_service ROUNDS
//
// Per round and for ever: 1000 sessions of 64 bytes, each with a token of 200 bytes. The cache is
// full after the first round and stays as it is. Nothing else grows.
#include <dlfcn.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int kSessionsPerRound = 1000;
constexpr std::size_t kTokenBytes = 200;
constexpr std::size_t kPageBytes = 4096;

struct Session {
  char* token;
  Session* next;
  char state[48];
};

Session* open_sessions = nullptr;
char* cache[256];

// Keeps a call a call: one that is the last thing a function does would become a jump, and its
// frame would be missing from the stacks.
#define KEEP_FRAME asm volatile("")

[[gnu::noinline]] char* make_token(std::size_t bytes) {
  char* token = static_cast<char*>(std::malloc(bytes));
  std::memset(token, 't', bytes);
  return token;
}

[[gnu::noinline]] void open_session() {
  auto* session = static_cast<Session*>(std::malloc(sizeof(Session)));
  session->token = make_token(kTokenBytes);
  session->next = open_sessions;  // nobody ever closes it: the leak
  open_sessions = session;
  KEEP_FRAME;
}

[[gnu::noinline]] void fill_cache(int request) {
  char*& page = cache[request % 256];
  std::free(page);
  page = make_token(kPageBytes);
  KEEP_FRAME;
}

[[gnu::noinline]] void handle_request(int request) {
  open_session();
  fill_cache(request);
  KEEP_FRAME;
}

/// gperftools' HeapProfilerDump, where the process runs with it.
void dump_heap(const char* reason) {
  using Dump = void (*)(const char*);
  if (auto* dump = reinterpret_cast<Dump>(dlsym(RTLD_DEFAULT, "HeapProfilerDump"))) dump(reason);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 8;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < kSessionsPerRound; ++i) handle_request(i);
    dump_heap("end of a round");
  }
  std::printf("%d rounds, %zu bytes leaked in each\n", rounds, kSessionsPerRound * (sizeof(Session) + kTokenBytes));
}
