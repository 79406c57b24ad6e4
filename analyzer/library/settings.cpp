#include "analyzer/library/settings.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "analyzer/base/failure.hpp"
#include "analyzer/base/nearest.hpp"
#include "analyzer/base/option_words.hpp"

namespace snapdiff::library {
namespace {

/// An option that is given: `name` for messages.
struct Given {
  std::string name;
  std::string value;
};

[[noreturn]] void refuse(const Given& given, const std::string& expected) {
  fail({ErrorCode::usage, "option " + given.name + ": found '" + given.value + "', expected " + expected});
}

bool flag(const Given& given) {
  if (given.value == "1" || given.value == "true") return true;
  if (given.value != "0" && given.value != "false") refuse(given, "1 or 0");
  return false;
}

template <class Number>
Number number(const Given& given) {
  Number value{};
  const char* const end = given.value.data() + given.value.size();
  const auto [stopped, error] = std::from_chars(given.value.data(), end, value);
  if (error != std::errc() || stopped != end || std::cmp_less(value, 0)) refuse(given, "a whole number, 0 or more");
  return value;
}

/// The enumerator whose word is given.
template <class Enum, std::size_t N>
Enum choice(const Given& given, const OptionWord<Enum> (&words)[N]) {
  if (const std::optional<Enum> value = value_of(words, given.value)) return *value;
  const std::vector<std::string> names = words_of(words);
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : &name == &names.back() ? " or " : ", ") + name;
  refuse(given, list + did_you_mean(given.value, names));
}

void group_by(const Given& given, DiffOptions& view) {
  if (!set_grouping(given.value, view)) choice(given, kGroupWords);
}

constexpr OptionWord<PictureKind> kKinds[] = {
    {"growth", PictureKind::growth}, {"flame", PictureKind::flame}, {"timeline", PictureKind::timeline}};
constexpr OptionWord<PictureForm> kForms[] = {{"pdf", PictureForm::pdf},
                                              {"html", PictureForm::html},
                                              {"svg", PictureForm::svg},
                                              {"png", PictureForm::png},
                                              {"dot", PictureForm::dot}};

struct Option {
  const char* name;
  unsigned groups;
  void (*set)(Settings&, const Given&);
};

constexpr Option kOptions[] = {
    {"store", kOpenGroup, [](Settings& s, const Given& g) { s.open.store = g.value; }},
    {"series", kOpenGroup, [](Settings& s, const Given& g) { s.open.series = g.value; }},
    {"format", kOpenGroup, [](Settings& s, const Given& g) { s.open.format = g.value; }},
    {"max_input_bytes", kOpenGroup,
     [](Settings& s, const Given& g) { s.open.max_input_bytes = number<std::uint64_t>(g); }},
    {"strict", kOpenGroup, [](Settings& s, const Given& g) { s.open.strict = flag(g); }},
    {"pattern", kOpenGroup, [](Settings& s, const Given& g) { s.open.patterns.push_back(g.value); }},
    {"group_by", kOpenGroup, [](Settings& s, const Given& g) { s.open.group_by = g.value; }},
    {"decimal_units", kOpenGroup, [](Settings& s, const Given& g) { s.open.decimal_units = flag(g); }},
    {"symbols", kOpenGroup, [](Settings& s, const Given& g) { s.open.symbols.push_back(g.value); }},
    {"sysroot", kOpenGroup, [](Settings& s, const Given& g) { s.open.sysroot = g.value; }},
    {"demangle", kOpenGroup, [](Settings& s, const Given& g) { s.open.demangle = choice(g, kDemangleWords); }},
    {"metric", kViewGroup, [](Settings& s, const Given& g) { s.view.metric = g.value; }},
    {"by", kViewGroup, [](Settings& s, const Given& g) { group_by(g, s.view); }},
    {"sort", kViewGroup, [](Settings& s, const Given& g) { s.view.sort = choice(g, kSortWords); }},
    {"focus", kViewGroup, [](Settings& s, const Given& g) { s.view.focus = g.value; }},
    {"ignore", kViewGroup, [](Settings& s, const Given& g) { s.view.ignore = g.value; }},
    {"hide", kViewGroup, [](Settings& s, const Given& g) { s.view.hide = g.value; }},
    {"show", kViewGroup, [](Settings& s, const Given& g) { s.view.show = g.value; }},
    {"own", kViewGroup, [](Settings& s, const Given& g) { s.view.own = g.value; }},
    {"library", kViewGroup, [](Settings& s, const Given& g) { s.view.library = g.value; }},
    {"frames", kViewGroup, [](Settings& s, const Given& g) { s.view.frames = choice(g, kFrameWords); }},
    {"allocator_frames", kViewGroup, [](Settings& s, const Given& g) { s.view.hide_allocator_frames = !flag(g); }},
    {"fold_recursion", kViewGroup, [](Settings& s, const Given& g) { s.view.fold_recursion = flag(g); }},
    {"match_strictly", kViewGroup, [](Settings& s, const Given& g) { s.view.match_strictly = flag(g); }},
    {"limit", kLimitGroup | kReportGroup,
     [](Settings& s, const Given& g) { s.limit = s.postmortem.limit = number<std::int64_t>(g); }},
    {"budget", kGateGroup, [](Settings& s, const Given& g) { s.gate.budgets.push_back(g.value); }},
    {"budget_file", kGateGroup, [](Settings& s, const Given& g) { s.gate.budget_file = g.value; }},
    {"allowance_file", kGateGroup, [](Settings& s, const Given& g) { s.gate.allowance_file = g.value; }},
    {"allow_unjudged", kGateGroup, [](Settings& s, const Given& g) { s.gate.allow_unjudged = flag(g); }},
    {"kind", kDrawGroup, [](Settings& s, const Given& g) { s.picture.kind = choice(g, kKinds); }},
    {"form", kDrawGroup, [](Settings& s, const Given& g) { s.picture.form = choice(g, kForms); }},
    {"max_nodes", kDrawGroup, [](Settings& s, const Given& g) { s.picture.max_nodes = number<std::size_t>(g); }},
    {"letter", kDrawGroup | kReportGroup,
     [](Settings& s, const Given& g) { s.picture.letter = s.postmortem.letter = flag(g); }},
    {"rows", kReportGroup, [](Settings& s, const Given& g) { s.postmortem.rows = number<std::size_t>(g); }},
    {"redact", kReportGroup, [](Settings& s, const Given& g) { s.postmortem.redact = g.value; }},
};

}  // namespace

Settings read_settings(const snapdiff_option* options, unsigned groups) {
  Settings settings;
  for (; options != nullptr && options->name != nullptr; ++options) {
    const Given given{options->name, options->value != nullptr ? options->value : ""};
    const Option* const option = std::find_if(std::begin(kOptions), std::end(kOptions), [&](const Option& one) {
      return given.name == one.name && (one.groups & groups) != 0;
    });
    if (option != std::end(kOptions)) {
      option->set(settings, given);
      continue;
    }
    std::vector<std::string> names;
    for (const Option& one : kOptions) {
      if ((one.groups & groups) != 0) names.emplace_back(one.name);
    }
    fail({ErrorCode::usage, "unknown option: found '" + given.name + "'" + did_you_mean(given.name, names)});
  }
  return settings;
}

}  // namespace snapdiff::library
