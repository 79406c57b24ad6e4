#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "formats/registry.hpp"

namespace snapdiff::test {

using namespace std::string_literals;

inline std::string slurp(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// A dump of protocol 4 by hand, as CPython writes it; `traces` stands between the MARK and the APPENDS of the
/// list. Memo slots 0 to 11 are in use before it.
inline std::string dump_around(const std::string& traces) {
  return "\x80\x04\x8c\x0btracemalloc\x94\x8c\x08Snapshot\x94\x93\x94)\x81\x94}\x94(\x8c\x06traces\x94h\0\x8c\x07_"
         "Traces\x94\x93\x94)"
         "\x81\x94}\x94\x8c\x07_traces\x94]\x94("s +
         traces +
         "esb\x8c\x0f"
         "traceback_limit\x94K\x19ub."s;
}

/// ("app/a.py", line), memoized; the file name for the first time.
inline std::string text_of(const std::string& name) {
  return "\x8c" + std::string(1, static_cast<char>(name.size())) + name + "\x94";
}
inline std::string small_int(int n) { return "K" + std::string(1, static_cast<char>(n)); }

/// One trace of Python 3.9: domain 0, (("app/a.py", line)), one frame in all.
inline std::string one_trace(int size = 100, int line = 9) {
  return "(" + small_int(0) + small_int(size) + text_of("app/a.py") + small_int(line) + "\x86\x94\x85\x94" +
         small_int(1) + "t\x94";
}

/// `stack -> (blocks, bytes)`: places leaf first as FILE:LINE, joined by ';', then {domain}.
using Rows = std::map<std::string, std::pair<std::int64_t, std::int64_t>>;

inline std::string stack_text(const Snapshot& s, StackId id) {
  const Dictionary& d = *s.dictionary;
  std::string out;
  for (const FrameId frame : d.stacks.frames(id)) {
    const std::size_t f = index_of(frame);
    const std::size_t function = index_of(d.frames.function[f]);
    if (!out.empty()) out += ';';
    if ((d.frames.flags[f] & kFramePseudo) != 0) {
      out += d.strings[d.functions.name[function]];
    } else {
      out += std::string(d.strings[d.functions.file[function]]) + ":" + std::to_string(d.frames.line[f]);
    }
  }
  return out;
}

inline Rows rows_of(const Snapshot& s) {
  Rows out;
  for (std::size_t row = 0; row < s.samples.size(); ++row) {
    std::string key = stack_text(s, s.samples.stack[row]);
    for (const Label& label : s.dictionary->labels.labels(s.samples.labels[row]))
      key += " {" + std::string(s.dictionary->strings[label.key]) + "=" +
             std::string(s.dictionary->strings[label.text]) + "}";
    out[key] = {s.column("inuse_objects")->value[row], s.column("inuse_space")->value[row]};
  }
  return out;
}

/// Sums of the stacks whose leaf ends so.
inline std::pair<std::int64_t, std::int64_t> at_leaf(const Snapshot& s, const std::string& leaf) {
  std::pair<std::int64_t, std::int64_t> sum;
  for (const auto& [stack, values] : rows_of(s)) {
    const std::string first = stack.substr(0, stack.find_first_of("; "));
    if (first.size() < leaf.size() || first.substr(first.size() - leaf.size()) != leaf) continue;
    sum.first += values.first;
    sum.second += values.second;
  }
  return sum;
}

inline std::vector<Snapshot> read_all(const std::string& bytes, const std::string& format = "") {
  formats::ReadOptions options;
  options.format = format;
  Result<std::vector<Snapshot>> all = formats::read_bytes(bytes, "test", options);
  if (!all) FAIL(all.error().text());
  return std::move(*all);
}

inline Error error_of(const std::string& bytes, const std::string& format = "tracemalloc") {
  formats::ReadOptions options;
  options.format = format;
  Result<std::vector<Snapshot>> all = formats::read_bytes(bytes, "test", options);
  if (all) return Error{ErrorCode::internal, "it was read"};
  return all.error();
}

inline bool has_note(const Snapshot& s, Severity severity, const std::string& part) {
  for (const Note& note : s.facts.notes.all()) {
    if (note.severity == severity && note.text.find(part) != std::string::npos) return true;
  }
  return false;
}

}  // namespace snapdiff::test
