#include "analyzer/postmortem/tokens.hpp"

#include <nettle/hmac.h>

#include <algorithm>
#include <array>
#include <utility>

#include "analyzer/base/concat.hpp"
#include "analyzer/base/function_name.hpp"
#include "analyzer/base/printable.hpp"

namespace snapdiff::postmortem {
namespace {

constexpr std::size_t kDigits = 12;
constexpr std::size_t kFolderDigits = 8;
constexpr std::size_t kOverloadDigits = 4;
/// Shorter names are words of any language: in free text they are left alone.
constexpr std::size_t kShortestInText = 4;

bool is_word_byte(char c) {
  const auto u = static_cast<unsigned char>(c);
  return (u >= '0' && u <= '9') || (u >= 'a' && u <= 'z') || (u >= 'A' && u <= 'Z') || u == '_' || u >= 0x80;
}

/// Words of columns, units, programs and forms of files that every reader knows, each between blanks.
constexpr std::string_view kHarmless =
    " B CSV DHAT GiB HTML JSON KiB LeakSanitizer MiB NET Node TiB TorchSharp UTF XML a active_bytes active_size "
    "active_space alloc alloc_objects alloc_space allocated allocated_bytes allocated_size an and bcc big binary "
    "bit bits byte bytes count counts cpu cputime cpython cycles delta detached_objects dhat diff dot dump "
    "edge_count endian events format free free_space freed gc_heap_objects gc_objects go gperftools gprof gzip "
    "heap heap_v heapprofile heaptrack heapz host_inuse_objects host_inuse_space in in_use inactive_split_bytes "
    "inuse inuse_objects inuse_space java jemalloc jvm layout line lines list lists little live live_objects lz "
    "mapped_space massif max_alloc_size max_split_size memcheck memleak memory memray metric microseconds "
    "milliseconds mimalloc moment moments ms nanoseconds node node_count ns object objects objgraph of "
    "peak_objects peak_space pending_space pickle pinned_space private_bytes profile profiler proto protocol "
    "python pytorch real_size recording requested_bytes requested_size requested_space reserved_bytes "
    "reserved_space retained rust s sample samples seconds self self_size size snapshot sole_space space "
    "speedscope stack statistics stats table tcmalloc temporary_objects temporary_space tensorflow text the time "
    "timeline torchsharp total_bytes total_count total_size us v valgrind version wall with xz zstd ";

/// What may be after the "@" or "#" of an operand.
bool is_point(std::string_view text) {
  for (const std::string_view word : {"first", "last", "prev", "peak", "end", "oom", "steps"}) {
    if (text == word) return true;
  }
  const std::size_t digits = text.find_first_not_of("0123456789.-:");
  return !text.empty() && digits != 0 &&
         (digits == std::string_view::npos || text.substr(digits) == "s" || text.substr(digits) == "ms");
}

/// ".py" of a file whose ending says no more than what it is written in.
std::string_view ending_of(std::string_view name) {
  static constexpr std::array<std::string_view, 42> kEndings = {
      ".py",  ".pyx", ".pyc", ".pyi",  ".cc", ".cpp",  ".cxx", ".c",   ".h",     ".hh",  ".hpp",
      ".hxx", ".inl", ".ipp", ".tcc",  ".cu", ".cuh",  ".go",  ".rs",  ".java",  ".kt",  ".scala",
      ".cs",  ".fs",  ".js",  ".mjs",  ".ts", ".rb",   ".lua", ".S",   ".s",     ".asm", ".so",
      ".a",   ".dll", ".exe", ".heap", ".gz", ".json", ".log", ".txt", ".pickle"};
  const std::size_t shared = name.find(".so.");
  if (shared != std::string_view::npos && shared > 0) return ".so";
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return {};
  const std::string_view ending = name.substr(dot);
  return std::find(kEndings.begin(), kEndings.end(), ending) == kEndings.end() ? std::string_view() : ending;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// "app/cache.py:9" -> 12, where ":9" begins; npos where it is no place.
std::size_t line_of_place(std::string_view name) {
  const std::size_t colon = name.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || name[colon - 1] == ':' || !is_number(name.substr(colon + 1)))
    return std::string_view::npos;
  return colon;
}

/// What the product itself calls rows (product.md section 3), and no input does.
bool is_pseudo_row(std::string_view text) {
  static constexpr std::array<std::string_view, 8> kRows = {"[unattributed]", "[no stack recorded]", "[stack cut]",
                                                            "[before trace]", "[below threshold]",   "[filtered out]",
                                                            "[unknown]",      "[every frame hidden]"};
  return std::find(kRows.begin(), kRows.end(), text) != kRows.end();
}

}  // namespace

std::string Redactor::Tokens::digits(std::string_view text, std::size_t count) const {
  const auto bytes = [](std::string_view view) { return reinterpret_cast<const std::uint8_t*>(view.data()); };
  hmac_sha256_ctx context{};
  hmac_sha256_set_key(&context, key_.size(), bytes(key_));
  hmac_sha256_update(&context, text.size(), bytes(text));
  std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest{};
  hmac_sha256_digest(&context, digest.size(), digest.data());
  std::string out;
  for (std::size_t i = 0; out.size() < count; ++i) append_hex(out, static_cast<char>(digest[i]));
  return out;
}

std::string_view Redactor::Tokens::keep(std::string token) { return texts_.emplace_back(std::move(token)); }

std::string_view Redactor::Tokens::remember(std::string_view original, std::string token) {
  const std::string_view kept = keep(std::move(token));
  if (!original.empty() && token_of_.try_emplace(keep(std::string(original)), kept).second)
    lengths_.insert(original.size());
  return kept;
}

std::string_view Redactor::Tokens::known(std::string_view original) const {
  const auto found = token_of_.find(original);
  return found == token_of_.end() ? std::string_view() : found->second;
}

std::string Redactor::Tokens::file_token(std::string_view base) const {
  if (base.empty()) return {};
  const std::string_view ending = ending_of(base);
  return "file_" + digits(base, kDigits).append(ending);
}

std::string Redactor::Tokens::path_token(std::string_view path) const {
  const std::string_view base = base_name(path);
  std::string token;
  if (const std::string_view folder = path.substr(0, path.size() - base.size()); !folder.empty())
    token = "dir_" + digits(folder, kFolderDigits) + "/";
  return token + file_token(base);
}

std::string_view Redactor::Tokens::path_locked(std::string_view path) {
  if (path.empty()) return {};
  if (const auto found = path_of_.find(path); found != path_of_.end()) return found->second;
  const std::string_view kept = keep(path_token(path));
  const auto add = [&](std::string_view original, std::string_view token) {
    if (original.empty()) return;
    if (path_of_.try_emplace(keep(std::string(original)), token).second) lengths_.insert(original.size());
  };
  add(path, kept);
  add(base_name(path), kept.substr(kept.find('/') == std::string_view::npos ? 0 : kept.find('/') + 1));
  const std::string_view folder = path.substr(0, path.size() - base_name(path).size());
  if (!folder.empty()) add(folder.substr(0, folder.size() - 1), kept.substr(0, kept.find('/')));
  return kept;
}

std::string_view Redactor::Tokens::path(std::string_view path) {
  const std::lock_guard lock(mutex_);
  return path_locked(path);
}

std::string_view Redactor::Tokens::function_locked(std::string_view name) {
  if (name.empty() || is_pseudo_row(name)) return name.empty() ? name : keep(std::string(name));
  if (const std::string_view token = known(name); !token.empty()) return token;
  if (const std::size_t line = line_of_place(name); line != std::string_view::npos)
    return remember(name, std::string(path_locked(name.substr(0, line))).append(name.substr(line)));
  const std::string short_name = short_function_name(name);
  const std::string token = "fn_" + digits(short_name, kDigits);
  if (short_name == name) {
    const std::string bare = without_std(short_name);
    if (bare != short_name) remember(bare, token);
    return remember(name, token);
  }
  remember(short_name, token);
  remember(without_std(short_name), token);
  return remember(name, token + "(" + digits(name, kOverloadDigits) + ")");
}

std::string_view Redactor::Tokens::function(std::string_view name) {
  const std::lock_guard lock(mutex_);
  return function_locked(name);
}

std::string_view Redactor::Tokens::word(std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (text.empty()) return {};
  if (const std::string_view token = known(text); !token.empty()) return token;
  return remember(text, "name_" + digits(text, kDigits));
}

std::string_view Redactor::Tokens::harmless(std::string_view text) {
  bool is_known = true;
  for (std::size_t i = 0; i < text.size() && is_known;) {
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    std::size_t end = i;
    while (end < text.size() && is_letter(text[end])) ++end;
    if (end > i) is_known = kHarmless.find(concat(" ", text.substr(i, end - i), " ")) != std::string_view::npos;
    if (end == i) is_known = std::string_view("0123456789 .,:;-+/%(){}=").find(text[end++]) != std::string_view::npos;
    i = end;
  }
  if (!is_known) return word(text);
  const std::lock_guard lock(mutex_);
  return keep(std::string(text));
}

std::string_view Redactor::Tokens::operand(std::string_view ref) {
  const std::lock_guard lock(mutex_);
  if (ref.empty() || ref == "-" || (ref.front() == '@' && is_number(ref.substr(1)))) return keep(std::string(ref));
  if (const std::string_view token = known(ref); !token.empty()) return token;
  // FILE@POINT, @3@peak, SERIES#3: what a point is called says nothing; a file's name may hold the same signs.
  const std::size_t mark = ref.find_last_of("@#");
  if (mark == std::string_view::npos || !is_point(ref.substr(mark + 1))) return path_locked(ref);
  if (ref.front() == '@' && is_number(ref.substr(1, mark > 0 ? mark - 1 : 0))) return keep(std::string(ref));
  return remember(ref, std::string(path_locked(ref.substr(0, mark))).append(ref.substr(mark)));
}

std::string_view Redactor::Tokens::span(std::string_view text) {
  std::string name(text);
  {
    const std::lock_guard lock(mutex_);
    if (is_pseudo_row(text)) return keep(name);
    for (const bool is_expression : {false, true}) {
      // Expressions in commands: the name they find.
      if (is_expression) name.erase(std::remove(name.begin(), name.end(), '\\'), name.end());
      if (const std::string_view token = known(name); !token.empty()) return token;
      if (const auto found = path_of_.find(name); found != path_of_.end()) return found->second;
    }
    // An expression may be a part of the name; of several names the first, whatever the order of the table.
    std::string_view first;
    std::string_view token;
    for (const auto& [original, its_token] : token_of_) {
      if (original.find(name) == std::string_view::npos || (!first.empty() && first <= original)) continue;
      first = original;
      token = its_token;
    }
    if (!first.empty()) return token.substr(0, token.find('('));
  }
  return word(text);
}

namespace {

/// Behind the word at `from` with what joins identifiers, paths and hosts.
std::size_t end_of_name(std::string_view text, std::size_t from) {
  std::size_t end = from;
  while (end < text.size() &&
         (is_word_byte(text[end]) || std::string_view(".:$-").find(text[end]) != std::string_view::npos))
    ++end;
  while (end > from && !is_word_byte(text[end - 1])) --end;
  return end;
}

/// camelCase, snake_case, a::b, a.b, words beyond ASCII; not "KiB", "3.5", "T3" or a word of a sentence.
bool looks_like_a_name(std::string_view word) {
  const auto is = [](char c, char low, char high) { return c >= low && c <= high; };
  bool has_letter = false;
  bool is_name = false;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const char c = word[i];
    const bool lower = is(c, 'a', 'z');
    has_letter = has_letter || lower || is(c, 'A', 'Z');
    const bool hump = i > 0 && is(c, 'A', 'Z') && is(word[i - 1], 'a', 'z');
    const bool joint = i > 0 && i + 1 < word.size() && (c == '.' || c == ':') && !is(word[i - 1], '0', '9');
    is_name = is_name || hump || joint || c == '_' || c == '$' || static_cast<unsigned char>(c) >= 0x80;
  }
  return has_letter && is_name && word.size() >= kShortestInText;
}

}  // namespace

std::string Redactor::Tokens::text(std::string_view text) {
  std::string out;
  const auto at_word_end = [&](std::size_t at) {
    return at >= text.size() || at == 0 || !is_word_byte(text[at]) || !is_word_byte(text[at - 1]);
  };
  for (std::size_t i = 0; i < text.size();) {
    std::string_view token;
    std::size_t length = 0;
    if (at_word_end(i)) {
      const std::lock_guard lock(mutex_);
      for (const std::size_t candidate : lengths_) {
        if (candidate < kShortestInText) break;
        if (candidate > text.size() - i || !at_word_end(i + candidate)) continue;
        const std::string_view part = text.substr(i, candidate);
        token = known(part);
        if (const auto found = path_of_.find(part); token.empty() && found != path_of_.end()) token = found->second;
        if (token.empty()) continue;
        length = candidate;
        break;
      }
    }
    if (token.empty() && text[i] == '\'') {
      const std::size_t end = text.find('\'', i + 1);
      if (end != std::string_view::npos && end > i + 1 && (i == 0 || !is_word_byte(text[i - 1]))) {
        out.append("'").append(word(text.substr(i + 1, end - i - 1))).append("'");
        i = end + 1;
        continue;
      }
    }
    if (token.empty() && at_word_end(i) && (text[i] == '/' || is_word_byte(text[i]))) {
      // A word with a slash before a letter is a path; "input/output" and "KiB/s" lose nothing by it.
      std::size_t end = i;
      while (end < text.size() &&
             (is_word_byte(text[end]) || std::string_view("/\\.-+~").find(text[end]) != std::string_view::npos))
        ++end;
      while (end > i && (text[end - 1] == '.' || text[end - 1] == '-')) --end;
      const std::string_view run = text.substr(i, end - i);
      if (run.find('/') != std::string_view::npos && run.size() >= kShortestInText) {
        token = path(run);
        length = run.size();
      }
    }
    if (token.empty() && at_word_end(i) && is_word_byte(text[i])) {
      // A word that no sentence of ours has: an identifier, a host, a file.
      const std::size_t end = end_of_name(text, i);
      if (looks_like_a_name(text.substr(i, end - i))) {
        token = harmless(text.substr(i, end - i));
        length = end - i;
      }
    }
    if (token.empty()) {
      out += text[i++];
      continue;
    }
    out.append(token);
    i += length;
  }
  return out;
}

FrameView Redactor::Tokens::frame(const FrameView& frame) {
  FrameView out = frame;
  const std::lock_guard lock(mutex_);
  if (!frame.pseudo) out.function = function_locked(frame.function);
  out.file = path_locked(frame.file);
  out.module = path_locked(frame.module);
  if (!frame.build_id.empty()) {
    std::string_view token = known(frame.build_id);
    if (token.empty()) token = remember(frame.build_id, digits(frame.build_id, kDigits));
    out.build_id = token;
  }
  return out;
}

}  // namespace snapdiff::postmortem
