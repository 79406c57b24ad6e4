// A service whose parts are chosen on the command line: svc STEPS SEED PAUSE_MS NAME...
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#define KEEP __attribute__((noinline))

static std::mt19937 rng;
static int step;

KEEP void* xmalloc(std::size_t size) {
  void* block = std::malloc(size);
  if (block == nullptr) std::abort();
  std::memset(block, 1, size < 64 ? size : 64);
  return block;
}

namespace svc {

struct Tile {
  char body[480];
};

template <typename T>
class Pool {
 public:
  KEEP T* acquire() {
    items_.push_back(std::make_unique<T>());  // leak: never given back
    return items_.back().get();
  }

 private:
  std::vector<std::unique_ptr<T>> items_;
};

class Registry {
 public:
  KEEP void track(int id) { names_[id] = std::string(120 + id % 30, 'x'); }  // leak

 private:
  std::unordered_map<int, std::string> names_;
};

}  // namespace svc

static svc::Pool<svc::Tile> pool;
static svc::Registry registry;
static std::vector<void*> kept;
static std::map<int, std::vector<char>> cache;
static std::vector<void*> ring(60);
static void* table;
static std::vector<void*> burst;
static std::vector<void*> queue;
static int ids;

KEEP void keep_record(int count) {  // leak through the shared wrapper
  for (int i = 0; i < count; ++i) kept.push_back(xmalloc(200));
}

KEEP void walk_tree(int depth) {  // leak at changing depths
  if (depth > 0) {
    walk_tree(depth - 1);
    asm volatile("");
    return;
  }
  for (int i = 0; i < 60; ++i) kept.push_back(std::malloc(700));
}

KEEP void warm_cache() {
  std::exponential_distribution<double> pick(1.0 / 50);
  for (int i = 0; i < 200; ++i) cache[static_cast<int>(pick(rng))].resize(900);
}

KEEP void touch_ring() {
  for (int i = 0; i < 30; ++i) {
    void*& slot = ring[rng() % ring.size()];
    std::free(slot);
    slot = xmalloc(2048);
  }
}

KEEP void load_table() {
  if (step == 2) table = xmalloc(1500000);
}

KEEP void burst_load() {
  if (step == 3) {
    for (int i = 0; i < 5; ++i) burst.push_back(xmalloc(300000));
  } else if (step == 5) {
    for (void* block : burst) std::free(block);
    burst.clear();
  }
}

KEEP void run_queue() {
  for (unsigned i = rng() % 100; i > 0; --i) queue.push_back(xmalloc(512));
  for (unsigned i = rng() % 105; i > 0 && !queue.empty(); --i) {
    std::free(queue.back());
    queue.pop_back();
  }
}

KEEP void mark_step() {
  std::free(xmalloc(7000000 + static_cast<std::size_t>(step)));
}  // a recording shows the step by this size

KEEP void handle_request(const std::string& name) {
  if (name == "pool") {
    for (int i = 0; i < 150; ++i) pool.acquire();
  } else if (name == "registry") {
    for (int i = 0; i < 400; ++i) registry.track(ids++);
  } else if (name == "record") {
    keep_record(300);
  } else if (name == "tree") {
    walk_tree(step % 4);
  } else if (name == "cache") {
    warm_cache();
  } else if (name == "ring") {
    touch_ring();
  } else if (name == "table") {
    load_table();
  } else if (name == "burst") {
    burst_load();
  } else if (name == "queue") {
    run_queue();
  }
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const int steps = std::atoi(argv[1]);
  rng.seed(static_cast<unsigned>(std::atoi(argv[2])));
  const auto pause = std::chrono::milliseconds(std::atoi(argv[3]));
  const auto start = std::chrono::steady_clock::now();
  for (step = 1; step <= steps; ++step) {
    for (int i = 4; i < argc; ++i) handle_request(argv[i]);
    mark_step();
    std::this_thread::sleep_until(start + step * pause);
  }
  if (std::getenv("SVC_EXIT") != nullptr) return 0;  // a recorder that writes its last lines at exit
  std::_Exit(0);                                     // what is live stays live
}
