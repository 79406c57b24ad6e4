#include "analyzer/document/prose.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "analyzer/base/frame_text.hpp"
#include "analyzer/base/function_name.hpp"

namespace snapdiff::document {
namespace {

constexpr std::size_t kLongestName = 120;

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

std::string cut(std::string_view text) {
  if (text.size() <= kLongestName) return std::string(text);
  std::size_t head = kLongestName / 3;
  std::size_t tail = text.size() - (kLongestName - head);
  while (head > 0 && is_continuation(text[head])) --head;
  while (tail < text.size() && is_continuation(text[tail])) ++tail;
  return std::string(text.substr(0, head)).append("\u2026").append(text.substr(tail));
}

/// What V8 and Python call a function that has no name of its own.
bool is_anonymous(std::string_view function) {
  constexpr std::array<std::string_view, 5> kNames = {"<lambda>", "<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>"};
  if (function.starts_with("(anonymous")) return !function.starts_with("(anonymous namespace)");
  return std::find(kNames.begin(), kNames.end(), function) != kNames.end();
}

/// Where a part of a name ends that is recorded as it is shown: arguments of templates and functions are not. The
/// receiver of a Go method, "pkg.(*Type).Name", is.
std::size_t end_of_part(std::string_view name, std::size_t at) {
  constexpr std::string_view kBreaks = "<>()[]{}'\"\\\n";
  for (std::size_t end = at; (end = name.find_first_of(kBreaks, end)) < name.size(); ++end) {
    const bool opens = end > 0 && name.substr(end - 1).starts_with(".(*");
    const std::size_t closed = opens ? name.find_first_of(kBreaks, end + 1) : std::string_view::npos;
    if (closed == std::string_view::npos || !name.substr(closed).starts_with(").")) return end;
    end = closed;
  }
  return name.size();
}

}  // namespace

bool is_plain_word(std::string_view text) {
  return !text.empty() && text.find_first_not_of(
                              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                              "_-./@#:,+=%") == std::string_view::npos;
}

Writer& Writer::operator<<(std::string_view text) {
  if (text.empty()) return *this;
  if (prose_.empty() || prose_.back().name) {
    prose_.push_back({std::string(text), false});
  } else {
    prose_.back().text += text;
  }
  return *this;
}

Writer& Writer::name(std::string_view text) {
  if (text.empty()) return *this << "[unknown]";
  prose_.push_back({cut(text), true});
  return *this;
}

Writer& Writer::frame(const FrameView& frame) {
  if (frame.pseudo) return *this << frame.function;
  if (!frame.function.empty()) return name(function_of(frame));
  const std::string_view module = base_name(frame.module);
  if (module.empty()) return *this << address_text(frame);
  if (frame.offset == kNoOffset) return (*this << "[unknown in ").name(module) << "]";
  return name(module) << "+" << hex_text(frame.offset);
}

Writer& Writer::last_of(const std::vector<FrameView>& path) {
  if (path.empty()) return *this << "[no stack recorded]";
  frame(path.back());
  if (!is_anonymous(path.back().function)) return *this;
  // Callbacks come back through the library, but the nearest named caller of the same file is where they are written.
  const auto outer = std::find_if(path.rbegin() + 1, path.rend(), [&](const FrameView& caller) {
    return caller.file == path.back().file && !caller.function.empty() && !is_anonymous(caller.function);
  });
  return outer == path.rend() ? *this : (*this << " in ").frame(*outer);
}

Writer& Writer::place(const FrameView& frame) {
  if (frame.file.empty()) return *this;
  name(base_name(frame.file));
  return frame.line > 0 ? *this << ":" << static_cast<std::size_t>(frame.line) : *this;
}

Writer& Writer::snapshot(const SnapshotRef& ref) { return name(snapshot_name(ref)); }

Writer& Writer::operand(const SnapshotRef& ref) {
  if (is_plain_word(ref.ref)) return (*this << " ").name(ref.ref);
  std::string quoted;
  for (const char c : ref.ref) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return (*this << " '").name(quoted) << "'";
}

Writer& Writer::operands(const GrowthReport& report) { return operand(report.baseline).operand(report.current); }

Writer& Writer::operator<<(const Prose& other) {
  for (const Span& span : other) {
    if (span.name) {
      prose_.push_back(span);
    } else {
      *this << span.text;
    }
  }
  return *this;
}

std::string function_of(const FrameView& frame) {
  return frame.function.empty() ? std::string() : without_std(short_function_name(frame.function));
}

std::string pattern_of(const FrameView& frame) {
  const std::string name = function_of(frame);
  std::string_view best;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = end_of_part(name, at);
    std::string_view part = std::string_view(name).substr(at, end - at);
    while (!part.empty() && (part.back() == ':' || part.back() == ' ')) part.remove_suffix(1);
    while (!part.empty() && (part.front() == ':' || part.front() == ' ')) part.remove_prefix(1);
    if (part.size() > best.size()) best = part;
    at = end + 1;
  }
  std::string out;
  for (const char c : best) {
    if (std::string_view(".*+?|^$()").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

bool has_place(const FrameView& frame) {
  if (frame.file.empty() || frame.pseudo) return false;
  // Where there are no functions, frames are called by their place.
  const std::string site = std::string(base_name(frame.file)).append(":").append(std::to_string(frame.line));
  return !frame.function.ends_with(site) && frame.function != frame.file;
}

Prose place_of(const FrameView& frame) {
  Writer place;
  if (has_place(frame)) place.place(frame);
  return place.take();
}

std::string_view snapshot_name(const SnapshotRef& ref) {
  if (ref.snapshot != nullptr && !ref.snapshot->facts.source.name.empty())
    return base_name(ref.snapshot->facts.source.name);
  return base_name(ref.ref);
}

std::string percent_of(double share) {
  if (std::isnan(share)) return "n/a";
  constexpr std::int64_t kWhole = 1'000'000'000;
  return percent_text(std::llround(std::min(std::max(share, 0.0), 1.0) * static_cast<double>(kWhole)), kWhole,
                      kPageNumbers);
}

}  // namespace snapdiff::document
