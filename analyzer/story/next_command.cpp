#include "analyzer/story/next_command.hpp"

#include <algorithm>

namespace snapdiff::story {
namespace {

bool is_plain_word(std::string_view text) {
  return !text.empty() && text.find_first_not_of(
                              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                              "_-./@#:,+=%") == std::string_view::npos;
}

/// The last function of a culprit.
FrameView frame_of(const Culprit& culprit) { return culprit.path.empty() ? FrameView{} : culprit.path.back(); }

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
  const auto is_named = [](const Culprit& c) { return !frame_of(c).pseudo && !frame_of(c).function.empty(); };
  const auto named = std::find_if(asked.begin(), asked.end(), is_named);
  if (named == asked.end()) {
    // The symbols of its module would name the first culprit.
    const FrameView first = asked.empty() ? FrameView{} : frame_of(asked.front());
    const std::string_view module = first.module.substr(first.module.rfind('/') + 1);
    if (first.pseudo || !is_plain_word(module)) return {};
    out << "snapdiff";
    both_ends(out, report);
    (out << " --symbols /path/to/").name(module);
    return out.take();
  }
  const std::string pattern = pattern_of(frame_of(*named));
  if (pattern.empty()) return {};
  (out << "snapdiff peek '").name(pattern) << "'";
  both_ends(out, report);
  return out.take();
}

}  // namespace snapdiff::story
