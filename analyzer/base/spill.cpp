#include "analyzer/base/spill.hpp"

#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "analyzer/base/failure.hpp"
#include "analyzer/base/number_text.hpp"

namespace snapdiff::spill {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();
/// Free memory is looked at only when large blocks pass this: a small input does not pay for it.
constexpr std::size_t kAlwaysFits = std::size_t{64} << 20;

std::atomic<std::size_t> limit{kNoLimit};
std::atomic<bool> limit_known{false};
std::atomic<std::ptrdiff_t> in_memory{0};  // large blocks, as malloc sees them

std::optional<std::uint64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  if (file >> number) return number;
  return std::nullopt;
}

/// The value behind "MemAvailable:" of /proc/meminfo, "inactive_file" of memory.stat, and the like.
std::optional<std::uint64_t> number_behind(const std::string& path, const std::string& word) {
  std::ifstream file(path);
  std::string name;
  std::uint64_t number = 0;
  for (std::string line; std::getline(file, line);) {
    if (std::istringstream(line) >> name >> number && name == word) return number;
  }
  return std::nullopt;
}

/// The least that a control group and those above it have left; pages of files that they count go when memory is short.
std::uint64_t free_of_groups(const std::string& root, std::string group, const char* most, const char* used) {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (;; group.erase(group.rfind('/'))) {
    const std::string folder = root + group + "/";
    const auto limit_of_group = number_in(folder + most);
    const auto now = number_in(folder + used);
    if (limit_of_group && now) {
      const std::uint64_t held =
          *now - std::min(*now, number_behind(folder + "memory.stat", "inactive_file").value_or(0));
      least = std::min(least, *limit_of_group - std::min(*limit_of_group, held));
    }
    if (group.empty() || group.find('/') == std::string::npos) return least;
  }
}

/// A file without a name, of which each block is mapped on its own. A place in it is used once: freed, it is a hole.
class File {
 public:
  void* take(std::size_t size) {
    const std::lock_guard<std::mutex> hold(mutex_);
    if (descriptor_ < 0) open();
    const std::size_t whole = (size + kPage - 1) / kPage * kPage;
    if (whole < size || !grow(whole)) refuse(size);
    void* const memory = ::mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, end_);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    blocks_.emplace(memory, Block{end_, whole});
    end_ += static_cast<::off_t>(whole);
    bytes_ += whole;
    most_ = std::max(most_, bytes_);
    count_.store(blocks_.size());
    return memory;
  }
  bool give_back(void* memory) noexcept {
    if (count_.load() == 0) return false;
    const std::lock_guard<std::mutex> hold(mutex_);
    const auto found = blocks_.find(memory);
    if (found == blocks_.end()) return false;
    const Block block = found->second;
    ::munmap(memory, block.size);
    ::fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, block.begin, static_cast<::off_t>(block.size));
    bytes_ -= block.size;
    blocks_.erase(found);
    count_.store(blocks_.size());
    return true;
  }
  void set_folder(std::string_view folder) {
    const std::lock_guard<std::mutex> hold(mutex_);
    if (descriptor_ < 0) folder_ = folder.empty() ? "." : folder;
  }
  Used most_used() {
    const std::lock_guard<std::mutex> hold(mutex_);
    return {most_, limit.load(), folder_};
  }

 private:
  struct Block {
    ::off_t begin = 0;
    std::size_t size = 0;
  };

  void open() {
    const char* const chosen = std::getenv("TMPDIR");
    for (const std::string& folder :
         {folder_, std::string(chosen == nullptr ? "" : chosen), std::string("/var/tmp"), std::string("/tmp")}) {
      if (folder.empty()) continue;
      descriptor_ = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
      if (descriptor_ < 0) {  // not every file system has files without names
        std::string path = folder + "/snapdiff-memory-XXXXXX";
        descriptor_ = ::mkostemp(path.data(), O_CLOEXEC);
        if (descriptor_ >= 0) ::unlink(path.c_str());
      }
      if (descriptor_ < 0) continue;
      folder_ = folder;
      return;
    }
    throw std::bad_alloc();
  }
  /// Room on the disk for what will be written: a page that finds none ends the process.
  bool grow(std::size_t size) const {
    const auto length = static_cast<::off_t>(size);
    if (length > std::numeric_limits<::off_t>::max() - end_) return false;
    if (::fallocate(descriptor_, 0, end_, length) == 0) return true;
    return (errno == EOPNOTSUPP || errno == ENOSYS) && ::ftruncate(descriptor_, end_ + length) == 0;
  }
  [[noreturn]] void refuse(std::size_t size) const {
    fail({ErrorCode::io,
          "no room for " + bytes_text(static_cast<std::int64_t>(std::min(size, kNoLimit / 2))) + " of memory beyond " +
              bytes_text(static_cast<std::int64_t>(limit.load())) + "; a larger --memory or another TMPDIR helps",
          std::nullopt, folder_});
  }

  std::mutex mutex_;
  int descriptor_ = -1;
  ::off_t end_ = 0;
  std::uint64_t bytes_ = 0, most_ = 0;
  std::string folder_;
  std::map<void*, Block> blocks_;
  std::atomic<std::size_t> count_{0};
};

/// Never destroyed: the last blocks go back after all that is static.
File& file() {
  static File& one = *new File;
  return one;
}

}  // namespace

void set_limit(std::size_t bytes) {
  limit = bytes;
  limit_known = true;
}

void set_folder(std::string_view folder) { file().set_folder(folder); }

std::size_t most_of_free() {
  constexpr std::uint64_t kKilo = 1024;
  std::uint64_t free = number_behind("/proc/meminfo", "MemAvailable:").value_or(kNoLimit / kKilo) * kKilo;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string kinds = line.substr(first + 1, second - first - 1), group = line.substr(second + 1);
    if (kinds.empty())
      free = std::min(free, free_of_groups("/sys/fs/cgroup", group, "memory.max", "memory.current"));
    else if (("," + kinds + ",").find(",memory,") != std::string::npos)
      free = std::min(free,
                      free_of_groups("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes", "memory.usage_in_bytes"));
  }
  return static_cast<std::size_t>(free / 10 * 7);
}

void* take(std::size_t size) {
  const auto held = static_cast<std::size_t>(std::max<std::ptrdiff_t>(in_memory.load(std::memory_order_relaxed), 0));
  const std::size_t wanted = size > kNoLimit - held ? kNoLimit : held + size;
  if (wanted > kAlwaysFits && !limit_known.exchange(true)) limit = std::min(limit.load(), held + most_of_free());
  if (wanted > limit.load()) return file().take(size);
  void* const memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  in_memory.fetch_add(static_cast<std::ptrdiff_t>(::malloc_usable_size(memory)), std::memory_order_relaxed);
  return memory;
}

bool give_back(void* memory) noexcept {
  if (file().give_back(memory)) return true;
  const std::size_t size = ::malloc_usable_size(memory);
  if (size >= kLarge) in_memory.fetch_sub(static_cast<std::ptrdiff_t>(size), std::memory_order_relaxed);
  return false;
}

Used most_used() { return file().most_used(); }

}  // namespace snapdiff::spill
