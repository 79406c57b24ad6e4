#include "analyzer/library/arrow_table.hpp"

#include <cerrno>
#include <limits>
#include <utility>

#include "analyzer/base/failure.hpp"
#include "analyzer/base/printable.hpp"

namespace snapdiff::library {
namespace {

constexpr std::int64_t kMost32 = std::numeric_limits<std::int32_t>::max();

/// Offsets with 32 bits where they fit. True if they do.
bool push_offsets(ArrowColumn& column, ArrowValues<std::int64_t> offsets) {
  if (offsets.back() > kMost32) {
    column.buffers.push_back(arrow_buffer(std::move(offsets)));
    return false;
  }
  column.buffers.push_back(arrow_buffer(ArrowValues<std::int32_t>(offsets.begin(), offsets.end())));
  return true;
}

/// Owner of the strings and arrays behind one exported ArrowSchema.
struct SchemaParts {
  std::string name, format;
  std::vector<ArrowSchema> children;
  std::vector<ArrowSchema*> pointers;
  ArrowSchema dictionary{};
};

/// Owner of the buffers behind one exported ArrowArray.
struct ArrayParts {
  std::vector<ArrowColumn::Buffer> buffers;
  std::vector<const void*> addresses;
  std::vector<ArrowArray> children;
  std::vector<ArrowArray*> pointers;
  ArrowArray dictionary{};
};

/// Consumers may have moved a child away and cleared its release.
template <class Struct, class Parts>
void release_parts(Struct* exported) {
  const std::unique_ptr<Parts> parts(static_cast<Parts*>(exported->private_data));
  for (Struct* const child : parts->pointers) {
    if (child->release != nullptr) child->release(child);
  }
  if (parts->dictionary.release != nullptr) parts->dictionary.release(&parts->dictionary);
  exported->release = nullptr;
}

template <class Struct, class Parts>
void hand_over(std::unique_ptr<Parts> parts, Struct* out) {
  for (Struct& child : parts->children) parts->pointers.push_back(&child);
  out->n_children = static_cast<std::int64_t>(parts->children.size());
  out->children = parts->pointers.data();
  out->dictionary = parts->dictionary.release != nullptr ? &parts->dictionary : nullptr;
  out->release = release_parts<Struct, Parts>;
  out->private_data = parts.release();
}

void export_schema(const ArrowColumn& column, ArrowSchema* out) {
  auto parts = std::make_unique<SchemaParts>();
  parts->name = column.name;
  parts->format = column.format;
  parts->children.resize(column.children.size());
  parts->pointers.reserve(column.children.size());
  for (std::size_t i = 0; i < column.children.size(); ++i) export_schema(column.children[i], &parts->children[i]);
  if (column.dictionary != nullptr) export_schema(*column.dictionary, &parts->dictionary);
  *out = {};
  out->format = parts->format.c_str();
  out->name = parts->name.c_str();
  out->flags = column.nullable ? ARROW_FLAG_NULLABLE : 0;
  hand_over(std::move(parts), out);
}

void export_array(const ArrowColumn& column, ArrowArray* out) {
  auto parts = std::make_unique<ArrayParts>();
  parts->buffers = column.buffers;
  for (const ArrowColumn::Buffer& buffer : column.buffers) parts->addresses.push_back(buffer.get());
  parts->children.resize(column.children.size());
  parts->pointers.reserve(column.children.size());
  for (std::size_t i = 0; i < column.children.size(); ++i) export_array(column.children[i], &parts->children[i]);
  if (column.dictionary != nullptr) export_array(*column.dictionary, &parts->dictionary);
  *out = {};
  out->length = column.length;
  out->null_count = column.nulls;
  out->n_buffers = static_cast<std::int64_t>(parts->addresses.size());
  out->buffers = parts->addresses.data();
  hand_over(std::move(parts), out);
}

/// Owner of an exported stream. `batch` is as a struct of the columns.
struct StreamParts {
  ArrowColumn batch;
  bool given = false;
};

StreamParts& parts_of(ArrowArrayStream* stream) { return *static_cast<StreamParts*>(stream->private_data); }

/// Runs `body`; its exception becomes an error number.
template <class Body>
int as_errno(Body body) {
  try {
    body();
    return 0;
  } catch (...) {
    return ENOMEM;
  }
}

int stream_schema(ArrowArrayStream* stream, ArrowSchema* out) {
  return as_errno([&] { export_schema(parts_of(stream).batch, out); });
}

int stream_next(ArrowArrayStream* stream, ArrowArray* out) {
  StreamParts& parts = parts_of(stream);
  if (std::exchange(parts.given, true)) {
    *out = {};
    return 0;
  }
  return as_errno([&] { export_array(parts.batch, out); });
}

const char* stream_error(ArrowArrayStream*) { return "out of memory"; }

void release_stream(ArrowArrayStream* stream) {
  delete &parts_of(stream);
  stream->release = nullptr;
}

}  // namespace

void ArrowValidity::finish(ArrowColumn& column, std::size_t length) && {
  if (nulls_ > 0) bits_.resize((length + 7) / 8, 0xff);
  column.length = static_cast<std::int64_t>(length);
  column.nulls = nulls_;
  column.nullable = column.nullable || nulls_ > 0;
  column.buffers.insert(column.buffers.begin(), nulls_ > 0 ? arrow_buffer(std::move(bits_)) : nullptr);
}

void ArrowFlags::push(bool value) {
  const auto bit = static_cast<std::size_t>(size_++);
  if (bit / 8 >= bits_.size()) bits_.push_back(0);
  if (value) bits_[bit / 8] |= static_cast<std::uint8_t>(1U << (bit % 8));
}

ArrowColumn ArrowFlags::finish(std::string name) && {
  ArrowColumn column;
  column.name = std::move(name);
  column.format = "b";
  column.length = size_;
  column.buffers = {nullptr, arrow_buffer(std::move(bits_))};
  return column;
}

void ArrowTexts::push(std::string_view text) {
  bytes_ += printable(text);
  end_.push_back(static_cast<std::int64_t>(bytes_.size()));
}

void ArrowTexts::push_if(std::optional<std::string_view> text) {
  if (text) return push(*text);
  validity_.mark_null(size());
  end_.push_back(end_.back());
}

ArrowColumn ArrowTexts::finish(std::string name, bool nullable) && {
  ArrowColumn column;
  column.name = std::move(name);
  column.nullable = nullable;
  std::move(validity_).finish(column, size());
  column.format = push_offsets(column, std::move(end_)) ? "u" : "U";
  auto owned = std::make_shared<std::string>(std::move(bytes_));
  column.buffers.push_back({owned, owned->data()});
  return column;
}

std::int32_t ArrowDictionary::number(std::string_view text) {
  std::string shown = printable(text);
  const auto found = numbers_.find(shown);
  if (found != numbers_.end()) return found->second;
  if (static_cast<std::int64_t>(texts_.size()) >= kMost32)
    fail({ErrorCode::limit, "distinct names: found more than 2^31-1, expected fewer"});
  const auto number = static_cast<std::int32_t>(texts_.size());
  texts_.push(shown);
  numbers_.emplace(std::move(shown), number);
  return number;
}

std::shared_ptr<const ArrowColumn> ArrowDictionary::finish() && {
  return std::make_shared<const ArrowColumn>(std::move(texts_).finish(""));
}

ArrowColumn dictionary_column(std::string name, ArrowValues<std::int32_t> numbers,
                              std::shared_ptr<const ArrowColumn> dictionary, bool nullable) {
  ArrowColumn column;
  column.name = std::move(name);
  column.format = "i";
  column.nullable = nullable;
  column.dictionary = std::move(dictionary);
  ArrowValidity validity;
  for (std::size_t i = 0; nullable && i < numbers.size(); ++i) {
    if (numbers[i] >= 0) continue;
    validity.mark_null(i);
    numbers[i] = 0;
  }
  std::move(validity).finish(column, numbers.size());
  column.buffers.push_back(arrow_buffer(std::move(numbers)));
  return column;
}

ArrowColumn dictionary_column(std::string name, ArrowValues<std::int16_t> numbers,
                              std::shared_ptr<const ArrowColumn> dictionary) {
  ArrowColumn column;
  column.name = std::move(name);
  column.format = "s";
  column.dictionary = std::move(dictionary);
  ArrowValidity().finish(column, numbers.size());
  column.buffers.push_back(arrow_buffer(std::move(numbers)));
  return column;
}

ArrowColumn list_column(std::string name, ArrowValues<std::int64_t> begin, ArrowColumn child) {
  ArrowColumn column;
  column.name = std::move(name);
  column.length = static_cast<std::int64_t>(begin.size()) - 1;
  column.buffers.push_back(nullptr);
  column.format = push_offsets(column, std::move(begin)) ? "+l" : "+L";
  child.name = "item";
  column.children.push_back(std::move(child));
  return column;
}

ArrowColumn ArrowTextLists::finish(std::string name) && {
  return list_column(std::move(name), std::move(begin_), std::move(texts_).finish("item"));
}

void export_stream(ArrowTable table, ArrowArrayStream* out) {
  auto parts = std::make_unique<StreamParts>();
  parts->batch.format = "+s";
  parts->batch.length = table.empty() ? 0 : table.front().length;
  parts->batch.buffers.push_back(nullptr);
  parts->batch.children = std::move(table);
  *out = {stream_schema, stream_next, stream_error, release_stream, nullptr};
  out->private_data = parts.release();
}

}  // namespace snapdiff::library
