#include <cstdint>
#include <utility>

#include "analyzer/symbols/rust_demangle.hpp"
#include "analyzer/symbols/rust_v0_cursor.hpp"

namespace snapdiff::symbols {
namespace {

std::string_view basic_type(char tag) {
  switch (tag) {
    case 'b': return "bool";
    case 'c': return "char";
    case 'e': return "str";
    case 'u': return "()";
    case 'a': return "i8";
    case 's': return "i16";
    case 'l': return "i32";
    case 'x': return "i64";
    case 'n': return "i128";
    case 'i': return "isize";
    case 'h': return "u8";
    case 't': return "u16";
    case 'm': return "u32";
    case 'y': return "u64";
    case 'o': return "u128";
    case 'j': return "usize";
    case 'f': return "f32";
    case 'd': return "f64";
    case 'z': return "!";
    case 'p': return "_";
    case 'v': return "...";
    default: return {};
  }
}

/// Recursive descent over the grammar of RFC 2603. Depth and output are bounded, and a back
/// reference points backwards, so the work is bounded too.
class V0Reader : V0Cursor {
 public:
  using V0Cursor::V0Cursor;

  std::optional<std::string> read() {
    path(true);
    work_ = out_.size() + steps_;
    // The crate that instantiated it: of no interest, but part of the grammar.
    if (ok_ && at_ < text_.size() && is_upper(text_[at_])) {
      silent_ = true;
      path(false);
    }
    if (!ok_ || (at_ < text_.size() && text_[at_] != '.' && text_[at_] != '$')) return std::nullopt;
    return std::move(out_);
  }

  /// Characters and steps, once it was read.
  std::uint64_t work() const { return work_; }

 private:
  void path(bool in_value) {
    const Deeper deeper(*this);
    if (!ok_) return;
    switch (next()) {
      case 'C':
        optional_base62('s');
        print(identifier());
        break;
      case 'N': {
        const char name_space = next();
        if (!is_lower(name_space) && !is_upper(name_space)) return fail();
        path(in_value);
        const std::uint64_t number = optional_base62('s');
        const Identifier name = identifier();
        if (is_upper(name_space)) {
          print("::{");
          if (name_space == 'C') {
            print("closure");
          } else if (name_space == 'S') {
            print("shim");
          } else {
            print(std::string_view(&name_space, 1));
          }
          if (!name.text.empty()) {
            print(":");
            print(name);
          }
          print("#" + std::to_string(number) + "}");
        } else if (!name.text.empty()) {
          print("::");
          print(name);
        }
        break;
      }
      case 'M':
        impl_path();
        print("<");
        type();
        print(">");
        break;
      case 'X':
        impl_path();
        qualified();
        break;
      case 'Y': qualified(); break;
      case 'I':
        path(in_value);
        if (in_value) print("::");
        print("<");
        generic_arguments();
        print(">");
        break;
      case 'B': back_reference([&] { path(in_value); }); break;
      default: fail();
    }
  }

  void impl_path() {
    optional_base62('s');
    const bool was_silent = silent_;
    silent_ = true;
    path(false);
    silent_ = was_silent;
  }

  void qualified() {
    print("<");
    type();
    print(" as ");
    path(false);
    print(">");
  }

  void generic_arguments() {
    list(", ", [&] { generic_argument(); });
  }
  void generic_argument() {
    if (eat('L')) {
      lifetime(base62());
    } else if (eat('K')) {
      constant();
    } else {
      type();
    }
  }

  void lifetime(std::uint64_t index) {
    if (silent_) return;
    print("'");
    if (index == 0) return print("_");
    if (index > bound_) return fail();
    const std::uint64_t depth = bound_ - index;
    if (depth < 26) {
      const char name = static_cast<char>('a' + depth);
      print(std::string_view(&name, 1));
    } else {
      print("_" + std::to_string(depth));
    }
  }

  /// Lifetimes bound by `for<...>` round what `read` reads.
  template <class Read>
  void with_binder(Read read) {
    const std::uint64_t lifetimes = optional_base62('G');
    if (lifetimes > 64) return fail();  // more than any program binds
    const std::uint64_t before = bound_;
    if (lifetimes > 0) {
      print("for<");
      for (std::uint64_t i = 0; i < lifetimes; ++i) {
        if (i > 0) print(", ");
        ++bound_;
        lifetime(1);
      }
      print("> ");
    }
    read();
    bound_ = before;
  }

  void type() {
    const Deeper deeper(*this);
    if (!ok_) return;
    const char tag = next();
    if (const std::string_view basic = basic_type(tag); !basic.empty()) return print(basic);
    switch (tag) {
      case 'R':
      case 'Q':
        print("&");
        if (eat('L')) {
          if (const std::uint64_t index = base62(); index != 0) {
            lifetime(index);
            print(" ");
          }
        }
        if (tag == 'Q') print("mut ");
        type();
        break;
      case 'P':
      case 'O':
        print(tag == 'P' ? "*const " : "*mut ");
        type();
        break;
      case 'A':
      case 'S':
        print("[");
        type();
        if (tag == 'A') {
          print("; ");
          constant();
        }
        print("]");
        break;
      case 'T': {
        print("(");
        const std::size_t count = list(", ", [&] { type(); });
        print(count == 1 ? ",)" : ")");
        break;
      }
      case 'F': with_binder([&] { function(); }); break;
      case 'D':
        print("dyn ");
        with_binder([&] { list(" + ", [&] { dyn_trait(); }); });
        if (!eat('L')) return fail();
        if (const std::uint64_t index = base62(); index != 0) {
          print(" + ");
          lifetime(index);
        }
        break;
      case 'B': back_reference([&] { type(); }); break;
      default: --at_; path(false);
    }
  }

  void function() {
    if (eat('U')) print("unsafe ");
    if (eat('K')) {
      print("extern \"");
      if (eat('C')) {
        print("C");
      } else {
        std::string abi(identifier().text);
        for (char& c : abi) {
          if (c == '_') c = '-';
        }
        print(abi);
      }
      print("\" ");
    }
    print("fn(");
    list(", ", [&] { type(); });
    print(")");
    if (!eat('u')) {
      print(" -> ");
      type();
    }
  }

  /// A path whose generic arguments may be left open, for the bindings of a dyn trait.
  bool open_path() {
    const Deeper deeper(*this);
    if (!ok_) return false;
    if (eat('B')) {
      bool open = false;
      back_reference([&] { open = open_path(); });
      return open;
    }
    if (eat('I')) {
      path(false);
      print("<");
      generic_arguments();
      return true;
    }
    path(false);
    return false;
  }
  void dyn_trait() {
    bool open = open_path();
    while (eat('p')) {
      print(open ? ", " : "<");
      open = true;
      print(identifier());
      print(" = ");
      type();
    }
    if (open) print(">");
  }

  void constant() {
    const Deeper deeper(*this);
    if (!ok_) return;
    const char tag = next();
    switch (tag) {
      case 'p': return print("_");
      case 'B': return back_reference([&] { constant(); });
      case 'a':
      case 's':
      case 'l':
      case 'x':
      case 'n':
      case 'i':
        if (eat('n')) print("-");
        return number();
      case 'h':
      case 't':
      case 'm':
      case 'y':
      case 'o':
      case 'j': return number();
      case 'b': {
        const auto value = value_of(hex_digits());
        if (!value || *value > 1) return fail();
        return print(*value == 1 ? "true" : "false");
      }
      case 'c': {
        const auto value = value_of(hex_digits());
        if (!value || *value > 0x10ffff) return fail();
        return character(static_cast<std::uint32_t>(*value));
      }
      case 'e': {
        print("*");
        return text_constant();
      }
      case 'R':
      case 'Q':
        if (tag == 'R' && eat('e')) return text_constant();
        print(tag == 'R' ? "&" : "&mut ");
        return constant();
      case 'A': return constants("[", "]");
      case 'T': return constants("(", ")");
      case 'V':
        path(true);
        switch (next()) {
          case 'U': return;
          case 'T': return constants("(", ")");
          case 'S':
            print(" { ");
            list(", ", [&] {
              optional_base62('s');
              print(identifier());
              print(": ");
              constant();
            });
            return print(" }");
          default: return fail();
        }
      default: fail();
    }
  }
  void number() {
    const std::string_view digits = hex_digits();
    if (const auto value = value_of(digits)) return print(std::to_string(*value));
    print("0x");
    print(digits);
  }
  void constants(std::string_view open, std::string_view close) {
    print(open);
    const std::size_t count = list(", ", [&] { constant(); });
    if (count == 1 && open == "(") print(",");
    print(close);
  }
  void character(std::uint32_t code) {
    std::string text = "'";
    if (code < 0x20 || code == 0x7f || (code >= 0xd800 && code < 0xe000)) {
      constexpr std::string_view kDigits = "0123456789abcdef";
      text += "\\u{";
      for (int shift = 20; shift >= 0; shift -= 4) {
        if ((code >> shift) != 0 || shift == 0) text += kDigits[(code >> shift) & 15U];
      }
      text += "}";
    } else {
      if (code == '\'' || code == '\\') text += '\\';
      append_utf8(text, code);
    }
    print(text + "'");
  }
  void text_constant() {
    const std::string_view digits = hex_digits();
    if (digits.size() % 2 != 0) return fail();
    std::string text = "\"";
    for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
      const char c = static_cast<char>(*value_of(digits.substr(i, 2)));
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
    print(text + "\"");
  }

  std::uint64_t bound_ = 0;  // lifetimes that are bound here
  std::uint64_t work_ = 0;
};

}  // namespace

std::optional<std::string> demangle_rust_v0(std::string_view name, std::uint64_t& written) {
  if (name.starts_with("__R")) name.remove_prefix(1);
  if (!name.starts_with("_R") || name.size() < 3 || !is_upper(name[2])) return std::nullopt;
  for (const char c : name) {
    if (static_cast<unsigned char>(c) >= 0x80) return std::nullopt;
  }
  V0Reader reader(name.substr(2));
  std::optional<std::string> out = reader.read();
  written += reader.work();
  return out;
}

}  // namespace snapdiff::symbols
