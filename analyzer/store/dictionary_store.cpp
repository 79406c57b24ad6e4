#include "analyzer/store/dictionary_store.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "analyzer/store/stack_codec.hpp"

namespace snapdiff::store {
namespace {

constexpr std::uint32_t kUnset = IdMap::kNone;

std::int32_t line_of(const Statement& statement, int column) {
  const std::int64_t line = statement.integer(column);
  if (line < std::numeric_limits<std::int32_t>::min() || line > std::numeric_limits<std::int32_t>::max())
    fail(ErrorCode::malformed, "line " + std::to_string(line) + ", expected 32 bits");
  return static_cast<std::int32_t>(line);
}

std::uint32_t row_or_fail(const IdMap& map, const Statement& statement, int column, const char* what) {
  const std::uint32_t row = map.row_of(statement.id(column, what));
  if (row == IdMap::kNone)
    fail(ErrorCode::malformed, std::string(what) + " " + std::to_string(statement.integer(column)) + " is missing");
  return row;
}

}  // namespace

void IdMap::add(std::uint32_t id, std::uint32_t row) {
  ids_.push_back({id, row});
  if (row >= id_of_row_.size()) id_of_row_.resize(std::size_t{row} + 1, kNone);
  if (id_of_row_[row] == kNone) id_of_row_[row] = id;  // a damaged store may hold a row twice
  if (!direct_.empty() && id == direct_.size()) direct_.push_back(row);
}

void IdMap::index() {
  // A damaged index can hand out rows in any order, whatever ORDER BY says.
  const auto not_ascending = [](const Pair& a, const Pair& b) { return a.id >= b.id; };
  if (std::adjacent_find(ids_.begin(), ids_.end(), not_ascending) != ids_.end())
    fail(ErrorCode::malformed, "row ids out of order, expected them ascending");
  constexpr std::size_t kSpread = 16;
  const std::uint32_t last = ids_.empty() ? 0 : ids_.back().id;
  if (last / kSpread > ids_.size() + 4096) return;
  direct_.assign(std::size_t{last} + 1, kNone);
  for (const Pair& pair : ids_) direct_[pair.id] = pair.row;
}

std::uint32_t IdMap::search(std::uint32_t id) const {
  const auto at = std::lower_bound(ids_.begin(), ids_.end(), id,
                                   [](const Pair& pair, std::uint32_t wanted) { return pair.id < wanted; });
  return at != ids_.end() && at->id == id ? at->row : kNone;
}

std::uint32_t IdMap::id_of(std::uint32_t row) const {
  const std::uint32_t id = row < id_of_row_.size() ? id_of_row_[row] : kNone;
  if (id == kNone) fail(ErrorCode::malformed, "dictionary row 0 is missing");
  return id;
}

void Catalog::no_frame(std::uint32_t frame_id) {
  fail(ErrorCode::malformed, "frame " + std::to_string(frame_id) + " is missing");
}

Catalog::Catalog(sqlite3* db) {
  read_strings(db);
  read_modules(db);
  read_functions(db);
  read_frames(db);
  read_labels(db);
}

StringId Catalog::string_row(const Statement& statement, int column) const {
  return StringId{row_or_fail(strings, statement, column, "string")};
}

void Catalog::read_strings(sqlite3* db) {
  Statement select(db, "SELECT id, text FROM string ORDER BY id");
  while (select.step())
    strings.add(select.id(0, "string"), static_cast<std::uint32_t>(builder_.string(select.text(1))));
  strings.index();
}

void Catalog::read_modules(sqlite3* db) {
  Statement select(db, "SELECT id, name, build_id FROM module ORDER BY id");
  const StringTable& texts = dictionary().strings;
  while (select.step()) {
    const std::uint32_t id = select.id(0, "module");
    const ModuleId row = builder_.module(texts[string_row(select, 1)], texts[string_row(select, 2)]);
    modules.add(id, static_cast<std::uint32_t>(row));
  }
  modules.index();
}

void Catalog::read_functions(sqlite3* db) {
  Statement select(db, "SELECT id, name, system_name, file, start_line FROM function ORDER BY id");
  while (select.step()) {
    const FunctionId row =
        builder_.function(string_row(select, 1), string_row(select, 2), string_row(select, 3), line_of(select, 4));
    functions.add(select.id(0, "function"), static_cast<std::uint32_t>(row));
  }
  functions.index();
}

void Catalog::read_frames(sqlite3* db) {
  Statement select(db, "SELECT id, module, \"offset\", function, line, \"column\", flags, hash FROM frame ORDER BY id");
  while (select.step()) {
    SnapshotBuilder::FrameSpec spec;
    spec.module = ModuleId{row_or_fail(modules, select, 1, "module")};
    if (!select.is_null(2)) spec.offset = static_cast<std::uint64_t>(select.integer(2));
    spec.function = FunctionId{row_or_fail(functions, select, 3, "function")};
    spec.line = line_of(select, 4);
    spec.column = line_of(select, 5);
    spec.flags = static_cast<std::uint8_t>(select.integer(6));
    const std::string_view bytes = select.blob(7);
    Hash128 hash;
    if (bytes.size() != sizeof hash)
      fail(ErrorCode::malformed, "frame hash of " + std::to_string(bytes.size()) + " bytes, expected 16");
    std::memcpy(&hash, bytes.data(), sizeof hash);
    frames.add(select.id(0, "frame"), static_cast<std::uint32_t>(builder_.frame_with_hash(spec, hash)));
  }
  frames.index();
}

void Catalog::read_labels(sqlite3* db) {
  label_sets.add(0, 0);
  Statement select(db, "SELECT label_set, key, text, number, unit FROM label ORDER BY label_set, position");
  std::vector<Label> set;
  std::uint32_t current = 0;
  const auto finish = [&] {
    if (!set.empty()) label_sets.add(current, static_cast<std::uint32_t>(builder_.labels(std::exchange(set, {}))));
  };
  while (select.step()) {
    const std::uint32_t id = select.id(0, "label set");
    if (id != current) finish();
    current = id;
    Label label;
    label.key = string_row(select, 1);
    label.text = string_row(select, 2);
    label.is_number = !select.is_null(3);
    label.number = select.integer(3);
    label.unit = string_row(select, 4);
    set.push_back(label);
  }
  finish();
  label_sets.index();
}

CatalogWriter::CatalogWriter(sqlite3* db, Catalog& catalog, const Dictionary& from)
    : db_(db),
      catalog_(catalog),
      from_(from),
      string_row_(from.strings.size(), kUnset),
      module_row_(from.modules.size(), kUnset),
      function_row_(from.functions.size(), kUnset),
      frame_id_(from.frames.size(), kUnset),
      label_set_id_(from.labels.size(), kUnset),
      written_{catalog.dictionary().strings.size(), catalog.dictionary().modules.size(),
               catalog.dictionary().functions.size(), catalog.dictionary().frames.size(),
               catalog.dictionary().labels.size()} {}

std::uint32_t CatalogWriter::string_row(StringId id) {
  std::uint32_t& row = string_row_[index_of(id)];
  if (row != kUnset) return row;
  const std::size_t known = catalog_.dictionary().strings.size();
  row = static_cast<std::uint32_t>(catalog_.builder_.string(from_.strings[id]));
  if (row == known) catalog_.strings.add(catalog_.strings.next_id(), row);
  return row;
}

std::uint32_t CatalogWriter::module_row(ModuleId id) {
  std::uint32_t& row = module_row_[index_of(id)];
  if (row != kUnset) return row;
  const StringId name = from_.modules.name[index_of(id)];
  const StringId build_id = from_.modules.build_id[index_of(id)];
  string_row(name);
  string_row(build_id);
  const std::size_t known = catalog_.dictionary().modules.size();
  row = static_cast<std::uint32_t>(catalog_.builder_.module(from_.strings[name], from_.strings[build_id]));
  if (row == known) catalog_.modules.add(catalog_.modules.next_id(), row);
  return row;
}

std::uint32_t CatalogWriter::function_row(FunctionId id) {
  std::uint32_t& row = function_row_[index_of(id)];
  if (row != kUnset) return row;
  const FunctionTable& table = from_.functions;
  const std::size_t f = index_of(id);
  const StringId name{string_row(table.name[f])};
  const StringId system_name{string_row(table.system_name[f])};
  const StringId file{string_row(table.file[f])};
  const std::size_t known = catalog_.dictionary().functions.size();
  row = static_cast<std::uint32_t>(catalog_.builder_.function(name, system_name, file, table.start_line[f]));
  if (row == known) catalog_.functions.add(catalog_.functions.next_id(), row);
  return row;
}

std::uint32_t CatalogWriter::string(StringId id) { return catalog_.strings.id_of(string_row(id)); }
std::uint32_t CatalogWriter::module(ModuleId id) { return catalog_.modules.id_of(module_row(id)); }
std::uint32_t CatalogWriter::function(FunctionId id) { return catalog_.functions.id_of(function_row(id)); }

std::uint32_t CatalogWriter::frame(FrameId id) {
  std::uint32_t& frame_id = frame_id_[index_of(id)];
  if (frame_id != kUnset) return frame_id;
  const FrameTable& table = from_.frames;
  const std::size_t f = index_of(id);
  SnapshotBuilder::FrameSpec spec;
  spec.module = ModuleId{module_row(table.module[f])};
  spec.offset = table.offset[f];
  spec.function = FunctionId{function_row(table.function[f])};
  spec.line = table.line[f];
  spec.column = table.column[f];
  spec.flags = table.flags[f];
  const std::size_t known = catalog_.dictionary().frames.size();
  const auto row = static_cast<std::uint32_t>(catalog_.builder_.frame_with_hash(spec, table.hash[f]));
  if (row == known) catalog_.frames.add(std::max(catalog_.frames.next_id(), 1U), row);  // 0 is never a frame
  frame_id = catalog_.frames.id_of(row);
  return frame_id;
}

std::uint32_t CatalogWriter::label_set(LabelSetId id) {
  std::uint32_t& set_id = label_set_id_[index_of(id)];
  if (set_id != kUnset) return set_id;
  std::vector<Label> set;
  for (const Label& label : from_.labels.labels(id)) {
    Label mine = label;
    mine.key = StringId{string_row(label.key)};
    mine.text = StringId{string_row(label.text)};
    mine.unit = StringId{string_row(label.unit)};
    set.push_back(mine);
  }
  const std::size_t known = catalog_.dictionary().labels.size();
  const auto row = static_cast<std::uint32_t>(catalog_.builder_.labels(std::move(set)));
  if (row == known) catalog_.label_sets.add(catalog_.label_sets.next_id(), row);
  set_id = catalog_.label_sets.id_of(row);
  return set_id;
}

void CatalogWriter::insert_new() {
  insert_strings();
  insert_modules();
  insert_functions();
  insert_frames();
  insert_label_sets();
}

void CatalogWriter::insert_strings() {
  Statement insert(db_, "INSERT INTO string VALUES(?,?)");
  const StringTable& table = catalog_.dictionary().strings;
  for (std::size_t& row = written_.strings; row < table.size(); ++row) {
    const auto r = static_cast<std::uint32_t>(row);
    insert.bind(1, std::int64_t{catalog_.strings.id_of(r)}).bind_text(2, table[StringId{r}]).run();
  }
}

void CatalogWriter::insert_modules() {
  Statement insert(db_, "INSERT INTO module VALUES(?,?,?)");
  const ModuleTable& table = catalog_.dictionary().modules;
  for (std::size_t& row = written_.modules; row < table.size(); ++row) {
    insert.bind(1, std::int64_t{catalog_.modules.id_of(static_cast<std::uint32_t>(row))})
        .bind(2, string_id(table.name[row]))
        .bind(3, string_id(table.build_id[row]))
        .run();
  }
}

void CatalogWriter::insert_functions() {
  Statement insert(db_, "INSERT INTO function VALUES(?,?,?,?,?)");
  const FunctionTable& table = catalog_.dictionary().functions;
  for (std::size_t& row = written_.functions; row < table.size(); ++row) {
    insert.bind(1, std::int64_t{catalog_.functions.id_of(static_cast<std::uint32_t>(row))})
        .bind(2, string_id(table.name[row]))
        .bind(3, string_id(table.system_name[row]))
        .bind(4, string_id(table.file[row]))
        .bind(5, std::int64_t{table.start_line[row]})
        .run();
  }
}

void CatalogWriter::insert_frames() {
  Statement insert(db_, "INSERT INTO frame VALUES(?,?,?,?,?,?,?,?)");
  const FrameTable& table = catalog_.dictionary().frames;
  for (std::size_t& row = written_.frames; row < table.size(); ++row) {
    const std::string_view hash(reinterpret_cast<const char*>(&table.hash[row]), sizeof(Hash128));
    insert.bind(1, std::int64_t{catalog_.frames.id_of(static_cast<std::uint32_t>(row))})
        .bind(2, std::int64_t{catalog_.modules.id_of(static_cast<std::uint32_t>(table.module[row]))});
    if (table.offset[row] == kNoOffset) {
      insert.bind_null(3);
    } else {
      insert.bind(3, static_cast<std::int64_t>(table.offset[row]));
    }
    insert.bind(4, std::int64_t{catalog_.functions.id_of(static_cast<std::uint32_t>(table.function[row]))})
        .bind(5, std::int64_t{table.line[row]})
        .bind(6, std::int64_t{table.column[row]})
        .bind(7, std::int64_t{table.flags[row]})
        .bind_blob(8, hash)
        .run();
  }
}

void CatalogWriter::insert_label_sets() {
  Statement insert(db_, "INSERT INTO label VALUES(?,?,?,?,?,?)");
  const LabelTable& table = catalog_.dictionary().labels;
  for (std::size_t& row = written_.label_sets; row < table.size(); ++row) {
    const auto r = static_cast<std::uint32_t>(row);
    std::int64_t position = 0;
    for (const Label& label : table.labels(LabelSetId{r})) {
      insert.bind(1, std::int64_t{catalog_.label_sets.id_of(r)})
          .bind(2, position++)
          .bind(3, string_id(label.key))
          .bind(4, string_id(label.text));
      if (label.is_number) {
        insert.bind(5, label.number);
      } else {
        insert.bind_null(5);
      }
      insert.bind(6, string_id(label.unit)).run();
    }
  }
}

std::int64_t CatalogWriter::string_id(StringId row) const {
  return catalog_.strings.id_of(static_cast<std::uint32_t>(row));
}

void StackFrames::move_to(std::span<const std::uint32_t> root_first, std::size_t shared) {
  const std::size_t keep = std::min(valid_, shared);
  rows_.resize(root_first.size());
  hashes_.resize(root_first.size());
  for (std::size_t i = keep; i < root_first.size(); ++i) {
    rows_[i] = catalog_.frame_row(root_first[i]);
    hashes_[i] = catalog_.dictionary().frames.hash[rows_[i]];
  }
  valid_ = root_first.size();
}

Hash128 StackFrames::hash() const {
  SequenceHasher hasher;
  const std::vector<std::uint8_t>& flags = catalog_.dictionary().frames.flags;
  for (std::size_t i = hashes_.size(); i-- > 0;) {
    if ((flags[rows_[i]] & kFrameDerived) == 0) hasher.add(hashes_[i]);
  }
  return hasher.finish();
}

StackIndex::StackIndex(sqlite3* db, const Catalog& catalog) {
  Statement select(db, "SELECT first_id, stacks, data FROM stack_chunk ORDER BY first_id");
  while (select.step()) {
    const std::uint32_t first = select.id(0, "stack chunk");
    StackFrames frames(catalog);
    for_each_stack(select.blob(2), first, select.id(1, "stack count"),
                   [&](std::uint32_t id, const StackChunkReader& in) {
                     if (in.root_first().empty()) return;
                     frames.move_to(in.root_first(), in.shared());
                     hashes_.push_back(frames.hash());
                     ids_.push_back(id);
                   });
    next_id_ = first + select.id(1, "stack count");
  }
  // Only now: a table that grows on the way is filled several times over.
  constexpr std::size_t kFetchAhead = 16;
  index_.reserve(hashes_.size());
  for (std::size_t row = 0; row < hashes_.size(); ++row) {
    if (row + kFetchAhead < hashes_.size()) index_.prefetch(hashes_[row + kFetchAhead].low);
    index_.insert(hashes_[row].low, static_cast<std::uint32_t>(row));
  }
}

std::uint32_t StackIndex::find(const Hash128& hash) const {
  const std::uint32_t row = index_.find(hash.low, [&](std::uint32_t r) { return hashes_[r] == hash; });
  return row == HashIndex::kAbsent ? kAbsent : ids_[row];
}

void StackIndex::reserve(std::size_t more) {
  hashes_.reserve(hashes_.size() + more);
  ids_.reserve(ids_.size() + more);
  index_.reserve(hashes_.size() + more);
}

void StackIndex::add(const Hash128& hash, std::uint32_t id) {
  hashes_.push_back(hash);
  ids_.push_back(id);
  next_id_ = id + 1;
  index_.insert(hash.low, static_cast<std::uint32_t>(hashes_.size() - 1));
}

}  // namespace snapdiff::store
