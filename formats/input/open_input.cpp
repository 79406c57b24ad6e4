#include "formats/input/open_input.hpp"

namespace snapdiff::formats {
namespace {

// Real inputs have one; a file made to nest a thousand of them is an attack.
constexpr std::size_t kMaxLayers = 4;
constexpr std::size_t kMagicBytes = 12;
constexpr std::uint64_t kProgressStep = 4 * 1024 * 1024;

/// Gives back a few bytes that were read ahead before the rest.
class ReplayedSource final : public ByteSource {
 public:
  ReplayedSource(std::string ahead, std::unique_ptr<ByteSource> rest)
      : ahead_(std::move(ahead)), rest_(std::move(rest)) {}
  Result<std::size_t> read(char* out, std::size_t capacity) override {
    if (given_ == ahead_.size()) return rest_->read(out, capacity);
    const std::size_t count = ahead_.copy(out, capacity, given_);
    given_ += count;
    return count;
  }

 private:
  std::string ahead_;
  std::size_t given_ = 0;
  std::unique_ptr<ByteSource> rest_;
};

/// Reports how far the bytes as given have been read.
class ReportingSource final : public ByteSource {
 public:
  ReportingSource(std::unique_ptr<ByteSource> source, const std::function<void(std::uint64_t, std::uint64_t)>& report,
                  std::uint64_t size)
      : source_(std::move(source)), report_(report), size_(size) {}
  Result<std::size_t> read(char* out, std::size_t capacity) override {
    Result<std::size_t> got = source_->read(out, capacity);
    if (got) {
      read_ += *got;
      if (read_ - reported_ >= kProgressStep || *got == 0) {
        report_(read_, size_);
        reported_ = read_;
      }
    }
    return got;
  }

 private:
  std::unique_ptr<ByteSource> source_;
  const std::function<void(std::uint64_t, std::uint64_t)>& report_;
  std::uint64_t size_;
  std::uint64_t read_ = 0;
  std::uint64_t reported_ = 0;
};

/// Appends up to `wanted` bytes to `out`; after an error it holds what came before it.
Status read_up_to(ByteSource& source, std::size_t wanted, std::string& out) {
  std::size_t filled = out.size();
  wanted += filled;
  Status status = ok();
  out.resize(wanted);
  while (filled < wanted) {
    Result<std::size_t> got = source.read(out.data() + filled, wanted - filled);
    if (!got) {
      status = std::move(got).error();
      break;
    }
    if (*got == 0) break;
    filled += *got;
  }
  out.resize(filled);
  return status;
}

}  // namespace

OpenedInput::OpenedInput(std::unique_ptr<RawBytes> raw, std::string name, InputOptions options)
    : raw_(std::move(raw)), name_(std::move(name)), options_(std::move(options)) {
  budget_.max_output_bytes = options_.max_input_bytes;
  budget_.notes = &notes_;
}

Result<std::unique_ptr<OpenedInput>> OpenedInput::open_path(const std::string& path, InputOptions options) {
  Result<std::unique_ptr<RawBytes>> raw = open_raw(path, options.max_input_bytes);
  if (!raw) return std::move(raw).error();
  std::unique_ptr<OpenedInput> opened(new OpenedInput(std::move(*raw), path, std::move(options)));
  if (Status looked = opened->look_at_head(); !looked) return std::move(looked).error();
  return opened;
}

Result<std::unique_ptr<OpenedInput>> OpenedInput::open_bytes(std::string_view bytes, const std::string& name,
                                                             InputOptions options) {
  std::unique_ptr<OpenedInput> opened(new OpenedInput(raw_from_memory(bytes), name, std::move(options)));
  if (Status looked = opened->look_at_head(); !looked) return std::move(looked).error();
  return opened;
}

Status OpenedInput::look_at_head() {
  std::unique_ptr<ByteSource> source = make_raw_source(*raw_, budget_);
  std::string ahead;
  for (;;) {
    ahead.clear();
    if (Status magic = read_up_to(*source, kMagicBytes, ahead); !magic) return magic;
    const Compression layer = compression_of(ahead);
    if (layer == Compression::none) break;
    if (layers_.size() == kMaxLayers) {
      return Error{ErrorCode::limit, "compressed more than " + std::to_string(kMaxLayers) + " times over"};
    }
    layers_.push_back(layer);
    Result<std::unique_ptr<ByteSource>> peeled =
        make_decoder(layer, std::make_unique<ReplayedSource>(std::move(ahead), std::move(source)), budget_);
    if (!peeled) return std::move(peeled).error();
    source = std::move(*peeled);
  }
  if (ahead.empty()) return Error{ErrorCode::malformed, "empty input file"};
  head_ = std::move(ahead);
  if (Status rest = read_up_to(*source, head_bytes_ - head_.size(), head_); !rest) {
    // A short recording of a killed process ends within its head: what there is says whether a reader wants it.
    if (layers_.empty() || rest.error().code != ErrorCode::malformed) return rest;
    head_error_ = std::move(rest).error();
  }
  notes_ = Notes{};  // the body is read from the start and makes the same remarks again
  return ok();
}

Status OpenedInput::look_further(std::size_t bytes) {
  head_bytes_ = bytes;
  head_error_.reset();
  layers_.clear();
  budget_.raw_bytes_read = 0;
  return look_at_head();
}

Result<std::unique_ptr<ByteSource>> OpenedInput::chain() {
  budget_.raw_bytes_read = 0;
  std::unique_ptr<ByteSource> source = make_raw_source(*raw_, budget_);
  if (options_.progress)
    source = std::make_unique<ReportingSource>(std::move(source), options_.progress, raw_->size().value_or(0));
  for (const Compression layer : layers_) {
    Result<std::unique_ptr<ByteSource>> peeled = make_decoder(layer, std::move(source), budget_);
    if (!peeled) return std::move(peeled).error();
    source = std::move(*peeled);
  }
  return source;
}

std::string OpenedInput::compression() const {
  std::string out;
  for (const Compression layer : layers_) out.append(out.empty() ? "" : "+").append(to_text(layer));
  return out;
}

Result<Input*> OpenedInput::body(bool to_the_cut) {
  if (is_hashed()) raw_->start_hash();
  const std::uint64_t at_once = std::min(options_.in_memory_bytes, options_.max_input_bytes);
  if (layers_ == std::vector{Compression::gzip}) {
    Result<std::optional<std::string_view>> whole = raw_->whole(at_once);
    if (!whole) return std::move(whole).error();
    if (*whole) {
      if (std::optional<WholeBytes> inflated = gunzip_whole(**whole, at_once)) {
        inflated_ = std::move(*inflated);
        if (options_.progress) options_.progress((*whole)->size(), (*whole)->size());
        body_ = std::make_unique<MemoryInput>(inflated_.all(), name_, compression());
      }
    }
    raw_->drop_whole();
  }
  if (body_ == nullptr) {
    Result<std::unique_ptr<ByteSource>> source = chain();
    if (!source) return std::move(source).error();
    raw_->read_once_from_here();
    const std::uint64_t expected = layers_.empty() ? raw_->size().value_or(0) : 0;
    auto window =
        std::make_unique<WindowInput>(std::move(*source), options_.window_bytes, expected, name_, compression());
    if (to_the_cut) window->end_at_cut(&budget_.cut);
    window_ = window.get();
    body_ = std::move(window);
  }
  return body_.get();
}

Result<SourceFacts> OpenedInput::finish() {
  Result<RawBytes::Digest> digest = is_hashed() ? raw_->finish_hash() : RawBytes::Digest{{}, *raw_->size()};
  if (!digest) return std::move(digest).error();
  SourceFacts facts;
  facts.name = name_;
  facts.sha256 = digest->sha256;
  facts.size_bytes = digest->size_bytes;
  facts.file_time_ns = raw_->file_time_ns();
  return facts;
}

}  // namespace snapdiff::formats
