// Writes the large inputs of the benchmarks to files; synthetic_heap.hpp says what is in them.
#include <libdeflate.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "synthetic_heap.hpp"

namespace {

using namespace snapdiff::bench;

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path);
}

std::string gzip(const std::string& bytes) {
  const std::unique_ptr<libdeflate_compressor, void (*)(libdeflate_compressor*)> packer(libdeflate_alloc_compressor(6),
                                                                                        libdeflate_free_compressor);
  std::string out(libdeflate_gzip_compress_bound(packer.get(), bytes.size()), '\0');
  out.resize(libdeflate_gzip_compress(packer.get(), bytes.data(), bytes.size(), out.data(), out.size()));
  if (out.empty()) throw std::runtime_error("compression failed");
  return out;
}

void write_profile(const std::string& path, const Program& program, const Heap& heap, std::int64_t step) {
  const std::int64_t time_ns = 1'700'000'000'000'000'000 + step * 60'000'000'000;
  write_file(path, gzip(profile_proto(program, heap.buckets(), time_ns)));
}

/// Work that never changes, for kept.py to divide by: arithmetic, and reads all over a table larger than the caches.
int calibrate() {
  constexpr std::size_t kWords = std::size_t{8} << 20;  // 64 MiB
  constexpr std::size_t kSteps = 20'000'000;
  std::vector<std::uint64_t> table(kWords);
  std::uint64_t state = 1;
  for (std::uint64_t& word : table) word = state = state * 6364136223846793005U + 1442695040888963407U;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kSteps; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    sum += table[(state >> 33U) % kWords] ^ state;
  }
  return sum == 0 ? 1 : 0;
}

// --- command line -----------------------------------------------------------------------------------

constexpr std::string_view kUsage =
    "usage: bench_generate KIND FOLDER [NAME=NUMBER ...]\n"
    "  pprof     a.pb.gz and b.pb.gz in FOLDER\n"
    "  jemalloc  a.heap and b.heap in FOLDER, heap_v2 text\n"
    "  tcmalloc  a.heap and b.heap in FOLDER, gperftools text\n"
    "  series    s.0001.pb.gz ... in FOLDER\n"
    "  calibrate writes nothing: the fixed work that kept.py divides times by\n"
    "  build     prints compiler, processor and flags\n"
    "numbers, with their defaults:\n"
    "  functions: a fifth of the stacks, at least 100, at most 20000\n"
    "  stacks=20000 depth=30 seed=1 count=100 (snapshots of a series)\n"
    "  changed=1000 replaced=100 (of 10000 stacks, from one snapshot to the next)\n"
    "  rebuilt=0 (1: b.pb.gz comes of the program's next release)\n";

int run(const std::vector<std::string>& arguments) {
  if (!arguments.empty() && arguments[0] == "calibrate") return calibrate();
  if (!arguments.empty() && arguments[0] == "build") return std::puts(SNAPDIFF_BUILD) < 0 ? 1 : 0;
  if (arguments.size() < 2) throw std::invalid_argument("KIND and FOLDER are needed");
  std::map<std::string, std::uint32_t> number = {{"stacks", 20'000}, {"depth", 30},  {"functions", 0},
                                                 {"seed", 1},        {"count", 100}, {"changed", 1000},
                                                 {"replaced", 100},  {"rebuilt", 0}};
  for (std::size_t i = 2; i < arguments.size(); ++i) {
    const std::size_t equals = arguments[i].find('=');
    const auto place = number.find(arguments[i].substr(0, equals));
    if (equals == std::string::npos || place == number.end()) {
      throw std::invalid_argument("unknown argument: " + arguments[i]);
    }
    place->second = static_cast<std::uint32_t>(std::stoul(arguments[i].substr(equals + 1)));
  }
  std::uint32_t& functions = number["functions"];
  // Real Go profiles hold 0.5 to 0.8 locations per sample; this comes to about that.
  if (functions == 0) functions = std::clamp(number["stacks"] / 5, 100U, 20'000U);
  const std::string& kind = arguments[0];
  const std::string folder = arguments[1] + "/";
  const Program program(functions, number["seed"]);
  Heap heap(program, number["stacks"], number["depth"], number["seed"] + 1);
  const auto later = [&] { heap.step(number["changed"], number["replaced"]); };
  if (kind == "pprof") {
    write_profile(folder + "a.pb.gz", program, heap, 0);
    later();
    write_profile(folder + "b.pb.gz", number["rebuilt"] != 0 ? program.rebuilt() : program, heap, 1);
  } else if (kind == "jemalloc") {
    write_file(folder + "a.heap", jemalloc_text(program, heap.buckets()));
    later();
    write_file(folder + "b.heap", jemalloc_text(program, heap.buckets()));
  } else if (kind == "tcmalloc") {
    write_file(folder + "a.heap", tcmalloc_text(program, heap.buckets()));
    later();
    write_file(folder + "b.heap", tcmalloc_text(program, heap.buckets()));
  } else if (kind == "series") {
    for (std::uint32_t i = 0; i < number["count"]; ++i) {
      if (i != 0) later();
      char name[32];
      std::snprintf(name, sizeof name, "s.%04u.pb.gz", i + 1);
      write_profile(folder + name, program, heap, i);
    }
  } else {
    throw std::invalid_argument("unknown kind: " + kind);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "bench_generate: %s\n%.*s", error.what(), static_cast<int>(kUsage.size()), kUsage.data());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_generate: %s\n", error.what());
    return 1;
  }
}
