#include "analyzer/session/operands.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>
#include <utility>

#include "analyzer/base/failure.hpp"
#include "analyzer/base/nearest.hpp"
#include "formats/input/archive.hpp"

namespace snapdiff::session {
namespace {

namespace fs = std::filesystem;

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// A file, a folder, an archive (which is one), a file of an archive.
std::optional<PathOperand> existing_path(const std::string& text) {
  if (formats::archive_member(text)) return PathOperand{text, "", false};
  std::error_code failure;
  const fs::file_status status = fs::status(text, failure);
  if (failure || !fs::exists(status)) return std::nullopt;
  return PathOperand{text, "", fs::is_directory(status) || formats::is_archive(text)};
}

// "@7", "@first", "@2..@9"
std::optional<Operand> stored_reference(const std::string& text) {
  if (text.size() < 2 || text[0] != '@') return std::nullopt;
  const std::string word = text.substr(1);
  if (word == "first" || word == "last" || word == "prev") return Operand{text, StoredOperand{0, word, ""}};
  if (const auto dots = word.find(".."); dots != std::string::npos) {
    std::string_view end = std::string_view(word).substr(dots + 2);
    if (!end.empty() && end[0] == '@') end.remove_prefix(1);
    const auto from = whole_number(std::string_view(word).substr(0, dots));
    const auto to = whole_number(end);
    if (from && to && *from <= *to) return Operand{text, RangeOperand{*from, *to}};
    return std::nullopt;
  }
  if (const auto id = whole_number(word); id && *id > 0) return Operand{text, StoredOperand{*id, "", ""}};
  return std::nullopt;
}

// "web#3", "web#-1", "web#2..#9"
std::optional<Operand> series_reference(const std::string& text) {
  std::string_view rest = text;
  std::optional<std::int64_t> last;
  if (const auto dots = rest.rfind(".."); dots != std::string_view::npos) {
    std::string_view end = rest.substr(dots + 2);
    if (!end.empty() && end[0] == '#') end.remove_prefix(1);
    last = whole_number(end);
    if (last && *last != 0) rest = rest.substr(0, dots);
  }
  const auto hash = rest.rfind('#');
  if (hash == std::string_view::npos || hash == 0) return std::nullopt;
  const auto position = whole_number(rest.substr(hash + 1));
  if (!position || *position == 0) return std::nullopt;
  return Operand{text, SeriesOperand{std::string(rest.substr(0, hash)), *position, last.value_or(0), ""}};
}

// "@7@peak", "web#3@oom": a moment of one stored snapshot.
std::optional<Operand> stored_moment(const std::string& text) {
  const auto at = text.rfind('@');
  if (at == std::string::npos || at == 0 || at + 1 == text.size()) return std::nullopt;
  std::optional<Operand> operand = stored_reference(text.substr(0, at));
  if (!operand) operand = series_reference(text.substr(0, at));
  if (!operand) return std::nullopt;
  operand->text = text;
  if (auto* stored = std::get_if<StoredOperand>(&operand->what)) {
    stored->point = text.substr(at + 1);
  } else if (auto* series = std::get_if<SeriesOperand>(&operand->what); series != nullptr && series->last == 0) {
    series->point = text.substr(at + 1);
  } else {
    return std::nullopt;
  }
  return operand;
}

}  // namespace

Result<Operand> parse_operand(const std::string& text) {
  if (text == "-") return Operand{text, PathOperand{"-", "", false}};
  if (auto path = existing_path(text)) return Operand{text, *std::move(path)};
  if (text.starts_with("http://") || text.starts_with("https://"))
    return Error{ErrorCode::usage,
                 "'" + text + "' is an address: expected a file; diff, trend, gate, top and watch read addresses"};
  if (auto stored = stored_reference(text)) return *std::move(stored);
  if (const auto at = text.rfind('@'); at != std::string::npos && at > 0) {
    if (auto path = existing_path(text.substr(0, at)); path && !path->is_directory) {
      path->point = text.substr(at + 1);
      return Operand{text, *std::move(path)};
    }
  }
  if (auto moment = stored_moment(text)) return *std::move(moment);
  if (text.rfind("label:", 0) == 0) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 6) {
      return Error{ErrorCode::usage, "'" + text + "' is no label reference: expected label:KEY=VALUE"};
    }
    return Operand{text, LabelOperand{text.substr(6, equals - 6), text.substr(equals + 1)}};
  }
  if (auto series = series_reference(text)) return *std::move(series);
  if (!text.empty() && text[0] == '@') {
    return Error{ErrorCode::usage,
                 "'" + text + "' is no snapshot: expected @N, @first, @last, @prev, @N..@M or @N@POINT"};
  }
  return series_operand(text);
}

std::string near_file(const std::string& text) {
  constexpr std::size_t kMostLookedAt = 10'000;
  const fs::path path = text;
  std::error_code failure;
  std::vector<std::string> names;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end && names.size() < kMostLookedAt;
       entry.increment(failure)) {
    names.push_back(entry->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  const std::string near = nearest_word(path.filename().string(), names);
  return near.empty() ? std::string() : "; did you mean " + (path.parent_path() / near).string() + "?";
}

bool is_whole_series(const Operand& operand) {
  const auto* const series = std::get_if<SeriesOperand>(&operand.what);
  return series != nullptr && series->position == 0;
}

Operand series_operand(const std::string& name) { return {name, SeriesOperand{name, 0, 0, ""}}; }

Result<std::vector<Operand>> parse_operands(const std::vector<std::string>& texts) {
  return guarded([&] {
    std::vector<Operand> operands;
    operands.reserve(texts.size());
    for (const std::string& text : texts) operands.push_back(value_or_throw(parse_operand(text)));
    return operands;
  });
}

}  // namespace snapdiff::session
