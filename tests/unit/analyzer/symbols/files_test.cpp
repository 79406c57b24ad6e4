#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include "unit/analyzer/symbols/built_program.hpp"
#include "unit/analyzer/symbols/symbols_support.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

symbols::ModuleSymbols resolve_one(const symbols::ModuleQuery& query, const std::vector<std::string>& paths,
                                   Notes* notes = nullptr) {
  symbols::SymbolOptions options;
  options.paths = paths;
  symbols::Resolution out = symbols::resolve(std::span(&query, 1), options);
  if (notes != nullptr) *notes = out.notes;
  return std::move(out.modules[0]);
}

/// "inner prog.cpp:5 < middle prog.cpp:6 < shop::outer(int) prog.cpp:8"
std::string chain(const symbols::ModuleSymbols& symbols, std::size_t i = 0) {
  std::string out;
  for (const symbols::SourceFrame& frame : symbols.of(i)) {
    out += (out.empty() ? "" : " < ") + std::string(symbols.texts[frame.name]);
    if (frame.line != 0)
      out += " " + std::string(base_name(symbols.texts[frame.file])) + ":" + std::to_string(frame.line);
  }
  return out;
}

// Lines counted in kProgram, which begins with an empty one.
const std::string kChain = "inner prog.cpp:5 < middle prog.cpp:6 < shop::outer(int) prog.cpp:8";
const std::string kSymbolOnly = "shop::outer(int)";

bool have_tools() {
  if (has_program("c++") && has_program("objcopy") && has_program("strip") && has_program("objdump")) return true;
  WARN("skipped: no c++ or binutils");
  return false;
}

void must_run(const std::string& command) {
  const CommandResult result = run_command(command);
  INFO(command << "\n" << result.output);
  REQUIRE(result.status == 0);
}

}  // namespace

TEST_CASE("files: position independent and fixed programs give the whole inlined chain") {
  if (!have_tools()) return;
  for (const std::string options :
       {"-g", "-g -no-pie -fno-pie", "-g -gdwarf-4", "-g -gdwarf-3 -gstrict-dwarf", "-g -Wl,-z,noseparate-code",
        "-g -Wl,-z,separate-code", "-g -static", "-g -flto", "-g -Wl,--gdb-index -fuse-ld=lld", "-g -fuse-ld=gold"}) {
    if (options.find("lld") != std::string::npos && !has_program("ld.lld")) continue;
    if (options.find("gold") != std::string::npos && !has_program("ld.gold")) continue;
    if (options.find("-static") != std::string::npos) continue;  // malloc is no plt entry there
    CAPTURE(options);
    const Built built(options);
    const auto symbols = resolve_one(built.query(false), {built.folder.path()});
    CHECK(chain(symbols) == kChain);
    CHECK(symbols.advice.empty());
    CHECK(text_of(ask_addr2line(built.binary, {built.vaddr})[0]).find(":8") != std::string::npos);
  }
}

TEST_CASE("files: compressed debug sections") {
  if (!have_tools()) return;
  for (const std::string options : {"-g -gz=zlib", "-g -Wl,--compress-debug-sections=zlib-gnu"}) {
    CAPTURE(options);
    const Built built(options);
    CHECK(chain(resolve_one(built.query(true), {built.folder.path()})) == kChain);
  }
}

TEST_CASE("files: a stripped binary and its debug file, by build id") {
  if (!have_tools()) return;
  const Built built("-g");
  const TemporaryFolder debug;
  const std::string by_id = debug / (".build-id/" + built.id.substr(0, 2) + "/" + built.id.substr(2) + ".debug");
  std::filesystem::create_directories(std::filesystem::path(by_id).parent_path());
  must_run("objcopy --only-keep-debug " + built.binary + " " + by_id);
  must_run("strip " + built.binary);
  CHECK(chain(resolve_one(built.query(true), {built.binary})) == "");
  const auto both = resolve_one(built.query(true), {built.binary, debug.path()});
  CHECK(chain(both) == kChain);
  CHECK(both.binary == built.binary);
  CHECK(both.debug_file == by_id);
  CHECK(both.verified);
  SECTION("also without a build id in the snapshot") {
    CHECK(chain(resolve_one(built.query(false), {built.binary, debug.path()})) == kChain);
  }
  SECTION("also when the debug file has any name") {
    std::filesystem::rename(by_id, debug / "x.dbg");
    CHECK(chain(resolve_one(built.query(true), {built.binary, debug / "x.dbg"})) == kChain);
  }
  SECTION("the debug file alone, by the place in memory") {
    symbols::ModuleQuery query = built.query(true);
    query.mappings = {{0x555555554000, 0x555555555000, 0, {}}, {0x555555555000, 0x555555556000, 0x1000, {}}};
    const auto alone = resolve_one(query, {debug.path()});
    CHECK(chain(alone) == kChain);
    CHECK(alone.binary.empty());
  }
  SECTION("under a sysroot") {
    const TemporaryFolder root;
    write_file(root / "srv/app/bin/prog", read_whole(built.binary));
    write_file(root / ("usr/lib/debug/.build-id/" + built.id.substr(0, 2) + "/" + built.id.substr(2) + ".debug"),
               read_whole(by_id));
    symbols::SymbolOptions options;
    options.sysroot = root.path();
    const symbols::ModuleQuery query = built.query(true);
    const auto symbols = symbols::resolve(std::span(&query, 1), options);
    CHECK(chain(symbols.modules[0]) == kChain);
    options.recorded_paths = false;
    CHECK(chain(symbols::resolve(std::span(&query, 1), options).modules[0]) == "");
  }
}

TEST_CASE("files: a debug file by its link, checked by checksum or build id") {
  if (!have_tools()) return;
  for (const std::string id : {"", "-Wl,--build-id=none"}) {
    CAPTURE(id);
    const Built built("-g " + id);
    must_run("cd " + built.folder.path() +
             " && objcopy --only-keep-debug prog prog.dbg && strip -g prog && objcopy --add-gnu-debuglink=prog.dbg "
             "prog && mkdir .debug && mv prog.dbg .debug/");
    const auto symbols = resolve_one(built.query(false), {built.binary});
    CHECK(chain(symbols) == kChain);
    CHECK(symbols.debug_file == built.folder / ".debug/prog.dbg");
    // Another build's debug file under that name is refused.
    const Built other("-g -O1 " + id, "other");
    must_run("objcopy --only-keep-debug " + other.binary + " " + (built.folder / ".debug/prog.dbg"));
    const auto refused = resolve_one(built.query(false), {built.binary});
    CHECK(chain(refused) == kSymbolOnly);
    INFO(text_of(refused.notes));
    CHECK(has_note(refused.notes, "is of another build: "));
    CHECK(has_note(refused.notes, id.empty() ? other.id : "checksum differs"));
    CHECK(refused.advice.find("has no debug information") != std::string::npos);
  }
}

TEST_CASE("files: common debug information that dwz moved away") {
  if (!have_tools()) return;
  if (!has_program("dwz")) {
    WARN("skipped: no dwz");
    return;
  }
  const Built built("-g");
  must_run("cd " + built.folder.path() + " && cp prog prog2 && cp prog prog3 && dwz -m common.dwz -r prog prog2 prog3");
  INFO(run_command("readelf -SW " + built.binary + " | grep debug").output);
  const auto symbols = resolve_one(built.query(true), {built.binary});
  INFO(text_of(symbols.notes));
  CHECK(chain(symbols) == kChain);
  std::filesystem::remove(built.folder / "common.dwz");
  const auto without = resolve_one(built.query(true), {built.binary});
  CHECK(has_note(without.notes, "the shared part of its debug information was not found: common.dwz"));
}

TEST_CASE("files: without debug information the symbol tables name functions") {
  if (!have_tools()) return;
  const Built built("");
  CHECK(chain(resolve_one(built.query(false), {built.binary})) == kSymbolOnly);
  const Built dynamic("-rdynamic");
  must_run("strip " + dynamic.binary);
  const auto symbols = resolve_one(dynamic.query(false), {dynamic.binary});
  CHECK(chain(symbols) == kSymbolOnly);
  CHECK(symbols.advice == "prog has no debug information; its debug file has build id " + dynamic.id);
  if (!has_program("xz")) {
    WARN("skipped: no xz");
    return;
  }
  // The small symbol table that some distributions leave in stripped programs.
  must_run("cd " + built.folder.path() +
           " && objcopy --only-keep-debug prog mini && strip -g mini && xz mini && strip prog && objcopy --add-section "
           ".gnu_debugdata=mini.xz prog");
  CHECK(chain(resolve_one(built.query(false), {built.binary})) == kSymbolOnly);
}

TEST_CASE("files: split debug information is not read, and says so") {
  if (!have_tools()) return;
  const Built built("-g -gsplit-dwarf");
  const auto symbols = resolve_one(built.query(true), {built.binary});
  CHECK(chain(symbols) == "shop::outer(int) prog.cpp:5");
  CHECK(has_note(symbols.notes, "lies in .dwo files, which are not read: inlined calls are missing"));
}

TEST_CASE("files: another build id is refused with both ids") {
  if (!have_tools()) return;
  const Built built("-g"), other("-g -O1");
  std::filesystem::remove(built.binary);
  const auto symbols = resolve_one(built.query(true), {other.folder.path()});
  CHECK(chain(symbols).empty());
  CHECK(symbols.unnamed == 1);
  CHECK(has_note(symbols.notes,
                 "prog: " + other.binary + " is another build: build id " + other.id + ", expected " + built.id));
  CHECK(symbols.advice == "no usable file for prog; give the one that ran with --symbols FILE|DIR");
  // Ids that a writer padded with zeros to 20 bytes are the same.
  symbols::ModuleQuery padded = other.query(true);
  padded.build_id = other.id.substr(0, 32) + "00000000";
  must_run("objcopy --remove-section .note.gnu.build-id " + other.binary + " " + (other.folder / "no-id"));
  CHECK(chain(resolve_one(padded, {other.folder.path()})).empty());
}

TEST_CASE("files: a recorded path without a build id must look like what ran") {
  if (!have_tools()) return;
  const Built built("-g");
  symbols::ModuleQuery query = built.query(false);
  query.name = built.binary;
  query.mappings = {{0x555555555000, 0x555555556000, built.offset / 4096 * 4096, {}}};
  CHECK(chain(resolve_one(query, {})) == kChain);
  query.mappings = {{0x555555555000, 0x555555559000, built.offset / 4096 * 4096, {}}};
  const auto refused = resolve_one(query, {});
  CHECK(chain(refused).empty());
  CHECK(has_note(refused.notes, "is another build: its code is not as large as the one that ran"));
  symbols::SymbolOptions closed;
  closed.recorded_paths = false;
  query.mappings.clear();
  CHECK(chain(symbols::resolve(std::span(&query, 1), closed).modules[0]).empty());
}

TEST_CASE("files: a binary newer than the snapshot is used by name with a warning") {
  if (!have_tools()) return;
  const Built built("-g");
  symbols::ModuleQuery query = built.query(false);
  query.taken_at_ns = 1'000'000'000'000'000'000;  // 2001
  const auto symbols = resolve_one(query, {built.folder.path()});
  CHECK(chain(symbols) == kChain);
  CHECK(has_note(symbols.notes, "was taken by its name and is newer than the snapshot"));
}

TEST_CASE("files: virtual addresses in one mapping over everything") {
  if (!have_tools()) return;
  const Built built("-g -no-pie -fno-pie");
  symbols::ModuleQuery query = built.query(true);
  query.mappings = {{0, ~std::uint64_t{0}, 0, {}}};
  query.offsets = {built.vaddr};
  CHECK(chain(resolve_one(query, {built.folder.path()})) == kChain);
}

TEST_CASE("files: an address outside every segment is counted") {
  if (!have_tools()) return;
  const Built built("-g");
  symbols::ModuleQuery query = built.query(true);
  query.offsets = {built.offset, 0x7000000, 0xffffffffffff0000};
  const auto symbols = resolve_one(query, {built.folder.path()});
  CHECK(chain(symbols, 0) == kChain);
  CHECK(symbols.unnamed == 2);
  REQUIRE(symbols.notes.all().size() == 1);
  CHECK(symbols.notes.all()[0].text == "prog: addresses outside every segment of " + built.binary);
  CHECK(symbols.notes.all()[0].count == 2);
}

TEST_CASE("files: what is no binary is named once and harms nothing") {
  if (!have_tools()) return;
  const Built built("-g");
  const TemporaryFolder bad;
  const std::string whole = read_whole(built.binary);
  Notes notes;
  SECTION("text") {
    write_file(bad / "prog", "#!/bin/sh\nexec /srv/app/bin/prog\n");
    const auto symbols = resolve_one(built.query(false), {bad / "prog"}, &notes);
    CHECK(has_note(notes, "no symbols: not an ELF file: found text"));
    CHECK_FALSE(has_note(symbols.notes, "not an ELF file"));
    CHECK(symbols.unnamed == 1);
    const auto in_folder = resolve_one(built.query(false), {bad.path()});
    CHECK(has_note(in_folder.notes, "prog: " + (bad / "prog") + ": not an ELF file: found text"));
  }
  SECTION("empty") {
    write_file(bad / "prog", "");
    CHECK(has_note(resolve_one(built.query(false), {bad.path()}).notes, "not an ELF file: the file is empty"));
  }
  SECTION("truncated") {
    for (const std::size_t size :
         {std::size_t{20}, std::size_t{64}, std::size_t{700}, whole.size() / 2, whole.size() - 1}) {
      CAPTURE(size);
      write_file(bad / "prog", whole.substr(0, size));
      const auto symbols = resolve_one(built.query(true), {bad.path()});
      CHECK(has_note(symbols.notes, "truncated: "));
      CHECK(symbols.unnamed == 1);
    }
  }
  SECTION("sparse, 4 GiB of zeros") {
    const int fd = ::open((bad / "prog").c_str(), O_CREAT | O_WRONLY, 0600);
    REQUIRE(::ftruncate(fd, off_t{4} << 30) == 0);
    ::close(fd);
    CHECK(has_note(resolve_one(built.query(false), {bad.path()}).notes, "not an ELF file: found zeros"));
  }
  SECTION("a program grown to 4 GiB") {
    write_file(bad / "prog", whole);
    REQUIRE(::truncate((bad / "prog").c_str(), off_t{4} << 30) == 0);
    CHECK(chain(resolve_one(built.query(true), {bad.path()})) == kChain);
  }
  SECTION("larger than what is read") {
    write_file(bad / "prog", whole);
    if (::truncate((bad / "prog").c_str(), off_t{17} << 30) == 0)
      CHECK(has_note(resolve_one(built.query(true), {bad.path()}).notes,
                     "too large: 18253611008 bytes, expected at most 17179869184"));
  }
  SECTION("a pipe, a folder, nothing") {
    REQUIRE(::mkfifo((bad / "prog").c_str(), 0600) == 0);
    const auto pipe = resolve_one(built.query(false), {bad / "prog"}, &notes);
    CHECK(pipe.unnamed == 1);
    CHECK(has_note(notes, "not an ordinary file"));
    resolve_one(built.query(false), {bad / "absent"}, &notes);
    CHECK(has_note(notes, "absent: no such file or folder with symbols"));
  }
  SECTION("unreadable") {
    write_file(bad / "prog", whole);
    ::chmod((bad / "prog").c_str(), 0);
    if (::geteuid() == 0) {
      WARN("skipped: the superuser may read every file");
    } else {
      CHECK(has_note(resolve_one(built.query(false), {bad.path()}).notes, "cannot be opened: Permission denied"));
    }
  }
  SECTION("an object file") {
    must_run("cd " + built.folder.path() + " && c++ -c prog.cpp -o " + (bad / "prog"));
    CHECK(has_note(resolve_one(built.query(false), {bad.path()}).notes,
                   "not a program or shared object: found an object file"));
  }
}

TEST_CASE("files: damaged debug information never fails as a whole") {
  if (!have_tools()) return;
  const Built built("-g");
  const std::string whole = read_whole(built.binary);
  const TemporaryFolder bad;
  std::size_t named = 0, tried = 0;
  for (const std::string section : {".debug_info", ".debug_abbrev", ".debug_line", ".debug_str", ".debug_rnglists",
                                    ".symtab", ".strtab", ".dynamic"}) {
    const SectionPlace place = section_of(built.binary, section);
    if (place.size == 0) continue;
    for (const char fill : {'\0', '\xff', '\x01'}) {
      std::string damaged = whole;
      for (std::uint64_t i = 0; i < place.size; ++i) damaged[place.offset + i] = fill;
      write_file(bad / "prog", damaged);
      const auto symbols = resolve_one(built.query(true), {bad.path()});
      ++tried;
      if (symbols.unnamed == 0) ++named;
    }
  }
  CHECK(tried >= 18);
  CHECK(named >= tried / 2);  // what is left is used: most often the symbol table
}

TEST_CASE("files: regions without a file say so") {
  for (const std::string name : {"[vdso]", "[anon]", "[heap]", "//anon", "/memfd:doublemapper", "/dev/zero"}) {
    CAPTURE(name);
    symbols::ModuleQuery query;
    query.name = name;
    query.offsets = {16, 32};
    const auto symbols = resolve_one(query, {});
    CHECK(symbols.unnamed == 2);
    CHECK(symbols.advice.find("there is no file") + symbols.advice.find("memory without a file") > 1);
    CHECK(symbols.notes.empty());
  }
}

TEST_CASE("files: code made at run time is named by a perf map") {
  const TemporaryFolder folder;
  write_file(
      folder / "perf-77.map",
      "7f0000001000 40 LazyCompile:*step app.js:3\n0x7f0000002000 0x10 stub\nno line\n7f0000001000 20 Newer:again\n");
  write_file(folder / "perf-78.map", "7f0000001000 40 other process\n");
  symbols::ModuleQuery query;
  query.no_module = true;
  query.pid = 77;
  query.offsets = {0x7f0000001010, 0x7f0000001030, 0x7f000000200f, 0x7f0000002010};
  const auto symbols = resolve_one(query, {folder.path()});
  CHECK(chain(symbols, 0) == "Newer:again");
  CHECK(chain(symbols, 1) == "LazyCompile:*step app.js:3");
  CHECK(chain(symbols, 2) == "stub");
  CHECK(chain(symbols, 3).empty());
  CHECK(has_note(symbols.notes, "lines that are no START SIZE name"));
  query.pid = 79;
  CHECK(resolve_one(query, {folder.path()}).unnamed == 4);
  // Inside an anonymous mapping offsets count from its start.
  query = {};
  query.name = "[anon:v8]";
  query.pid = 78;
  query.mappings = {{0x7f0000000000, 0x7f0000100000, 0, {}}};
  query.offsets = {0x1020};
  CHECK(chain(resolve_one(query, {folder.path()})) == "other process");
}

TEST_CASE("files: nothing is asked of a debuginfod server unless that is wanted") {
  if (!have_tools()) return;
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (listener < 0 || ::bind(listener, reinterpret_cast<sockaddr*>(&address), length) != 0 ||
      ::listen(listener, 8) != 0) {
    WARN("skipped: no loopback network");
    return;
  }
  ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length);
  ::setenv("DEBUGINFOD_URLS", ("http://127.0.0.1:" + std::to_string(ntohs(address.sin_port))).c_str(), 1);
  const Built built("-g");
  must_run("strip -g " + built.binary);
  CHECK(chain(resolve_one(built.query(true), {built.binary})) == kSymbolOnly);
  CHECK(::accept(listener, nullptr, nullptr) < 0);
  ::unsetenv("DEBUGINFOD_URLS");
  ::close(listener);
}

TEST_CASE("files: the same answer with one thread and with many, and progress to the end") {
  if (!have_tools()) return;
  const Built built("-g");
  std::vector<symbols::ModuleQuery> queries;
  const SectionPlace text = section_of(built.binary, ".text");
  for (int i = 0; i < 12; ++i) {
    queries.push_back(built.query(i % 2 == 0));
    queries.back().offsets.clear();
    for (std::uint64_t at = 0; at < text.size; ++at) queries.back().offsets.push_back(text.offset + at);
  }
  symbols::SymbolOptions options;
  options.paths = {built.folder.path()};
  std::vector<std::string> answers;
  for (const unsigned threads : {1U, 8U}) {
    options.threads = threads;
    std::uint64_t done = 0, all = 0;
    options.progress = [&](std::uint64_t d, std::uint64_t a) {
      done = d;
      all = a;
    };
    const symbols::Resolution resolution = symbols::resolve(queries, options);
    CHECK(done == all);
    CHECK(all == 12 * text.size);
    std::string answer;
    for (const auto& module : resolution.modules) {
      for (std::size_t i = 0; i < text.size; ++i) answer += chain(module, i) + "\n";
    }
    answers.push_back(answer);
  }
  CHECK(answers[0] == answers[1]);
}
