#include "analyzer/store/sql_tables.hpp"

#include <algorithm>

#include "analyzer/base/number_text.hpp"
#include "analyzer/store/virtual_table.hpp"

namespace snapdiff::store {

// SQLITE_TRANSIENT is an integer cast in C style.
const sqlite3_destructor_type Output::kCopied = reinterpret_cast<sqlite3_destructor_type>(std::intptr_t{-1});

Arguments::Range Arguments::take_range() {
  Range range;
  bool empty = false;
  const auto bound = [&](sqlite3_value* value, bool is_low, bool is_high) {
    if (value == nullptr || sqlite3_value_type(value) != SQLITE_INTEGER) return;
    const std::int64_t id = sqlite3_value_int64(value);
    if (is_low && id > 0xffffffffLL) empty = true;
    if (is_high && id < 0) empty = true;
    const auto clamped = static_cast<std::uint32_t>(std::clamp<std::int64_t>(id, 0, 0xffffffffLL));
    if (is_low) range.low = std::max(range.low, clamped);
    if (is_high) range.high = std::min(range.high, clamped);
  };
  sqlite3_value* const equal = take();
  bound(equal, true, true);
  if (equal == nullptr) {
    sqlite3_value* const at_least = take();
    bound(at_least, true, false);
    if (at_least == nullptr) bound(take(), true, false);
    sqlite3_value* const at_most = take();
    bound(at_most, false, true);
    if (at_most == nullptr) bound(take(), false, true);
  }
  if (empty) range = {1, 0};
  return range;
}

namespace {

void append_frame(std::string& text, const Dictionary& dictionary, std::uint32_t row) {
  const FrameTable& frames = dictionary.frames;
  const std::string_view function = dictionary.strings[dictionary.functions.name[index_of(frames.function[row])]];
  if (!function.empty()) {
    text += function;
    return;
  }
  const std::string_view module = dictionary.strings[dictionary.modules.name[index_of(frames.module[row])]];
  text += base_name(module);
  if (!module.empty()) text += '+';
  if (frames.offset[row] == kNoOffset) {
    text += '?';
    return;
  }
  text += hex_text(frames.offset[row]);
}

void stack_text_function(sqlite3_context* context, int /*count*/, sqlite3_value** values) {
  char* message = nullptr;
  const int code = answering(&message, [&] {
    Session& session = **static_cast<SharedSession*>(sqlite3_user_data(context));
    Output out(context);
    const std::int64_t id = sqlite3_value_int64(values[0]);
    if (sqlite3_value_type(values[0]) != SQLITE_INTEGER || id < 0 || id > 0xffffffffLL) return SQLITE_OK;
    const auto stack = static_cast<std::uint32_t>(id);
    const auto chunk = session.stacks_from(stack);
    if (chunk == nullptr || chunk->first_id > stack || chunk->root_first(stack).empty()) return SQLITE_OK;
    out.text(stack_text(session.catalog(), chunk->root_first(stack)));
    return SQLITE_OK;
  });
  if (code == SQLITE_OK) return;
  sqlite3_result_error(context, message != nullptr ? message : "out of memory", -1);
  sqlite3_result_error_code(context, code);
  sqlite3_free(message);
}

void register_function(const std::shared_ptr<Session>& session) {
  const int code =
      sqlite3_create_function_v2(session->db(), "stack_text", 1, SQLITE_UTF8 | SQLITE_INNOCUOUS,
                                 new SharedSession(session), stack_text_function, nullptr, nullptr, release_session);
  if (code != SQLITE_OK) throw Failure{sqlite_error(session->db(), code)};
}

}  // namespace

std::string frame_text(const Dictionary& dictionary, std::uint32_t row) {
  std::string text;
  append_frame(text, dictionary, row);
  return text;
}

std::string stack_text(const Catalog& catalog, std::span<const std::uint32_t> root_first) {
  std::string text;
  for (auto frame = root_first.rbegin(); frame != root_first.rend(); ++frame) {
    if (!text.empty()) text += " ‹ ";
    append_frame(text, catalog.dictionary(), catalog.frame_row(*frame));
  }
  return text;
}

void register_tables(const std::shared_ptr<Session>& session) {
  register_stack_tables(session);
  register_sample_table(session);
  register_growth_table(session);
  register_trend_table(session);
  register_retained_table(session);
  register_allocator_tables(session);
  register_trace_table(session);
  register_statistics(session->db());
  register_function(session);
}

}  // namespace snapdiff::store
