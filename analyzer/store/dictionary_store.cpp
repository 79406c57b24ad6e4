#include "analyzer/store/dictionary_store.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "analyzer/store/stack_codec.hpp"

namespace snapdiff::store {
namespace {

std::int32_t line_of(const Statement& statement, int column) {
  const std::int64_t line = statement.integer(column);
  if (line < std::numeric_limits<std::int32_t>::min() || line > std::numeric_limits<std::int32_t>::max())
    fail(ErrorCode::malformed, "line " + std::to_string(line) + ", expected 32 bits");
  return static_cast<std::int32_t>(line);
}

std::uint32_t row_or_fail(const IdMap& map, const Statement& statement, int column, const char* what) {
  return map.row_or_fail(statement.id(column, what), what);
}

/// Gives the row an id where it is a new one, after the `known`.
template <class Id>
Id numbered(IdMap& map, std::size_t known, Id row, std::uint32_t least = 0) {
  if (index_of(row) == known) map.add(std::max(map.next_id(), least), static_cast<std::uint32_t>(row));
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

void IdMap::missing(std::uint32_t id, const char* what) {
  fail(ErrorCode::malformed, std::string(what) + " " + std::to_string(id) + " is missing");
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
    FrameSpec spec;
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
      rows_(catalog),
      mover_(from, rows_),
      written_{catalog.dictionary().strings.size(), catalog.dictionary().modules.size(),
               catalog.dictionary().functions.size(), catalog.dictionary().frames.size(),
               catalog.dictionary().labels.size()} {}

StringId CatalogWriter::Rows::string(std::string_view text) {
  const std::size_t known = catalog_.dictionary().strings.size();
  return numbered(catalog_.strings, known, catalog_.builder_.string(text));
}

ModuleId CatalogWriter::Rows::module(StringId name, StringId build_id) {
  const Dictionary& known = catalog_.dictionary();
  const std::size_t rows = known.modules.size();
  return numbered(catalog_.modules, rows, catalog_.builder_.module(known.strings[name], known.strings[build_id]));
}

FunctionId CatalogWriter::Rows::function(StringId name, StringId system_name, StringId file, std::int32_t start_line) {
  const std::size_t known = catalog_.dictionary().functions.size();
  return numbered(catalog_.functions, known, catalog_.builder_.function(name, system_name, file, start_line));
}

FrameId CatalogWriter::Rows::frame(const FrameSpec& spec, const Hash128& hash) {
  const std::size_t known = catalog_.dictionary().frames.size();
  return numbered(catalog_.frames, known, catalog_.builder_.frame_with_hash(spec, hash), 1);  // 0 is never a frame
}

LabelSetId CatalogWriter::Rows::labels(std::vector<Label> set) {
  const std::size_t known = catalog_.dictionary().labels.size();
  return numbered(catalog_.label_sets, known, catalog_.builder_.labels(std::move(set)));
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
    const StringId id{static_cast<std::uint32_t>(row)};
    insert.run_with(string_id(id), table[id]);
  }
}

void CatalogWriter::insert_modules() {
  Statement insert(db_, "INSERT INTO module VALUES(?,?,?)");
  const ModuleTable& table = catalog_.dictionary().modules;
  for (std::size_t& row = written_.modules; row < table.size(); ++row)
    insert.run_with(id_of(catalog_.modules, row), string_id(table.name[row]), string_id(table.build_id[row]));
}

void CatalogWriter::insert_functions() {
  Statement insert(db_, "INSERT INTO function VALUES(?,?,?,?,?)");
  const FunctionTable& table = catalog_.dictionary().functions;
  for (std::size_t& row = written_.functions; row < table.size(); ++row)
    insert.run_with(id_of(catalog_.functions, row), string_id(table.name[row]), string_id(table.system_name[row]),
                    string_id(table.file[row]), table.start_line[row]);
}

void CatalogWriter::insert_frames() {
  Statement insert(db_, "INSERT INTO frame VALUES(?,?,?,?,?,?,?,?)");
  const FrameTable& table = catalog_.dictionary().frames;
  for (std::size_t& row = written_.frames; row < table.size(); ++row) {
    std::optional<std::int64_t> offset;
    if (table.offset[row] != kNoOffset) offset = static_cast<std::int64_t>(table.offset[row]);
    const Blob hash{{reinterpret_cast<const char*>(&table.hash[row]), sizeof(Hash128)}};
    insert.run_with(id_of(catalog_.frames, row), id_of(catalog_.modules, table.module[row]), offset,
                    id_of(catalog_.functions, table.function[row]), table.line[row], table.column[row],
                    table.flags[row], hash);
  }
}

void CatalogWriter::insert_label_sets() {
  Statement insert(db_, "INSERT INTO label VALUES(?,?,?,?,?,?)");
  const LabelTable& table = catalog_.dictionary().labels;
  for (std::size_t& row = written_.label_sets; row < table.size(); ++row) {
    std::int64_t position = 0;
    for (const Label& label : table.labels(LabelSetId{static_cast<std::uint32_t>(row)})) {
      std::optional<std::int64_t> number;
      if (label.is_number) number = label.number;
      insert.run_with(id_of(catalog_.label_sets, row), position++, string_id(label.key), string_id(label.text), number,
                      string_id(label.unit));
    }
  }
}

void KnownDictionary::grow() {
  const std::shared_ptr<const Dictionary> dictionary = of.lock();
  catalog.grow();
  stack_ids.resize(dictionary->stacks.size(), kUnseen);
  label_set_ids.resize(dictionary->labels.size(), kUnseen);
  frame_ids.resize(dictionary->frames.size());
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
  // Not to the exact size: each of many snapshots would move all that there is.
  const std::size_t wanted = hashes_.size() + more;
  if (wanted > hashes_.capacity()) hashes_.reserve(std::max(wanted, 2 * hashes_.capacity()));
  if (wanted > ids_.capacity()) ids_.reserve(std::max(wanted, 2 * ids_.capacity()));
  index_.reserve(hashes_.size() + more);
}

void StackIndex::add(const Hash128& hash, std::uint32_t id) {
  hashes_.push_back(hash);
  ids_.push_back(id);
  next_id_ = id + 1;
  index_.insert(hash.low, static_cast<std::uint32_t>(hashes_.size() - 1));
}

}  // namespace snapdiff::store
