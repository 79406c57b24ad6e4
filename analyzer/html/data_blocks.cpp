#include "analyzer/html/data_blocks.hpp"

#include <libdeflate.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <numeric>
#include <tuple>

#include "analyzer/base/frame_text.hpp"
#include "analyzer/base/function_name.hpp"
#include "analyzer/base/number_text.hpp"
#include "analyzer/html/markup.hpp"
#include "snapdiff/hash.hpp"

namespace snapdiff::html {
namespace {

/// Longer names are templates of templates; their middle says nothing.
constexpr std::size_t kLongestFrameName = 1500;
constexpr std::size_t kLongestShortName = 300;

/// A stack of a million frames is one recursion: its ends are kept.
constexpr std::size_t kLeafFrames = 192;
constexpr std::size_t kRootFrames = 64;

std::size_t mixed(std::initializer_list<std::uint64_t> numbers) {
  std::uint64_t hash = 0;
  for (const std::uint64_t number : numbers) hash = mix64(hash * 0x9e3779b97f4a7c15ULL + number);
  return static_cast<std::size_t>(hash);
}

std::uint64_t bits(const char* at) { return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(at)); }

/// Reasons are sentences with figures: of the rows that matter.
constexpr std::size_t kReasons = 4'000;

/// The values of one row, as multiples of what divides them all: sizes of objects make small numbers.
class RowCoder {
 public:
  void add(std::span<const std::int64_t> values) {
    std::uint64_t divisor = 0;
    for (const std::int64_t v : values) divisor = std::gcd(divisor, magnitude(v));
    divisor = std::max<std::uint64_t>(divisor, 1);
    // -2^63 has no positive counterpart.
    if (divisor > static_cast<std::uint64_t>(INT64_MAX)) divisor = 1;
    divisors_.number(divisor);
    std::int64_t last = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::int64_t multiple = values[i] / static_cast<std::int64_t>(divisor);
      (i == 0 ? firsts_ : steps_).difference(wrapping_difference(multiple, last));
      last = multiple;
    }
  }
  std::string all() const { return divisors_.all() + firsts_.all() + steps_.all(); }

 private:
  Bytes divisors_, firsts_, steps_;
};

void code_ranks(Bytes& out, std::span<const std::uint32_t> order) {
  std::vector<std::uint32_t> ranks(order.size());
  std::iota(ranks.begin(), ranks.end(), 0U);
  const std::size_t count = std::min(kRankedRows, ranks.size());
  std::partial_sort(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(count), ranks.end(),
                    [&](std::uint32_t a, std::uint32_t b) { return order[a] < order[b]; });
  out.number(count);
  for (std::size_t i = 0; i < count; ++i) out.number(ranks[i]);
}

std::string coded_series(const GrowthReport& report, std::span<const std::uint32_t> order) {
  RowCoder coder;
  std::vector<std::int64_t> values;
  for (const std::uint32_t row : order) {
    values.assign(value_count(report), 0);
    for_each_value(report, row, [&](std::size_t i, std::int64_t value) { values[i] = value; });
    coder.add(values);
  }
  return coder.all();
}

std::string coded_objects(const GrowthReport& report, std::span<const std::uint32_t> order) {
  Bytes head;
  RowCoder coder;
  std::vector<std::int64_t> scratch;
  const bool kept = report.series_length > 0 && !report.object_place.empty();
  for (const std::uint32_t row : order) {
    const bool whole = kept && report.object_place[row] != GrowthReport::kNoPlace;
    head.number(whole ? 1 : 0);
    if (whole) {
      coder.add(report.object_series.row(report.object_place[row], scratch));
    } else {
      coder.add(std::array{report.rows[row].objects.baseline, report.rows[row].objects.current});
    }
  }
  return head.all() + coder.all();
}

void code_errors(Bytes& out, const GrowthReport& report, std::span<const std::uint32_t> order) {
  constexpr double kMost = 4.5e15;
  for (const std::uint32_t row : order) {
    const double error = report.rows[row].error;
    out.number(std::isfinite(error) ? static_cast<std::uint64_t>(std::llround(std::clamp(error, 0.0, kMost))) + 1 : 0);
  }
}

void code_verdicts(Bytes& out, const TrendReport& trend, const std::vector<std::uint64_t>& heavy,
                   std::span<const std::uint32_t> order) {
  std::map<std::string, std::size_t> words;
  std::map<std::string, std::size_t> reasons;
  std::vector<std::size_t> word_of, reason_of;
  std::string word_text, reason_text;
  const auto number_of = [](std::map<std::string, std::size_t>& known, std::string& text, std::string_view key) {
    const auto [at, is_new] = known.try_emplace(std::string(key), known.size() + 1);
    if (is_new) text.append(text.empty() ? "" : "\n").append(bounded(key, 400));
    return at->second;
  };
  std::vector<std::uint64_t> sorted(heavy);
  std::uint64_t least = 0;
  if (sorted.size() > kReasons) {
    std::nth_element(sorted.begin(), sorted.begin() + kReasons, sorted.end(), std::greater<>());
    least = sorted[kReasons] + 1;
  }
  for (const std::uint32_t row : order) {
    const Verdict& verdict = trend.verdicts[row];
    word_of.push_back(verdict.word.empty() ? 0 : number_of(words, word_text, verdict.word));
    const bool keeps = !verdict.reason.empty() && heavy[row] >= least;
    reason_of.push_back(keeps ? number_of(reasons, reason_text, verdict.reason) : 0);
  }
  out.text(word_text);
  out.text(reason_text);
  for (const std::size_t word : word_of) out.number(word);
  for (const std::size_t reason : reason_of) out.number(reason);
}

}  // namespace

std::size_t StackPages::Hash::operator()(const Seen& seen) const {
  // Asked for every frame of every stack: one round of mixing. Sizes are distinguished by operator==.
  const std::uint64_t places = bits(seen.function) * 0x9e3779b97f4a7c15ULL ^
                               std::rotl(bits(seen.file) * 0xc2b2ae3d27d4eb4fULL, 21) ^
                               std::rotl(bits(seen.module) * 0x165667b19e3779f9ULL, 42);
  return static_cast<std::size_t>(mix64(places + seen.offset + (static_cast<std::uint64_t>(seen.line) << 32)));
}
std::size_t StackPages::Hash::operator()(const PageFrame& frame) const {
  return mixed({frame.name, frame.full, frame.file, frame.module, static_cast<std::uint64_t>(frame.line), frame.flags});
}

StackPages::StackPages(const GrowthReport& report, std::span<const std::uint32_t> rows) {
  text({});
  std::vector<FrameView> views;
  for (const std::uint32_t row : rows) {
    views.clear();
    if (report.options.by == GroupBy::stack) {
      report.frames(report.rows[row], views);
    } else {
      views.push_back(made_frame(report.keys[report.rows[row].key], false));
    }
    add(views);
  }
  order_.resize(rows.size());
  std::iota(order_.begin(), order_.end(), 0U);
  // By names, not by numbers given in the order of appearance: neighbours share more, and the order of
  // equally heavy rows is that of their names.
  std::vector<std::uint32_t> by_text(frames_.size());
  std::iota(by_text.begin(), by_text.end(), 0U);
  const auto key = [&](std::uint32_t f) {
    const PageFrame& frame = frames_[f];
    return std::make_tuple(std::string_view(texts_[frame.name]), std::string_view(texts_[frame.full]),
                           std::string_view(texts_[frame.file]), frame.line, std::string_view(texts_[frame.module]),
                           frame.flags);
  };
  std::ranges::sort(by_text, [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
  std::vector<std::uint32_t> place(frames_.size());
  for (std::uint32_t i = 0; i < by_text.size(); ++i) place[by_text[i]] = i;
  std::vector<PageFrame> sorted(frames_.size());
  for (std::uint32_t i = 0; i < by_text.size(); ++i) sorted[i] = frames_[by_text[i]];
  frames_ = std::move(sorted);
  for (std::uint32_t& f : frame_of_stack_) f = place[f];
  seen_.clear();
  frame_ids_.clear();
  std::ranges::sort(order_, [&](std::uint32_t a, std::uint32_t b) {
    const std::span<const std::uint32_t> x = frames(a);
    const std::span<const std::uint32_t> y = frames(b);
    const auto [i, j] = std::mismatch(x.begin(), x.end(), y.begin(), y.end());
    if (i == x.end() && j == y.end()) return a < b;
    return i == x.end() || (j != y.end() && *i < *j);
  });
}

void StackPages::add(std::span<const FrameView> leaf_first) {
  const std::size_t count = leaf_first.size();
  const bool cut = count > kLeafFrames + kRootFrames;
  for (std::size_t i = count; i-- > 0;) {
    if (cut && i == count - kRootFrames - 1) {
      frame_of_stack_.push_back(cut_frame(count - kRootFrames - kLeafFrames));
      i = kLeafFrames;
      continue;
    }
    frame_of_stack_.push_back(frame(leaf_first[i]));
  }
  if (count == 0) frame_of_stack_.push_back(frame(made_frame("[filtered out]")));
  begin_.push_back(frame_of_stack_.size());
}

std::uint32_t StackPages::cut_frame(std::size_t frames) {
  PageFrame out;
  out.name = text("[" + count_text(frames, kGlyphs) + " frames not kept in this page]");
  out.full = out.name;
  out.flags = kPseudo;
  const auto [at, is_new] = frame_ids_.try_emplace(out, static_cast<std::uint32_t>(frames_.size()));
  if (is_new) frames_.push_back(out);
  return at->second;
}

std::uint32_t StackPages::frame(const FrameView& view) {
  const Seen seen{view.function.data(), view.file.data(), view.module.data(), view.function.size(), view.file.size(),
                  view.module.size(),   view.offset,      view.line,          view.inlined};
  const auto [at, is_new] = seen_.try_emplace(seen, 0);
  if (!is_new) return at->second;
  PageFrame out;
  if (view.function.empty()) {
    out.name = text(bounded(address_text(view), kLongestShortName));
    out.full = out.name;
  } else {
    const std::string name = view.pseudo ? std::string(view.function) : without_std(short_function_name(view.function));
    out.name = text(bounded(name, kLongestShortName));
    out.full = text(bounded(view.function, kLongestFrameName));
    if (is_entry_point(view.function)) out.flags |= kEntry;
    if (view.library) out.flags |= kLibrary;
  }
  if (view.pseudo) out.flags |= kPseudo;
  if (view.inlined) out.flags |= kInlined;
  out.file = text(bounded(view.file, kLongestFrameName));
  out.module = text(bounded(view.module, kLongestFrameName));
  out.line = std::max(view.line, 0);
  const auto [id, fresh] = frame_ids_.try_emplace(out, static_cast<std::uint32_t>(frames_.size()));
  if (fresh) frames_.push_back(out);
  at->second = id->second;
  return id->second;
}

std::uint32_t StackPages::text(std::string&& printable) {
  const auto [at, is_new] = text_ids_.try_emplace(std::move(printable), static_cast<std::uint32_t>(texts_.size()));
  if (is_new) texts_.push_back(at->first);
  return at->second;
}

std::string StackPages::coded(const std::vector<bool>& wanted) const {
  constexpr std::uint32_t kUnused = 0xffffffff;
  std::vector<std::uint32_t> frame_place(frames_.size(), kUnused);
  for (std::uint32_t row = 0; row + 1 < begin_.size(); ++row) {
    if (!wanted[row]) continue;
    for (const std::uint32_t f : frames(row)) frame_place[f] = 0;
  }
  std::vector<std::uint32_t> used_frames;
  std::vector<std::uint32_t> used_texts;
  std::vector<std::uint32_t> text_place(texts_.size(), kUnused);
  const auto use_text = [&](std::uint32_t t) {
    if (text_place[t] != kUnused) return;
    text_place[t] = 0;
    used_texts.push_back(t);
  };
  use_text(0);
  for (std::uint32_t f = 0; f < frames_.size(); ++f) {
    if (frame_place[f] == kUnused) continue;
    frame_place[f] = static_cast<std::uint32_t>(used_frames.size());
    used_frames.push_back(f);
    for (const std::uint32_t t : {frames_[f].name, frames_[f].full, frames_[f].file, frames_[f].module}) use_text(t);
  }
  // Sorted: neighbours share prefixes, and the page compares names by their numbers. Row 0 is "".
  std::ranges::sort(used_texts, [&](std::uint32_t a, std::uint32_t b) { return texts_[a] < texts_[b]; });
  std::string joined;
  for (std::uint32_t i = 0; i < used_texts.size(); ++i) {
    text_place[used_texts[i]] = i;
    if (i > 0) joined += '\n';
    joined += texts_[used_texts[i]];
  }

  Bytes out;
  out.number(used_texts.size());
  out.text(joined);
  out.number(used_frames.size());
  for (const std::uint32_t f : used_frames) out.number(text_place[frames_[f].name]);
  for (const std::uint32_t f : used_frames)
    out.number(frames_[f].full == frames_[f].name ? 0U : text_place[frames_[f].full] + 1U);
  for (const std::uint32_t f : used_frames) out.number(text_place[frames_[f].file]);
  for (const std::uint32_t f : used_frames) out.number(text_place[frames_[f].module]);
  for (const std::uint32_t f : used_frames) out.number(static_cast<std::uint64_t>(frames_[f].line));
  for (const std::uint32_t f : used_frames) out.number(frames_[f].flags);

  Bytes shared;
  Bytes added;
  Bytes path;
  std::size_t rows = 0;
  std::size_t nodes = 0;
  std::span<const std::uint32_t> last;
  for (const std::uint32_t row : order_) {
    if (!wanted[row]) continue;
    const std::span<const std::uint32_t> now = frames(row);
    const std::size_t same =
        static_cast<std::size_t>(std::mismatch(last.begin(), last.end(), now.begin(), now.end()).second - now.begin());
    shared.number(same);
    added.number(now.size() - same);
    for (std::size_t i = same; i < now.size(); ++i) path.number(frame_place[now[i]]);
    nodes += now.size() - same;
    last = now;
    ++rows;
  }
  out.number(rows);
  out.number(nodes);
  std::string all = out.all();
  return all.append(shared.all()).append(added.all()).append(path.all());
}

std::string coded_values(const Postmortem& report, const std::vector<std::uint64_t>& importance,
                         std::span<const std::uint32_t> order) {
  const GrowthReport& growth = report.growth();
  Bytes out;
  code_ranks(out, order);
  out.text(coded_series(growth, order));
  out.text(growth.has_objects ? coded_objects(growth, order) : std::string());
  Bytes errors;
  if (growth.has_error) code_errors(errors, growth, order);
  out.text(errors.all());
  Bytes verdicts;
  if (value_count(growth) >= kJudgedFrom && report.trend.verdicts.size() == growth.rows.size())
    code_verdicts(verdicts, report.trend, importance, order);
  out.text(verdicts.all());
  for (const std::uint32_t row : order) out.number(static_cast<std::uint64_t>(growth.rows[row].tier));
  Bytes known;
  if (growth.series.has_unknown()) {
    for (const std::uint32_t row : order) {
      for (std::size_t i = 0; i < value_count(growth); ++i) known.number(growth.series.known(row, i) ? 1 : 0);
    }
  }
  out.text(known.all());
  return out.all();
}

std::string deflated(std::string_view bytes) {
  constexpr int kLevel = 9;
  const std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> compressor(
      libdeflate_alloc_compressor(kLevel), &libdeflate_free_compressor);
  if (compressor == nullptr) throw std::bad_alloc();
  std::string out(libdeflate_deflate_compress_bound(compressor.get(), bytes.size()), '\0');
  out.resize(libdeflate_deflate_compress(compressor.get(), bytes.data(), bytes.size(), out.data(), out.size()));
  return out;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve(base64_size(bytes.size()));
  const auto byte = [&](std::size_t i) {
    return i < bytes.size() ? static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) : 0U;
  };
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::uint32_t three = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    out += kDigits[three >> 18];
    out += kDigits[three >> 12 & 63];
    out += i + 1 < bytes.size() ? kDigits[three >> 6 & 63] : '=';
    out += i + 2 < bytes.size() ? kDigits[three & 63] : '=';
  }
  return out;
}

std::string hash_source(std::string_view hex) {
  std::string bytes;
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1]));
  return "'sha256-" + base64(bytes) + "'";
}

}  // namespace snapdiff::html
