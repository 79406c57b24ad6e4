#include <catch2/catch.hpp>

#include "formats/input/all_formats.hpp"
#include "support/read_data.hpp"
#include "support/read_series.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

const formats::Format& dump() { return formats::kGoroutineDump; }

using Rows = std::map<std::string, std::string>;

const std::string kDump =
    "goroutine 1 [select, 3 minutes]:\nmain.wait(0xc000, {0x7e, 0x3c?})\n\t/srv/a.go:7 +0x1c\nmain.main()\n"
    "\t/srv/a.go:45 +0x5a6\n\n"
    "goroutine 22 gp=0xc0001 m=nil [chan receive, locked to thread]:\nlib.(*L).run(...)\n\t/srv/l.go:379\n"
    "created by lib.(*L).mill.func1 in goroutine 1\n\t/srv/l.go:390 +0x8c\n\n"
    "goroutine 23 [chan receive]:\nlib.(*L).run(...)\n\t/srv/l.go:379\n...2 frames elided...\n"
    "created by lib.(*L).mill.func1\n\t/srv/l.go:390 +0x8c\n";

std::int64_t in_state(const Snapshot& s, const std::string& state) {
  std::int64_t sum = 0;
  for (const auto& [stack, count] : rows(s)) {
    if (stack.ends_with("{state=" + state + "}")) sum += std::stoll(count);
  }
  return sum;
}

}  // namespace

TEST_CASE("goroutine-dump: figures of a real service") {
  const Snapshot first = read_data_of("goroutine_dump/goroutine.001.txt.gz", dump());
  const Snapshot last = read_data_of("goroutine_dump/goroutine.010.txt.gz", dump());
  CHECK(total(first, "goroutine") == 456);
  CHECK(total(last, "goroutine") == 1806);
  CHECK(in_state(first, "chan receive") == 450);
  CHECK(in_state(first, "runnable") == 2);
  CHECK(in_state(last, "chan receive") == 1800);
  CHECK(in_state(last, "IO wait") == 3);
  std::int64_t milled = 0;
  for (const auto& [stack, count] : rows(last)) {
    if (stack.find(" < gopkg.in/natefinch/lumberjack%2ev2.(*Logger).mill.func1@") != std::string::npos)
      milled += std::stoll(count);
  }
  CHECK(milled == 1800);
  CHECK_FALSE(last.facts.partial);
}

TEST_CASE("goroutine-dump: the creator is the last frame, the state is a label without its time") {
  const Snapshot s = read_one(dump(), kDump);
  CHECK(rows(s) == Rows{{"main.wait@/srv/a.go:7 < main.main@/srv/a.go:45 {state=select}", "1"},
                        {"lib.(*L).run@/srv/l.go:379 < lib.(*L).mill.func1@/srv/l.go:390 {state=chan receive}", "1"},
                        {"lib.(*L).run@/srv/l.go:379 < [stack cut] < lib.(*L).mill.func1@/srv/l.go:390 "
                         "{state=chan receive}",
                         "1"}});
  CHECK_FALSE(s.facts.partial);
}

TEST_CASE("goroutine-dump: a goroutine that comes again begins the next snapshot, other lines are read over") {
  const std::string log = "SIGQUIT: quit\nPC=0x47 m=0 sigcode=0\n\n" + kDump + "\nrax 0x0\nlog line\n" + kDump;
  CHECK(dump().sniff(log) == Match::certain);
  CHECK(read_ok(dump(), log).size() == 2);
}

TEST_CASE("goroutine-dump: a panic in a log is none") {
  CHECK(dump().sniff(kDump) == Match::certain);
  CHECK(dump().sniff("heap 12 MB\npanic: x\n\ngoroutine 7 [running]:\nmain.f()\n\t/a.go:3 +0x1\n") == Match::no);
  CHECK(dump().sniff("fatal error: x\n\n" + kDump) == Match::possible);
  CHECK(dump().sniff("goroutine profile: total 7\n") == Match::no);
  CHECK(dump().sniff("goroutine pool [a]\n") == Match::no);
  CHECK(read_error(dump(), "hello\n").find("no goroutine") != std::string::npos);
}

TEST_CASE("goroutine-dump: every cut is refused, told, or loses nothing, disguises change nothing") {
  check_line_cuts(dump(), kDump);
  check_disguises(dump(), kDump);
}
