#include "analyzer/objects/holder_names.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "analyzer/base/contains.hpp"

namespace snapdiff::objects {
namespace {

constexpr int kNearby = 4;  // steps: a static, an object, a collection and its table

bool is_array(std::string_view type) { return type.starts_with('[') || type.ends_with("[]") || type == "(array)"; }
bool is_context(std::string_view type) { return type.starts_with("system / Context"); }
bool is_class(std::string_view type) { return type.ends_with(" (class)"); }
bool is_closure(std::string_view type) { return type.ends_with(" (closure)"); }
bool is_global(std::string_view type) { return type.starts_with("Window") || type.starts_with("global"); }

/// Names of references that the source of a program does not have.
bool is_named(std::string_view label) {
  constexpr std::array<std::string_view, 17> kEngine = {
      "context", "previous", "scope_info", "extension", "elements",    "properties",    "table", "map",    "code",
      "shared",  "script",   "__proto__",  "prototype", "constructor", "feedback_cell", "value", "entries"};
  if (label.empty() || label == "[x]" || label.starts_with('<') || label.find(' ') != std::string_view::npos)
    return false;
  return std::find(kEngine.begin(), kEngine.end(), label) == kEngine.end();
}

/// "HashMap" of "java.util.HashMap", "Shop" of "Shop (class)": without the kind and the package.
std::string short_type(std::string_view type) {
  if (type.ends_with(')') && !type.starts_with('(')) type = type.substr(0, type.rfind(" ("));
  if (type.starts_with("Window / ") || type.starts_with("Window [")) return "Window";
  if (type.find_first_of(" /<:") != std::string_view::npos) return std::string(type);
  const std::size_t dot = type.rfind('.');
  return std::string(dot == std::string_view::npos || dot + 1 == type.size() ? type : type.substr(dot + 1));
}

}  // namespace

bool HolderNames::is_library(std::uint32_t type) {
  const auto [at, fresh] = library_.try_emplace(type, false);
  if (fresh) {
    const std::string& text = tree_.names().text(type);
    // A lambda is a new class in each run: what it keeps says more.
    at->second = contains(text, "$$Lambda") || is_library_(text);
  }
  return at->second;
}

bool HolderNames::is_plumbing(std::uint32_t shape) {
  const std::string& type = tree_.names().text(tree_[shape].type);
  if (is_array(type)) return true;
  if (is_global(type)) return false;
  return is_library(tree_[shape].type);
}

/// The static field, variable or global property above an owner; the function whose variable it is.
std::string HolderNames::above_of(std::uint32_t owner) {
  const auto type = [&](std::uint32_t s) -> const std::string& { return tree_.names().text(tree_[s].type); };
  const bool variable = is_context(type(owner));
  int steps = 0;  // what is far above names something else
  for (std::uint32_t below = owner, at = tree_[owner].parent; at != 0 && steps < kNearby;
       below = at, at = tree_[at].parent, ++steps) {
    const std::string& label = tree_.names().text(tree_[below].label);
    if (variable) {
      if (is_closure(type(at)) && !short_type(type(at)).empty() && type(at) != "(closure)") return short_type(type(at));
      continue;
    }
    if (!is_named(label)) continue;
    if (is_class(type(at)) || is_global(type(at))) return short_type(type(at)) + "." + label;
    if (is_context(type(at))) return label;
  }
  return {};
}

HolderName HolderNames::name_of(std::uint32_t owner, std::uint32_t below, std::uint32_t held) {
  const auto type = [&](std::uint32_t s) -> const std::string& { return tree_.names().text(tree_[s].type); };
  const std::string& label = tree_.names().text(tree_[below].label);
  HolderName out;
  out.own = true;
  out.holder = is_context(type(owner)) ? label : short_type(type(owner));
  if (!is_context(type(owner)) && is_named(label)) out.holder += "." + label;
  // The collection between both, where there is one.
  std::uint32_t container = held;
  for (std::uint32_t s = held; s != owner && s != 0; s = tree_[s].parent) container = s;
  if (container != held && tree_[container].type != tree_[held].type && !type(container).ends_with(" (native)") &&
      !is_array(type(container)) && !is_class(type(container)) && !is_context(type(container)))
    out.holder += " (" + short_type(type(container)) + ")";
  out.above = above_of(owner);
  return out;
}

HolderName HolderNames::name(std::uint32_t shape, bool itself) {
  const auto type = [&](std::uint32_t s) -> const std::string& { return tree_.names().text(tree_[s].type); };
  const std::uint32_t held = shape;
  std::uint32_t below = shape;
  for (std::uint32_t at = itself ? shape : tree_[shape].parent; at != 0; below = at, at = tree_[at].parent) {
    const std::string& label = tree_.names().text(tree_[below].label);
    if (!itself && tree_[at].type == tree_[held].type) continue;  // the elements of a linked list hold each other
    if (is_context(type(at)) ? below != at && is_named(label) : !is_plumbing(at)) return name_of(at, below, held);
  }
  // Nothing of the program's own: the named field nearest to the root, else what holds it.
  HolderName out;
  below = shape;
  for (std::uint32_t at = tree_[shape].parent; at != 0; below = at, at = tree_[at].parent) {
    const std::string& label = tree_.names().text(tree_[below].label);
    if (is_array(type(at)) || !is_named(label) || label == "next") continue;
    out.holder = short_type(type(at)) + "." + label;
  }
  if (!out.holder.empty()) return out;
  const std::uint32_t parent = tree_[shape].parent;
  out.holder = parent != 0 ? short_type(type(parent)) : std::string(tree_.names().text(tree_[shape].label));
  return out;
}

std::uint32_t HolderNames::of(std::uint32_t shape, bool itself) {
  const auto [at, fresh] = known_.try_emplace(std::uint64_t{shape} * 2 + (itself ? 1 : 0), 0);
  if (!fresh) return at->second;
  HolderName found = name(shape, itself);
  const auto [row, is_new] =
      row_of_.try_emplace(found.holder + '\0' + found.above, static_cast<std::uint32_t>(all_.size()));
  if (is_new) all_.push_back(std::move(found));
  return at->second = row->second;
}

}  // namespace snapdiff::objects
