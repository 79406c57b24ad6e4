#include "analyzer/library/settings.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "analyzer/base/failure.hpp"
#include "analyzer/base/nearest.hpp"

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

template <class Enum, std::size_t N>
constexpr std::array<std::pair<std::string_view, Enum>, N> with_words(const Enum (&values)[N]) {
  std::array<std::pair<std::string_view, Enum>, N> out{};
  for (std::size_t i = 0; i < N; ++i) out[i] = {to_text(values[i]), values[i]};
  return out;
}

/// The enumerator whose word is given.
template <class Enum, std::size_t N>
Enum choice(const Given& given, const std::array<std::pair<std::string_view, Enum>, N>& words) {
  std::vector<std::string> names;
  std::string list;
  for (const auto& [word, value] : words) {
    if (given.value == word) return value;
    names.emplace_back(word);
    list += (list.empty() ? "" : &word == &words.back().first ? " or " : ", ") + names.back();
  }
  refuse(given, list + did_you_mean(given.value, names));
}

void set_grouping(const Given& given, DiffOptions& view) {
  constexpr std::string_view kLabel = "label:";
  if (given.value.starts_with(kLabel) && given.value.size() > kLabel.size()) {
    view.by = GroupBy::label;
    view.label_key = given.value.substr(kLabel.size());
  } else if (given.value == "role") {
    view.by = GroupBy::label;
    view.label_key = given.value;
  } else {
    view.by = choice(given, with_words({GroupBy::stack, GroupBy::function, GroupBy::file, GroupBy::line,
                                        GroupBy::module, GroupBy::type}));
  }
}

constexpr std::array<std::pair<std::string_view, Demangle>, 3> kDemangles = {
    {{"none", Demangle::none}, {"simple", Demangle::simple}, {"full", Demangle::full}}};
constexpr std::array<std::pair<std::string_view, SortKey>, 5> kSortKeys = {{{"change", SortKey::change},
                                                                            {"growth", SortKey::growth},
                                                                            {"after", SortKey::after},
                                                                            {"objects", SortKey::objects},
                                                                            {"name", SortKey::name}}};
constexpr auto kFrameSets = with_words({FrameSet::usual, FrameSet::python, FrameSet::native, FrameSet::all});
constexpr std::array<std::pair<std::string_view, PictureKind>, 3> kKinds = {
    {{"growth", PictureKind::growth}, {"flame", PictureKind::flame}, {"timeline", PictureKind::timeline}}};
constexpr std::array<std::pair<std::string_view, PictureForm>, 5> kForms = {{{"pdf", PictureForm::pdf},
                                                                             {"html", PictureForm::html},
                                                                             {"svg", PictureForm::svg},
                                                                             {"png", PictureForm::png},
                                                                             {"dot", PictureForm::dot}}};

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
    {"demangle", kOpenGroup, [](Settings& s, const Given& g) { s.open.demangle = choice(g, kDemangles); }},
    {"metric", kViewGroup, [](Settings& s, const Given& g) { s.view.metric = g.value; }},
    {"by", kViewGroup, [](Settings& s, const Given& g) { set_grouping(g, s.view); }},
    {"sort", kViewGroup, [](Settings& s, const Given& g) { s.view.sort = choice(g, kSortKeys); }},
    {"focus", kViewGroup, [](Settings& s, const Given& g) { s.view.focus = g.value; }},
    {"ignore", kViewGroup, [](Settings& s, const Given& g) { s.view.ignore = g.value; }},
    {"hide", kViewGroup, [](Settings& s, const Given& g) { s.view.hide = g.value; }},
    {"show", kViewGroup, [](Settings& s, const Given& g) { s.view.show = g.value; }},
    {"own", kViewGroup, [](Settings& s, const Given& g) { s.view.own = g.value; }},
    {"library", kViewGroup, [](Settings& s, const Given& g) { s.view.library = g.value; }},
    {"frames", kViewGroup, [](Settings& s, const Given& g) { s.view.frames = choice(g, kFrameSets); }},
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
