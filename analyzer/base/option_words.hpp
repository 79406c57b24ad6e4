#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "snapdiff/growth.hpp"
#include "snapdiff/opened.hpp"

/// The words of options, once for the command line, the library and the server of agents.
namespace snapdiff {

template <class Enum>
struct OptionWord {
  std::string_view word;
  Enum value;
};

inline constexpr OptionWord<SortKey> kSortWords[] = {{"change", SortKey::change},
                                                     {"growth", SortKey::growth},
                                                     {"after", SortKey::after},
                                                     {"objects", SortKey::objects},
                                                     {"name", SortKey::name}};
inline constexpr OptionWord<Demangle> kDemangleWords[] = {
    {"none", Demangle::none}, {"simple", Demangle::simple}, {"full", Demangle::full}};
inline constexpr OptionWord<FrameSet> kFrameWords[] = {{to_text(FrameSet::usual), FrameSet::usual},
                                                       {to_text(FrameSet::python), FrameSet::python},
                                                       {to_text(FrameSet::native), FrameSet::native},
                                                       {to_text(FrameSet::all), FrameSet::all}};
/// Groupings without a key.
inline constexpr OptionWord<GroupBy> kGroupWords[] = {
    {to_text(GroupBy::stack), GroupBy::stack},   {to_text(GroupBy::function), GroupBy::function},
    {to_text(GroupBy::file), GroupBy::file},     {to_text(GroupBy::line), GroupBy::line},
    {to_text(GroupBy::module), GroupBy::module}, {to_text(GroupBy::type), GroupBy::type}};
inline constexpr std::string_view kRoleWord = "role", kLabelWord = "label:";

template <class Enum, std::size_t N>
std::vector<std::string> words_of(const OptionWord<Enum> (&words)[N]) {
  std::vector<std::string> out;
  for (const OptionWord<Enum>& one : words) out.emplace_back(one.word);
  return out;
}

/// Nothing for a word that is not in the list.
template <class Enum, std::size_t N>
std::optional<Enum> value_of(const OptionWord<Enum> (&words)[N], std::string_view word) {
  for (const OptionWord<Enum>& one : words) {
    if (one.word == word) return one.value;
  }
  return std::nullopt;
}

/// The KEY of "label:KEY".
inline std::optional<std::string_view> label_key(std::string_view by) {
  if (!by.starts_with(kLabelWord) || by.size() == kLabelWord.size()) return std::nullopt;
  return by.substr(kLabelWord.size());
}

/// Groups `view` by a word of kGroupWords, "role" or "label:KEY"; false for any other word.
inline bool set_grouping(std::string_view by, DiffOptions& view) {
  const std::optional<std::string_view> key = by == kRoleWord ? std::optional(by) : label_key(by);
  const std::optional<GroupBy> plain = value_of(kGroupWords, by);
  if (!key && !plain) return false;
  view.by = key ? GroupBy::label : *plain;
  view.label_key = key.value_or("");
  return true;
}

}  // namespace snapdiff
