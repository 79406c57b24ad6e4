#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

/// Python values in C++, written as a pickle of protocol 4 without a memo, or as JSON: a writer that
/// knows nothing of the reader.
namespace snapdiff::test {

struct Py {
  enum class Kind { none, integer, text, list, tuple, dict } kind = Kind::none;
  std::int64_t number = 0;
  std::string text;
  std::vector<Py> items;  // of a dict: key, value, key, value ...

  Py() = default;
  Py(std::int64_t n) : kind(Kind::integer), number(n) {}
  Py(int n) : Py(std::int64_t{n}) {}
  Py(const char* t) : kind(Kind::text), text(t) {}
  Py(std::string t) : kind(Kind::text), text(std::move(t)) {}
};

inline Py list(std::vector<Py> items) {
  Py out;
  out.kind = Py::Kind::list;
  out.items = std::move(items);
  return out;
}
inline Py tuple(std::vector<Py> items) {
  Py out = list(std::move(items));
  out.kind = Py::Kind::tuple;
  return out;
}
inline Py dict(std::vector<std::pair<std::string, Py>> members) {
  Py out;
  out.kind = Py::Kind::dict;
  for (auto& [key, value] : members) {
    out.items.push_back(Py(key));
    out.items.push_back(std::move(value));
  }
  return out;
}
/// The member called `key`, which must be there or is added.
inline Py& at(Py& in, const std::string& key) {
  for (std::size_t i = 0; i + 1 < in.items.size(); i += 2) {
    if (in.items[i].text == key) return in.items[i + 1];
  }
  in.items.push_back(Py(key));
  in.items.push_back(Py());
  return in.items.back();
}
inline void drop(Py& in, const std::string& key) {
  for (std::size_t i = 0; i + 1 < in.items.size(); i += 2) {
    if (in.items[i].text != key) continue;
    in.items.erase(in.items.begin() + static_cast<std::ptrdiff_t>(i),
                   in.items.begin() + static_cast<std::ptrdiff_t>(i) + 2);
    return;
  }
}

inline void put_le(std::string& out, std::uint64_t v, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(v >> (8 * i) & 0xff);
}

inline void put_value(std::string& out, const Py& v) {
  switch (v.kind) {
    case Py::Kind::none: out += 'N'; break;
    case Py::Kind::integer:
      out += "\x8a\x08";
      put_le(out, static_cast<std::uint64_t>(v.number), 8);
      break;
    case Py::Kind::text:
      out += 'X';
      put_le(out, v.text.size(), 4);
      out += v.text;
      break;
    case Py::Kind::list:
      out += "](";
      for (const Py& item : v.items) put_value(out, item);
      out += 'e';
      break;
    case Py::Kind::tuple:
      out += '(';
      for (const Py& item : v.items) put_value(out, item);
      out += 't';
      break;
    case Py::Kind::dict:
      out += "}(";
      for (const Py& item : v.items) put_value(out, item);
      out += 'u';
      break;
  }
}

inline std::string pickled(const Py& v) {
  std::string out("\x80\x04", 2);
  put_value(out, v);
  return out + '.';
}

inline std::string json(const Py& v) {
  std::string out;
  switch (v.kind) {
    case Py::Kind::none: return "null";
    case Py::Kind::integer: return std::to_string(v.number);
    case Py::Kind::text:
      for (const char c : v.text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
      }
      return '"' + out + '"';
    case Py::Kind::list:
    case Py::Kind::tuple:
      for (const Py& item : v.items) out += (out.empty() ? "" : ", ") + json(item);
      return '[' + out + ']';
    case Py::Kind::dict:
      for (std::size_t i = 0; i < v.items.size(); i += 2)
        out += (out.empty() ? "" : ", ") + json(v.items[i]) + ": " + json(v.items[i + 1]);
      return '{' + out + '}';
  }
  return out;
}

inline Py frame(const char* file, int line, const char* name) {
  return dict({{"filename", file}, {"line", line}, {"name", name}});
}

/// One segment of 2 MiB on device 0: 1024 bytes allocated (1000 asked for) by main at a.py:7, 512
/// pending, the rest free; and the three trace entries that led there.
inline Py small_snapshot() {
  const Py stack = list({frame("a.py", 7, "make"), frame("a.py", 20, "main")});
  const Py other = list({frame("b.py", 3, "other")});
  const auto entry = [](const char* action, std::int64_t addr, std::int64_t size, const Py& frames, std::int64_t time) {
    return dict({{"action", action},
                 {"addr", Py(addr)},
                 {"size", Py(size)},
                 {"stream", 0},
                 {"time_us", Py(time)},
                 {"compile_context", "N/A"},
                 {"user_metadata", ""},
                 {"frames", frames}});
  };
  const auto block = [](std::int64_t addr, std::int64_t size, std::int64_t asked, const char* state, const Py& frames) {
    return dict({{"address", Py(addr)},
                 {"size", Py(size)},
                 {"requested_size", Py(asked)},
                 {"state", state},
                 {"frames", frames}});
  };
  const std::int64_t base = 0x7f0000000000;
  return dict(
      {{"segments", list({dict({{"device", 0},
                                {"address", Py(base)},
                                {"total_size", 2097152},
                                {"allocated_size", 1024},
                                {"active_size", 1536},
                                {"requested_size", 1500},
                                {"stream", 0},
                                {"segment_type", "small"},
                                {"segment_pool_id", tuple({0, 0})},
                                {"is_expandable", 0},
                                {"blocks", list({block(base, 1024, 1000, "active_allocated", stack),
                                                 block(base + 1024, 512, 500, "active_pending_free", other),
                                                 block(base + 1536, 2097152 - 1536, 77, "inactive", list({}))})},
                                {"frames", stack}})})},
       {"device_traces", list({list({entry("segment_alloc", base, 2097152, stack, 1'700'000'000'000'000),
                                     entry("alloc", base, 1000, stack, 1'700'000'000'000'001),
                                     entry("alloc", base + 1024, 500, other, 1'700'000'000'000'002),
                                     entry("free_requested", base + 1024, 500, other, 1'700'000'000'000'003)})})},
       {"allocator_settings", dict({{"max_split_size", -1},
                                    {"expandable_segments", 0},
                                    {"roundup_power2_divisions", dict({{"1", 0}, {"2", 0}})}})},
       {"external_annotations", list({dict({{"name", "ProfilerStep#1"},
                                            {"stage", "START"},
                                            {"device", 0},
                                            {"time_us", Py(std::int64_t{1'700'000'000'000'000})}})})}});
}

}  // namespace snapdiff::test
