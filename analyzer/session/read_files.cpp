#include "analyzer/session/read_files.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <numeric>
#include <system_error>
#include <utility>

#include "analyzer/base/free_memory.hpp"
#include "analyzer/base/number_text.hpp"
#include "analyzer/base/parallel.hpp"
#include "analyzer/session/naming.hpp"
#include "analyzer/session/shared_dictionary.hpp"
#include "formats/registry.hpp"

namespace snapdiff::session {
namespace {

namespace fs = std::filesystem;

/// At most this number of files, and beyond this size on disk two, are read once more together.
constexpr std::size_t kReadAgain = 8;
constexpr std::uint64_t kBytesAgain = std::uint64_t{24} << 20;

/// From this many files on they share a dictionary, whatever is in them.
constexpr std::size_t kSharedFrom = 8;

// Gives the snapshots of a long series one dictionary, in the order of the files, whichever is read first.
class Sharing {
 public:
  explicit Sharing(std::size_t files) : read_(files, false) {}

  void finished(std::size_t file, ReadResults& results) {
    if (read_.size() < kSharedFrom) return;
    const std::lock_guard<std::mutex> hold(mutex_);
    read_[file] = true;
    for (; next_ < read_.size() && read_[next_]; ++next_) {
      if (Snapshot* const only = only_snapshot(*results[next_])) dictionary_.take(*only);
    }
  }

  /// A few large files that hold nearly the same share the dictionary of the last one, so that its stacks keep their
  /// order and those of the others come after them. The last one is read first.
  bool few() const { return read_.size() >= 2 && read_.size() < kSharedFrom; }

  /// The stacks of the last one, null where it is not shared. Waits for last_finished().
  const HeldStacks* held_by_last() {
    std::unique_lock<std::mutex> hold(mutex_);
    last_read_.wait(hold, [&] { return last_is_read_; });
    return adopted_ ? &dictionary_ : nullptr;
  }

  /// `last`: null where nothing came of it.
  void last_finished(ReadFile* last) {
    Snapshot* const only = last == nullptr ? nullptr : only_snapshot(*last);
    const bool adopted = only != nullptr && only->dictionary->stacks.size() >= kParallelStacks;
    if (adopted) dictionary_.adopt(*only);
    {
      const std::lock_guard<std::mutex> hold(mutex_);
      adopted_ = adopted;
      last_is_read_ = true;
    }
    last_read_.notify_all();
  }

  void all_finished(ReadResults& results) {
    if (!few() || !adopted_) return;
    for (std::size_t file = results.size() - 1; file-- > 0;) {
      if (Snapshot* const only = only_snapshot(*results[file])) dictionary_.take_if_alike(*only);
    }
    dictionary_.forget();
    give_free_memory_back();
  }

 private:
  static Snapshot* only_snapshot(ReadFile& file) {
    const bool alone = !file.lacks_rows && file.snapshots && file.snapshots->size() == 1;
    return alone && file.snapshots->front().dictionary != nullptr ? &file.snapshots->front() : nullptr;
  }

  std::mutex mutex_;
  std::condition_variable last_read_;
  std::vector<bool> read_;
  std::size_t next_ = 0;
  bool last_is_read_ = false, adopted_ = false;
  SharedDictionary dictionary_;
};

formats::ReadOptions read_options_of(const Request& request) {
  formats::ReadOptions out;
  out.format = request.format;
  out.strict = request.strict;
  out.patterns = request.patterns;
  out.group_by = request.group_by;
  out.decimal_units = request.decimal_units;
  out.max_input_bytes = request.max_input_bytes;
  out.hash = request.hash;
  return out;
}

/// How far the reading of some files is, by their bytes.
class Reading {
 public:
  Reading(const std::vector<Job>& jobs, const Watch& watch) {
    if (!watch) return;
    for (const Job& job : jobs) {
      std::error_code failure;
      const auto size = job.path == "-" ? 0 : fs::file_size(job.path, failure);
      sizes_.push_back(failure ? 0 : size);
    }
    done_ = std::vector<std::atomic<std::uint64_t>>(sizes_.size());
    total_ = std::accumulate(sizes_.begin(), sizes_.end(), std::uint64_t{0});
    stage_ = watch("reading");
  }

  bool is_watched() const { return stage_ != nullptr; }

  void update(std::size_t file, std::uint64_t bytes_done) {
    if (stage_ == nullptr) return;
    done_[file].store(std::min(bytes_done, sizes_[file]), std::memory_order_relaxed);  // 0 of a pipe
    std::uint64_t done = 0;
    for (const auto& bytes : done_) done += bytes.load(std::memory_order_relaxed);
    stage_->update(total_ == 0 ? -1 : static_cast<double>(done) / static_cast<double>(total_), [&] {
      return std::to_string(files_done_.load(std::memory_order_relaxed)) + " of " + std::to_string(sizes_.size()) +
             " files  " + bytes_text(static_cast<std::int64_t>(done)) + " of " +
             bytes_text(static_cast<std::int64_t>(total_));
    });
  }

  void finished(std::size_t file) {
    files_done_.fetch_add(1, std::memory_order_relaxed);
    if (stage_ != nullptr) update(file, sizes_[file]);
  }

 private:
  std::unique_ptr<Stage> stage_;
  std::vector<std::uint64_t> sizes_;
  std::vector<std::atomic<std::uint64_t>> done_;
  std::atomic<std::size_t> files_done_{0};
  std::uint64_t total_ = 0;
};

std::size_t bytes_of_rows(const SampleTable& samples) {
  std::size_t bytes = samples.size() * (sizeof(StackId) + sizeof(LabelSetId));
  for (const Column& column : samples.columns)
    bytes += column.value.size() * sizeof(std::int64_t) + column.known.size();
  return bytes;
}

/// Leaves the facts and the columns' types.
void drop_rows(Snapshot& snapshot) {
  SampleTable samples;
  for (Column& column : snapshot.samples.columns)
    samples.columns.push_back({std::move(column.type), {}, {}, column.half_unit});
  snapshot.samples = std::move(samples);
  snapshot.mappings.clear();
  snapshot.dictionary = std::make_shared<const Dictionary>();
}

// How many bytes of rows are held.
class Held {
 public:
  explicit Held(std::size_t most) : most_(most) {}

  /// Whether the rows of what was read are dropped. Never those of the standard input, which is read once.
  bool drop(std::vector<Snapshot>& read, const Job& job) {
    if (read.size() != 1 || job.path == "-" || !job.point.empty()) return false;
    Snapshot& snapshot = read.front();
    if (snapshot.allocator != nullptr || snapshot.graph != nullptr || snapshot.samples.size() == 0) return false;
    const std::size_t bytes = bytes_of_rows(snapshot.samples);
    if (bytes_.fetch_add(bytes) + bytes <= most_) return false;
    bytes_.fetch_sub(bytes);
    drop_rows(snapshot);
    // The facts that stay lie among the memory of the rows.
    if (dropped_.fetch_add(1) % kReadAgain == 0) give_free_memory_back();
    return true;
  }

 private:
  std::size_t most_;
  std::atomic<std::size_t> bytes_{0}, dropped_{0};
};

}  // namespace

ReadResults read_all(const std::vector<Job>& jobs, const Request& request, std::size_t most_row_bytes) {
  Reading reading(jobs, request.watch);
  ReadResults results(jobs.size());
  Sharing sharing(jobs.size());
  Held held(most_row_bytes);
  const formats::ReadOptions all_options = read_options_of(request);
  for_each_parallel(jobs.size(), kParallelStacks, [&](std::size_t turn) {
    // Of a few the last one first: the others leave out what it holds.
    const std::size_t i = sharing.few() ? jobs.size() - 1 - turn : turn;
    const bool is_last = sharing.few() && turn == 0;
    formats::ReadOptions file_options = all_options;
    if (sharing.few() && !is_last) file_options.held_stacks = [&] { return sharing.held_by_last(); };
    file_options.point = jobs[i].point;
    if (reading.is_watched())
      file_options.progress = [&reading, i](std::uint64_t done, std::uint64_t) { reading.update(i, done); };
    try {
      ReadFile& read = results[i].emplace(ReadFile{formats::read_file(jobs[i].path, file_options), false});
      if (read.snapshots) {
        demangle_names(*read.snapshots, request.demangle);
        read.lacks_rows = held.drop(*read.snapshots, jobs[i]);
      }
      if (is_last) sharing.last_finished(&read);
    } catch (...) {
      if (is_last) sharing.last_finished(nullptr);
      throw;
    }
    sharing.finished(i, results);
    reading.finished(i);
  });
  sharing.all_finished(results);
  return results;
}

Status read_rows(std::span<LoadedSnapshot> snapshots, const Request& request) {
  std::vector<LoadedSnapshot*> lacking;
  for (LoadedSnapshot& item : snapshots) {
    if (item.lacks_rows) lacking.push_back(&item);
  }
  const formats::ReadOptions file_options = read_options_of(request);
  std::vector<Status> done(lacking.size(), ok());
  for_each_parallel(lacking.size(), kParallelStacks, [&](std::size_t i) {
    LoadedSnapshot& item = *lacking[i];
    const SourceFacts& source = item.ref.snapshot->facts.source;
    Result<std::vector<Snapshot>> read = formats::read_file(source.name, file_options);
    if (!read) {
      done[i] = std::move(read).error().about(source.name);
    } else if (read->size() != 1 || read->front().facts.source.sha256 != source.sha256) {
      done[i] = Error{ErrorCode::io, "file changed while it was read", std::nullopt, source.name};
    } else {
      demangle_names(*read, request.demangle);
      item.ref.snapshot = std::make_shared<const Snapshot>(std::move(read->front()));
      item.lacks_rows = false;
    }
  });
  for (Status& status : done) {
    if (!status) return std::move(status).error();
  }
  return ok();
}

Status for_some(Loaded& loaded, const Request& request, const std::function<Status(std::span<LoadedSnapshot>)>& work) {
  std::vector<LoadedSnapshot>& all = loaded.snapshots;
  for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    std::size_t lacking = 0;
    std::uint64_t bytes = 0;
    for (; end < all.size() && lacking < kReadAgain && (lacking < 2 || bytes < kBytesAgain); ++end) {
      if (all[end].lacks_rows && lacking == 0 && end - begin >= kReadAgain) break;  // held files go first
      lacking += all[end].lacks_rows ? 1U : 0U;
      bytes += all[end].lacks_rows ? all[end].ref.snapshot->facts.source.size_bytes : 0;
    }
    const std::span<LoadedSnapshot> some = std::span(all).subspan(begin, end - begin);
    if (Status read = read_rows(some, request); !read) return read;
    if (Status done = work(some); !done) return done;
    for (LoadedSnapshot& item : some) item.ref.snapshot.reset();
    if (end < all.size() && (lacking > 0 || end - begin >= kReadAgain)) give_free_memory_back();
  }
  return ok();
}

}  // namespace snapdiff::session
