#include "analyzer/story/next_command.hpp"

namespace snapdiff::story {
namespace {

bool is_plain_word(std::string_view text) {
  return !text.empty() && text.find_first_not_of(
                              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                              "_-./@#:,+=%") == std::string_view::npos;
}

/// The first function that was recorded with a name; null without one.
const FrameView* asked_frame(const std::vector<Culprit>& culprits) {
  for (const Culprit& culprit : culprits) {
    if (culprit.path.empty()) continue;
    const FrameView& frame = culprit.path.back();
    if (!frame.pseudo && !frame.function.empty()) return &frame;
  }
  return nullptr;
}

/// The module whose symbols would name the first culprit; "" where nothing would.
std::string_view unnamed_module(const std::vector<Culprit>& culprits) {
  if (culprits.empty() || culprits.front().path.empty()) return {};
  const FrameView& frame = culprits.front().path.back();
  if (frame.pseudo || !frame.function.empty()) return {};
  const std::string_view name = frame.module.substr(frame.module.rfind('/') + 1);
  return is_plain_word(name) ? name : std::string_view();
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

void operand(Writer& out, const SnapshotRef& ref) {
  if (is_plain_word(ref.ref)) {
    (out << " ").name(ref.ref);
    return;
  }
  std::string quoted;
  for (const char c : ref.ref) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  (out << " '").name(quoted) << "'";
}

void both_ends(Writer& out, const GrowthReport& report) {
  operand(out, report.baseline);
  operand(out, report.current);
}

Prose next_command(const GrowthReport& report, const Story& story) {
  Writer out;
  if (report.current.snapshot != nullptr && report.current.snapshot->graph != nullptr) {
    out << "snapdiff retained";
    both_ends(out, report);
    return out.take();
  }
  const std::vector<Culprit>& asked = story.culprits.empty() ? story.freed : story.culprits;
  const FrameView* frame = asked_frame(asked);
  if (frame == nullptr) {
    const std::string_view module = unnamed_module(asked);
    if (module.empty()) return {};
    out << "snapdiff";
    both_ends(out, report);
    (out << " --symbols /path/to/").name(module);
    return out.take();
  }
  const std::string pattern = pattern_of(*frame);
  if (pattern.empty()) return {};
  (out << "snapdiff peek '").name(pattern) << "'";
  both_ends(out, report);
  return out.take();
}

}  // namespace snapdiff::story
