#pragma once

#include "formats/input/gzip_whole.hpp"
#include "formats/input/window_input.hpp"

/// The public header of formats/input: a path or bytes in memory become an Input of decompressed bytes.
namespace snapdiff::formats {

inline constexpr std::uint64_t kDefaultMaxInputBytes = std::uint64_t{64} << 30;
/// What is inflated or loaded in one piece at most; longer inputs go through a window.
inline constexpr std::uint64_t kInMemoryBytes = std::uint64_t{256} << 20;

struct InputOptions {
  std::uint64_t max_input_bytes = kDefaultMaxInputBytes;
  std::uint64_t in_memory_bytes = kInMemoryBytes;
  std::size_t window_bytes = std::size_t{1} << 20;
  bool hash = true;  ///< false: SourceFacts::sha256 of a file stays empty, a fifth of the time that a large one takes
  std::function<void(std::uint64_t, std::uint64_t)> progress;  ///< as ReadOptions::progress
};

/// An input whose head is known. Order of calls: head(), body(), finish().
class OpenedInput {
 public:
  /// Errors: io; malformed (empty; compression damaged from its start on); limit.
  static Result<std::unique_ptr<OpenedInput>> open_path(const std::string& path, InputOptions options);
  /// `bytes` must outlive the result.
  static Result<std::unique_ptr<OpenedInput>> open_bytes(std::string_view bytes, const std::string& name,
                                                         InputOptions options);

  /// The first kSniffBytes decompressed bytes; all of them when head_is_all().
  std::string_view head() const { return head_; }
  bool head_is_all() const { return head_.size() < head_bytes_; }
  /// Damage to the compression within the head: head() ends before it. The body will meet it again.
  const std::optional<Error>& head_error() const { return head_error_; }

  /// Makes head() the first `bytes`: text may say late what it is. Before body().
  /// Errors: as open_path().
  Status look_further(std::size_t bytes);

  /// All decompressed bytes from the start. Begins to compute the hash. Call once; the result
  /// belongs to this object. `to_the_cut`: a compressed stream that is cut ends there, and cut() says so.
  /// Errors: io, limit.
  Result<Input*> body(bool to_the_cut = false);

  /// Where the body ended before its compressed stream did: the error that this would have been.
  std::optional<Error> cut() const { return window_ == nullptr ? std::nullopt : window_->cut_error(); }

  /// Hash, size, name and time of the bytes as given; waits for the hash.
  /// Errors: io.
  Result<SourceFacts> finish();

  /// Remarks on the compression, e.g. bytes after its end. Complete after the last byte was read.
  const Notes& notes() const { return notes_; }

  /// Whether body() itself returned an error to its reader: offsets of such an error count
  /// compressed bytes, those of a reader's own errors decompressed ones.
  bool body_failed() const { return window_ != nullptr && window_->failed(); }
  std::string compression() const;

 private:
  OpenedInput(std::unique_ptr<RawBytes> raw, std::string name, InputOptions options);
  Status look_at_head();
  Result<std::unique_ptr<ByteSource>> chain();
  /// Pipes have no size and are hashed as their bytes come.
  bool is_hashed() const { return options_.hash || !raw_->size(); }

  std::unique_ptr<RawBytes> raw_;
  std::string name_;
  InputOptions options_;
  Notes notes_;
  DecodeBudget budget_;
  std::vector<Compression> layers_;
  std::string head_;
  std::optional<Error> head_error_;
  std::size_t head_bytes_ = kSniffBytes;
  WholeBytes inflated_;
  std::unique_ptr<Input> body_;
  const WindowInput* window_ = nullptr;  // body_, where it is one
};

}  // namespace snapdiff::formats
