#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

/// Made-up heaps of a made-up program, as large as a benchmark wants. The same arguments give the
/// same heaps, and files of the same bytes, on every machine.
namespace snapdiff::bench {

/// splitmix64; the standard distributions differ between libraries, so none is used.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(((next() >> 32) * n) >> 32); }
  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

 private:
  std::uint64_t state_;
};

/// One place in the code: a call, or the allocation at the leaf.
struct Site {
  std::uint32_t function = 0;
  std::uint32_t inlined_function = 0;  ///< 0: none
  std::uint32_t line = 0;
  std::uint32_t callee = 0;
  std::uint64_t address = 0;
};

/// `functions` functions with one to six calls each. Function 0 is main.
class Program {
 public:
  static constexpr std::uint64_t kTextStart = 0x400000;

  Program(std::uint32_t functions, std::uint64_t seed);

  /// A walk from main to an allocation; the sites, leaf first. It starts with the first `shared`
  /// calls of `model` (any stack), and goes its own way from there.
  std::vector<std::uint32_t> walk(Random& random, std::uint32_t depth, const std::vector<std::uint32_t>& model,
                                  std::uint32_t shared) const;

  /// The next release of it: every line moved, in a quarter of the functions some of them further; every address too.
  Program rebuilt() const;

  static std::string function_name(std::uint32_t function);
  static std::string file_name(std::uint32_t function);

  std::vector<Site> sites;
  std::uint64_t text_limit = 0;
  std::string build_id = "7f3a55c19be02d447f3a55c19be02d447f3a55c1";

 private:
  std::vector<std::uint32_t> first_site_;
};

/// Mean bytes between two samples: the default of Go, tcmalloc and jemalloc.
inline constexpr std::int64_t kSamplePeriod = 512 * 1024;

/// One bucket of a sampling heap profiler: raw sampled counts of objects of one size.
struct Bucket {
  std::vector<std::uint32_t> stack;  ///< rows of Program::sites, leaf first; no two buckets share one
  std::int64_t object_bytes = 0;
  std::int64_t in_use = 0;
  std::int64_t allocated = 0;
};

class Heap {
 public:
  Heap(const Program& program, std::uint32_t stacks, std::uint32_t mean_depth, std::uint64_t seed);

  /// A while later: `changed` of 10 000 buckets have another value, and `replaced` of 10 000 are
  /// gone, with as many new ones in front (profilers list the newest first).
  void step(std::uint32_t changed, std::uint32_t replaced);

  const std::vector<Bucket>& buckets() const { return buckets_; }

 private:
  Bucket new_bucket();
  std::vector<std::uint32_t> new_stack();
  void change(Bucket& bucket);

  const Program& program_;
  std::uint32_t mean_depth_;
  Random random_;
  std::vector<Bucket> buckets_;
  std::unordered_set<std::uint64_t> seen_;
};

/// profile.proto, not compressed, in the layout that the Go runtime writes: four sample types,
/// locations and functions where first used, strings last.
std::string profile_proto(const Program& program, const std::vector<Bucket>& buckets, std::int64_t time_ns);

/// jemalloc's heap_v2 text.
std::string jemalloc_text(const Program& program, const std::vector<Bucket>& buckets);

/// gperftools' text: exact counts, in use and ever allocated.
std::string tcmalloc_text(const Program& program, const std::vector<Bucket>& buckets);

}  // namespace snapdiff::bench
