#include "synthetic_heap.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace snapdiff::bench {
namespace {

double square(double x) { return x * x; }

std::uint64_t hash(const std::vector<std::uint32_t>& stack) {
  std::uint64_t h = stack.size();
  for (const std::uint32_t site : stack) h = (h ^ site) * 0x9e3779b97f4a7c15ULL + (h >> 29);
  return h;
}

}  // namespace

Program::Program(std::uint32_t functions, std::uint64_t seed) {
  Random random(seed);
  first_site_.reserve(functions + 1);
  std::uint64_t address = kTextStart + 0x1000;
  for (std::uint32_t f = 0; f < functions; ++f) {
    first_site_.push_back(static_cast<std::uint32_t>(sites.size()));
    const std::uint32_t calls = 1 + random.below(6);
    for (std::uint32_t k = 0; k <= calls; ++k) {  // the last one is the allocation
      Site site;
      site.function = f;
      site.line = 10 + f % 900 + 7 * k;
      // Real calls stay mostly near: three of four go to one of the next 200 functions.
      site.callee = random.below(4) != 0 ? (f + 1 + random.below(200)) % functions : random.below(functions);
      if (functions > 2 && random.below(100) < 15) site.inlined_function = 1 + random.below(functions - 1);
      site.address = address += 16 + random.below(180);
      sites.push_back(site);
    }
    address += 64;
  }
  first_site_.push_back(static_cast<std::uint32_t>(sites.size()));
  text_limit = (address + 0x1fff) & ~std::uint64_t{0xfff};
}

Program Program::rebuilt() const {
  Program out = *this;
  for (std::size_t i = 0; i < out.sites.size(); ++i) {
    Site& site = out.sites[i];
    const bool behind_new_lines = site.function % 4 == 0 && i >= first_site_[site.function] + 2U;
    site.line += 1 + site.function % 5 + (behind_new_lines ? 3 : 0);
    site.address += 0x340;
  }
  out.text_limit += 0x1000;
  out.build_id.front() = '8';
  return out;
}

std::vector<std::uint32_t> Program::walk(Random& random, std::uint32_t depth, const std::vector<std::uint32_t>& model,
                                         std::uint32_t shared) const {
  std::vector<std::uint32_t> stack(depth);
  std::uint32_t function = 0;
  for (std::uint32_t level = 0; level + 1 < depth; ++level) {
    std::uint32_t site = 0;
    if (level < shared) {
      site = model[model.size() - 1 - level];
    } else {
      const std::uint32_t first = first_site_[function];
      const std::uint32_t calls = first_site_[function + 1] - first - 1;
      site = first + static_cast<std::uint32_t>(square(random.unit()) * calls);
    }
    stack[depth - 1 - level] = site;
    function = sites[site].callee;
  }
  stack[0] = first_site_[function + 1] - 1;
  return stack;
}

std::string Program::function_name(std::uint32_t f) {
  if (f == 0) return "main.main";
  static const char* const kPackages[] = {"api", "cache", "codec", "index", "queue",
                                          "rpc", "sched", "store", "table", "wire"};
  static const char* const kTypes[] = {"Handler", "Batch", "Reader", "Writer", "Session", "Page", "Node", "Router"};
  static const char* const kVerbs[] = {"Decode", "Encode", "Append", "Resolve", "Insert",
                                       "Merge",  "Fetch",  "Apply",  "Split",   "Load"};
  const std::string number = std::to_string(f);
  std::string name = std::string("example.com/service/") + kPackages[f % 10] + ".";
  if (f % 3 != 0) name += std::string("(*") + kTypes[f / 10 % 8] + ").";
  name += std::string(kVerbs[f / 80 % 10]) + number;
  if (f % 11 == 0) name += ".func1";
  return name;
}
std::string Program::file_name(std::uint32_t f) {
  return "/src/example.com/service/part" + std::to_string(f % 10) + "/file" + std::to_string(f / 25) + ".go";
}

Heap::Heap(const Program& program, std::uint32_t stacks, std::uint32_t mean_depth, std::uint64_t seed)
    : program_(program), mean_depth_(mean_depth), random_(seed) {
  for (std::uint32_t i = 0; i < stacks; ++i) buckets_.push_back(new_bucket());
}

void Heap::step(std::uint32_t changed, std::uint32_t replaced) {
  const std::size_t count = buckets_.size() * replaced / 10'000;
  for (Bucket& bucket : buckets_) {
    if (random_.below(10'000) < changed) change(bucket);
  }
  std::set<std::size_t> gone;
  while (gone.size() < count) gone.insert(random_.below(static_cast<std::uint32_t>(buckets_.size())));
  std::vector<Bucket> next;
  next.reserve(buckets_.size());
  for (std::size_t i = 0; i < count; ++i) next.push_back(new_bucket());
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    if (!gone.contains(i)) next.push_back(std::move(buckets_[i]));
  }
  buckets_ = std::move(next);
}

Bucket Heap::new_bucket() {
  static constexpr std::int64_t kSizes[] = {16, 32, 48, 64, 96, 128, 256, 512, 1024, 2048, 4096, 8192, 32768, 1048576};
  constexpr int kMostTries = 100'000;
  Bucket bucket;
  int tries = 0;
  do {
    if (++tries > kMostTries) throw std::runtime_error("no more stacks so shallow: a larger depth= is needed");
    bucket.stack = new_stack();
  } while (!seen_.insert(hash(bucket.stack)).second);
  bucket.object_bytes = kSizes[random_.below(14)];
  bucket.in_use = 1 + random_.below(4) * random_.below(8);
  bucket.allocated = bucket.in_use + random_.below(6) * random_.below(12);
  return bucket;
}
// Nine of ten stacks leave an earlier one near its leaf: real profiles of 5000 to 7000 stacks take
// 1.3 to 1.5 gzipped bytes a frame; these take 1.6 (20 000 stacks), independent walks 3.8.
std::vector<std::uint32_t> Heap::new_stack() {
  const std::uint32_t spread = mean_depth_ / 2 + 1;
  const std::uint32_t depth = mean_depth_ - spread / 2 + (random_.below(spread) + random_.below(spread) + 1) / 2;
  static const std::vector<std::uint32_t> kNone;
  if (buckets_.empty() || random_.below(10) == 0) return program_.walk(random_, depth, kNone, 0);
  const std::vector<std::uint32_t>& model = buckets_[random_.below(static_cast<std::uint32_t>(buckets_.size()))].stack;
  const auto model_depth = static_cast<std::uint32_t>(model.size());
  const std::uint32_t own = 1 + random_.below(4) + random_.below(4);  // levels of its own, at least
  const std::uint32_t shared = model_depth > own + 1 ? model_depth - 1 - own : 0;
  const std::uint32_t whole = std::max(depth, std::min(shared, 2 * mean_depth_) + own);
  return program_.walk(random_, random_.below(3) == 0 ? whole : shared + own + 1, model, shared);
}
void Heap::change(Bucket& bucket) {
  const std::int64_t more = 1 + random_.below(3);
  bucket.allocated += more;
  if (random_.below(3) == 0 && bucket.in_use > 1) {
    bucket.in_use -= 1;
  } else {
    bucket.in_use += more;
  }
}
}  // namespace snapdiff::bench
