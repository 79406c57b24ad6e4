#include <set>

#include "analyzer/base/function_name.hpp"
#include "unit/analyzer/postmortem/told.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

namespace {

std::vector<FrameView> frames_of(const Postmortem& report, std::size_t row) {
  std::vector<FrameView> frames;
  report.growth().frames(report.growth().rows[row], frames);
  return frames;
}

Postmortem secret() {
  return told({"main;ns::Secret<int>::run(int)@/home/ada/secret.cc:7 10 1\n[unattributed] 5 1\n",
               "main;ns::Secret<int>::run(int)@/home/ada/secret.cc:7 5000 9\n[unattributed] 5 1\n"});
}

}  // namespace

TEST_CASE("redact: the token of a short name is the short name of the token") {
  const Postmortem open = secret();
  Postmortem closed = secret();
  postmortem::Redactor("").redact(closed);
  const FrameView before = frames_of(open, 0).front();
  const FrameView after = frames_of(closed, 0).front();
  CHECK(after.function.substr(0, 3) == "fn_");
  CHECK(after.function != before.function);
  CHECK(after.line == before.line);
  CHECK(after.file.ends_with(".cc"));
  CHECK(after.file.substr(0, 4) == "dir_");
  const std::string token = short_function_name(after.function);
  CHECK(plain(closed.narrative.in_short[1]).find(token) != std::string::npos);
  CHECK(closed.growth().story->culprits.front().path.back().function == after.function);
  CHECK(closed.growth().rows.front().value == open.growth().rows.front().value);
  CHECK(closed.growth().unattributed == open.growth().unattributed);
}

TEST_CASE("redact: tokens depend on name and key alone") {
  const auto token = [](std::string_view key, const std::string& name) {
    Postmortem report = told({"main;" + name + " 10 1\n", "main;" + name + " 20 1\n"});
    postmortem::Redactor(key).redact(report);
    return std::string(frames_of(report, 0).front().function);
  };
  CHECK(token("", "alpha") == token("", "alpha"));
  std::set<std::string> all = {token("", "alpha"), token("", "beta"), token("0123456789abcdef", "alpha"),
                               token("0123456789abcdeg", "alpha")};
  CHECK(all.size() == 4);
  // HMAC-SHA-256 with an empty key of "alpha": python3 -c 'import hmac; print(hmac.new(b"", b"alpha",
  // "sha256").hexdigest()[:12])'
  CHECK(token("", "alpha") == "fn_50b46d034fa7");
}

TEST_CASE("redact: what is shown beside the report has the same tokens") {
  const Postmortem open = secret();
  Postmortem closed = secret();
  const postmortem::Redactor redactor("");
  redactor.redact(closed);
  const std::shared_ptr<const StackView> view = redactor.redacted(open.growth().view);
  std::vector<FrameView> frames;
  view->frames(open.growth().stacks[open.growth().rows.front().key], frames);
  CHECK(frames == frames_of(closed, 0));
}

TEST_CASE("redact: paths, quoted names and known names leave a text, the rest stays") {
  Postmortem report = secret();
  const postmortem::Redactor redactor("");
  redactor.redact(report);
  const std::string text = redactor.redacted("/home/ada/secret.cc: 'Ada Lovelace' has 17 rows, 3 KiB; see secret.cc");
  CHECK(text.find("ada") == std::string::npos);
  CHECK(text.find("Lovelace") == std::string::npos);
  CHECK(text.find("secret") == std::string::npos);
  CHECK(text.find("has 17 rows, 3 KiB; see file_") != std::string::npos);
}

TEST_CASE("redact: snapshots keep figures and lose names") {
  Postmortem report = secret();
  const std::int64_t total = report.steps.front().total;
  postmortem::Redactor("").redact(report);
  const Snapshot& snapshot = *report.growth().current.snapshot;
  CHECK(report.steps.front().total == total);
  CHECK(snapshot.facts.source.name.ends_with(".heap"));
  CHECK(snapshot.facts.source.name.find("svc") == std::string::npos);
  REQUIRE(snapshot.column("inuse_space") != nullptr);
  CHECK(snapshot.column("inuse_space")->value == std::vector<std::int64_t>{5005});
  CHECK(snapshot.dictionary->strings.size() == StringTable().size());
}
