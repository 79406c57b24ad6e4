#include "analyzer/base/function_name.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace snapdiff {
namespace {

bool is_identifier(char c) {
  const auto u = static_cast<unsigned char>(c);
  return (u >= '0' && u <= '9') || (u >= 'a' && u <= 'z') || (u >= 'A' && u <= 'Z') || u == '_' || u == '$' ||
         u >= 0x80;
}

bool is_hex(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// "byte[]" for the JVM's "[B", "java.lang.String[][]" for "[[Ljava.lang.String;"; "" where it is no such name.
std::string jvm_array_name(std::string_view name) {
  std::size_t depth = 0;
  while (depth < name.size() && name[depth] == '[') ++depth;
  if (depth == 0 || depth == name.size()) return {};
  std::string out;
  const std::string_view element = name.substr(depth);
  if (element.size() == 1) {
    constexpr std::array<std::pair<char, std::string_view>, 8> kPrimitive{{{'B', "byte"},
                                                                           {'C', "char"},
                                                                           {'D', "double"},
                                                                           {'F', "float"},
                                                                           {'I', "int"},
                                                                           {'J', "long"},
                                                                           {'S', "short"},
                                                                           {'Z', "boolean"}}};
    for (const auto& [letter, word] : kPrimitive) {
      if (letter == element.front()) out = word;
    }
  } else if (element.front() == 'L' && element.back() == ';') {
    out = element.substr(1, element.size() - 2);
  }
  if (out.empty()) return {};
  for (std::size_t i = 0; i < depth; ++i) out += "[]";
  return out;
}

/// "org.acme.Limiter λ37" for the JVM's "org.acme.Limiter$$Lambda$37/0x00000008000c82a0": the address is another one in
/// each run. Without a number, as since JDK 21, its last digits tell the lambdas of a class apart. "" for other names.
std::string jvm_lambda_name(std::string_view name) {
  constexpr std::string_view kMark = "$$Lambda";
  constexpr std::size_t kTold = 5;
  const std::size_t at = name.find(kMark);
  if (at == std::string_view::npos || at == 0) return {};
  std::string_view rest = name.substr(at + kMark.size());
  std::string_view number;
  if (rest.starts_with('$')) {
    number = rest.substr(1, rest.find_first_not_of("0123456789", 1) - 1);
    rest.remove_prefix(1 + number.size());
  }
  if (rest.starts_with("/0x") || rest.starts_with("+0x") || rest.starts_with(".0x")) {
    const std::size_t end = std::min(rest.find_first_not_of("0123456789abcdef", 3), rest.size());
    if (number.empty())
      number = rest.substr(std::max<std::size_t>(3, end - std::min(end, kTold)), std::min(kTold, end - 3));
    rest.remove_prefix(end);
  }
  return std::string(name.substr(0, at)).append(" \u03bb").append(number).append(rest);
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  std::size_t at = text.find(from);
  if (at == std::string::npos) return;
  std::string out;
  std::size_t done = 0;
  for (; at != std::string::npos; at = text.find(from, done)) {
    out.append(text, done, at - done).append(to);
    done = at + from.size();
  }
  text = out.append(text, done, std::string::npos);
}

/// Cuts ".constprop.0", ".isra.1", ".part.2", ".cold", ".llvm.123", " [clone .x]" and Rust's
/// "::h0123456789abcdef" off the end, as often as they come.
void strip_suffixes(std::string& name) {
  for (bool again = true; again;) {
    again = false;
    if (!name.empty() && name.back() == ']') {
      const std::size_t clone = name.rfind(" [clone ");
      if (clone != std::string::npos && clone > 0) {
        name.resize(clone);
        again = true;
        continue;
      }
    }
    if (name.size() > 19 && name.compare(name.size() - 19, 3, "::h") == 0 &&
        is_hex(std::string_view(name).substr(name.size() - 16))) {
      name.resize(name.size() - 19);
      again = true;
      continue;
    }
    std::size_t end = name.size();
    const std::size_t dot = name.rfind('.');
    if (dot != std::string::npos && dot > 0 && is_digits(std::string_view(name).substr(dot + 1))) end = dot;
    for (const std::string_view tag : {".constprop", ".isra", ".part", ".llvm", ".cold", ".clone"}) {
      if (end > tag.size() && name.compare(end - tag.size(), tag.size(), tag) == 0) {
        name.resize(end - tag.size());
        again = true;
        break;
      }
    }
  }
}

/// Rust v0 names carry the crate's hash: "alloc[7f9b1c2d3e4f5a6b]::vec" -> "alloc::vec".
void strip_crate_hashes(std::string& name) {
  std::size_t at = name.find('[');
  if (at == std::string::npos) return;
  std::string out;
  std::size_t done = 0;
  for (; at != std::string::npos; at = name.find('[', at + 1)) {
    const std::size_t end = name.find(']', at);
    if (end == std::string::npos) break;
    const std::string_view inside = std::string_view(name).substr(at + 1, end - at - 1);
    if (inside == "abi:cxx11" || (at > 0 && inside.size() >= 8 && inside.size() <= 16 && is_hex(inside))) {
      out.append(name, done, at - done);
      done = end + 1;
    }
  }
  name = out.append(name, done, std::string::npos);
}

/// Where the symbols of "operator<<" end, given that "operator" ends at `at`; brackets in there
/// open and close nothing.
std::size_t operator_end(std::string_view name, std::size_t at) {
  if (name.substr(at, 2) == "()" || name.substr(at, 2) == "[]") return at + 2;
  while (at < name.size() && std::string_view("<>=!+-*/%^&|~,").find(name[at]) != std::string_view::npos) {
    // operator< <int>: the second bracket is the template's.
    ++at;
  }
  return at;
}

/// Template arguments that only repeat the default.
bool is_default_argument(std::string_view argument) {
  constexpr std::array<std::string_view, 6> kDefaults{"std::allocator<", "std::char_traits<", "std::less<",
                                                      "std::hash<",      "std::equal_to<",    "std::default_delete<"};
  for (const std::string_view prefix : kDefaults) {
    if (argument.substr(0, prefix.size()) == prefix) return true;
  }
  return false;
}

/// Copies a name without its parameters and what is before it in a signature, and of its template arguments the
/// outermost that are not defaults.
class ShortName {
 public:
  ShortName(std::string_view name, std::string_view ellipsis) : name_(name), ellipsis_(ellipsis) {}

  /// "" where brackets do not match.
  std::string run() {
    while (at_ < name_.size() && !ended_) {
      if (!step()) return {};
    }
    return in_template_ ? std::string() : std::move(out_);
  }

 private:
  /// False where a bracket has no end.
  bool step() {
    const char c = name_[at_];
    if (is_operator()) return take_operator();
    if (c == '{') return take_braces();
    if (c == '(') return take_parentheses();
    if (c == '<' && at_ + 1 < name_.size()) return in_template_ ? take_inner_template() : open_template();
    const bool closes = c == '>' && in_template_ && !is_arrow(at_);
    const bool next_argument = c == ',' && in_template_;
    // Not those before an argument that is empty.
    while (closes && out_.size() > argument_ && out_.back() == ' ') out_.pop_back();
    if (closes || next_argument) close_argument();
    if (closes) in_template_ = false;
    out_ += c;
    ++at_;
    if (next_argument) {
      if (at_ < name_.size() && name_[at_] == ' ') out_ += name_[at_++];
      argument_ = out_.size();
    }
    if (c == ' ' && !in_template_ && !had_operator_) return_end_ = out_.size();
    return true;
  }

  bool is_operator() const {
    return name_.substr(at_, 8) == "operator" && (at_ == 0 || !is_identifier(name_[at_ - 1])) &&
           (at_ + 8 == name_.size() || !is_identifier(name_[at_ + 8]));
  }
  /// The > of -> and =>.
  bool is_arrow(std::size_t at) const {
    return name_[at] == '>' && at > 0 && (name_[at - 1] == '-' || name_[at - 1] == '=');
  }
  /// Where the bracket at at_ is closed, or npos.
  std::size_t end_of(char open, char close) const {
    int depth = 0;
    for (std::size_t end = at_; end < name_.size(); ++end) {
      if (name_[end] == open) ++depth;
      if (name_[end] == close && !is_arrow(end) && --depth == 0) return end;
    }
    return std::string_view::npos;
  }

  bool take_operator() {
    const std::size_t end = operator_end(name_, at_ + 8);
    out_.append(name_, at_, end - at_);
    had_operator_ = had_operator_ || !in_template_;
    at_ = end;
    return true;
  }

  /// {lambda(int)#1} -> {lambda#1}, {closure#0}
  bool take_braces() {
    int depth = 0;
    int round = 0;
    std::size_t end = at_;
    for (; end < name_.size(); ++end) {
      const char d = name_[end];
      if (d == '{') ++depth;
      if (d == '}' && --depth == 0) break;
      if (d == '(') ++round;
      if (round == 0 && depth == 1) out_ += d;
      if (d == ')' && round > 0) --round;
    }
    out_ += '}';
    at_ = end + 1;
    return end < name_.size();
  }

  bool take_parentheses() {
    const std::size_t end = end_of('(', ')');
    if (end == std::string_view::npos) return false;
    const std::string_view group = name_.substr(at_, end + 1 - at_);
    const bool named = group == "(anonymous namespace)" || group == "(anonymous class)" || at_ == 0 ||
                       name_[at_ - 1] == '.' || name_[at_ - 1] == ' ';
    at_ = end + 1;
    if (named || in_template_) {
      out_ += group;
      return true;
    }
    if (!had_parameters_) {
      while (return_end_ < out_.size() && (out_[return_end_] == '*' || out_[return_end_] == '&')) ++return_end_;
      out_.erase(0, return_end_);
    }
    had_parameters_ = true;
    ended_ = at_ < name_.size() && name_[at_] != ':';  // const, &, noexcept
    return true;
  }

  bool open_template() {
    in_template_ = first_argument_ = true;
    out_ += '<';
    argument_ = out_.size();
    ++at_;
    return true;
  }

  bool take_inner_template() {
    const std::size_t end = end_of('<', '>');
    if (end == std::string_view::npos) return false;
    out_.append("<").append(ellipsis_).append(">");
    at_ = end + 1;
    return true;
  }

  void close_argument() {
    if (!first_argument_ && is_default_argument(std::string_view(out_).substr(argument_))) {
      std::size_t keep = argument_;
      while (keep > 0 && (out_[keep - 1] == ' ' || out_[keep - 1] == ',')) --keep;
      out_.resize(keep);
    }
    first_argument_ = false;
  }

  std::string_view name_;
  std::string_view ellipsis_;
  std::size_t at_ = 0;
  std::string out_;
  bool ended_ = false;
  bool had_parameters_ = false;
  bool had_operator_ = false;   // blanks from here on are part of the name: "operator new"
  std::size_t return_end_ = 0;  // what a signature has before its name
  bool in_template_ = false;    // whose brackets are copied
  std::size_t argument_ = 0;    // where its current argument starts in out_
  bool first_argument_ = true;
};

}  // namespace

std::string_view autograd_node(std::string_view function) {
  constexpr std::string_view kNamespace = "torch::autograd::";
  constexpr std::string_view kMember = "::apply";
  if (!function.starts_with(kNamespace)) return {};
  std::size_t end = function.find('(');
  if (end == std::string_view::npos) end = function.size();
  std::string_view node = function.substr(0, end);
  if (!node.ends_with(kMember)) return {};
  node.remove_suffix(kMember.size());
  node.remove_prefix(node.rfind(':') + 1);
  const bool undoes = node.find("Backward") != std::string_view::npos || node == "AccumulateGrad";
  return undoes ? node : std::string_view();
}

std::string short_function_name(std::string_view function, std::string_view ellipsis) {
  if (std::string array = jvm_array_name(function); !array.empty()) return array;
  if (const std::string_view node = autograd_node(function); !node.empty()) return std::string(node);
  if (std::string lambda = jvm_lambda_name(function); !lambda.empty()) return lambda;
  std::string name(function);
  strip_suffixes(name);
  const auto opens = [](char c) { return c == '(' || c == '<' || c == '[' || c == ' '; };
  if (std::none_of(name.begin(), name.end(), opens)) return name;
  strip_crate_hashes(name);
  replace_all(name, "std::__cxx11::", "std::");
  replace_all(name, "std::__1::", "std::");
  replace_all(name, "std::basic_string<char, std::char_traits<char>, std::allocator<char> >", "std::string");
  replace_all(name, "std::basic_string<char, std::char_traits<char>, std::allocator<char>>", "std::string");

  std::string out = ShortName(name, ellipsis).run();
  return out.empty() ? std::string(function) : out;
}

std::string without_std(std::string_view short_name) {
  constexpr std::string_view kPrefix = "std::";
  std::string out;
  for (std::size_t i = 0; i < short_name.size();) {
    if (short_name.substr(i, kPrefix.size()) == kPrefix &&
        (i == 0 || (!is_identifier(short_name[i - 1]) && short_name[i - 1] != ':'))) {
      i += kPrefix.size();
      continue;
    }
    out += short_name[i++];
  }
  return out.empty() ? std::string(short_name) : out;
}

std::string via_name(std::string_view function) {
  std::string name = short_function_name(function);
  int angle = 0;
  for (std::size_t i = name.size(); i-- > 1;) {
    if (name[i] == '>') ++angle;
    if (name[i] == '<') --angle;
    if (angle != 0 || name[i] != ':' || name[i - 1] != ':') continue;
    // "std::vector<float>" has a type before the member, "std::sort" a namespace.
    if (i >= 2 && name[i - 2] == '>') name.resize(i - 1);
    break;
  }
  return without_std(name);
}

}  // namespace snapdiff
