#include <catch2/catch.hpp>

#include "unit/analyzer/story/story_support.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

using Names = std::vector<std::string>;

namespace {

/// The shape of the sample service: what grows in each of its steps.
std::string service(int steps, bool warm) {
  const auto n = [&](int per_step) { return std::to_string(per_step * steps); };
  return "main;handle_request;leak_sessions " + n(16'000) + " " + n(1000) +
         "\nmain;handle_request;leak_sessions;alloc_body " + n(240'000) + " " + n(1000) +
         "\nmain;handle_request;lru_touch;alloc_body 524288 256\n" + "main;background;leak_log;make_log_line " +
         n(200'000) + " " + n(2000) + "\nmain;background;leak_log;vector 16384 1\nmain;background;leak_rec;leak_rec " +
         n(65'536) + " " + n(1) + "\n" + (warm ? "main;background 4194304 1\n" : "");
}

}  // namespace

TEST_CASE("culprits: the functions that leak are named, not what they share with healthy code") {
  const GrowthReport r = told(service(1, false), service(12, false));
  const Story& story = story_of(r);
  CHECK(names_of(story.culprits) == Names{"leak_sessions", "make_log_line", "leak_rec"});
  const Culprit& first = story.culprits[0];
  CHECK(first.value.growth() == 11 * 256'000);
  CHECK(first.share == Approx(256.0 / 521.536));
  CHECK(path_of(first.path) == "main > handle_request > leak_sessions");
  REQUIRE(first.sites.size() == 2);
  CHECK(first.sites[0].frame.function == "alloc_body");
  CHECK(first.sites[0].growth == 11 * 240'000);
  CHECK(first.sites[0].objects == 11'000);
  REQUIRE(first.rows.size() == 2);
  CHECK(key_of(r, r.rows[first.rows[0]]) == "main;handle_request;leak_sessions;alloc_body");
  CHECK(r.common_path == "main");
  CHECK(story.covered > 0.99);
  CHECK(story.verdict.empty());
}

TEST_CASE("culprits: three functions below main are named where 'main' and the standard library were") {
  const std::string vector = "std::_Vector_base<float, std::allocator<float> >::_Vector_base";
  const GrowthReport r =
      told(row("main;healthy;" + vector, 900, 9),
           row("main;healthy;" + vector, 900, 9) + row("main;run;kernel_cache_put", 440, 4) +
               row("main;run;Worker::convolve;" + vector, 300, 3) + row("main;run;Pool::acquire", 220, 2));
  const Story& story = story_of(r);
  CHECK(names_of(story.culprits) == Names{"kernel_cache_put", "Worker::convolve", "Pool::acquire"});
  CHECK(story.culprits[1].via == vector);
}

TEST_CASE("culprits: what one function allocates for many callers is its own") {
  std::string before, after;
  for (int i = 0; i < 50; ++i) {
    const std::string handler = "main;dispatch;handler" + std::to_string(i);
    before += row(handler, 1000, 10);
    after += row(handler, 1000, 10) + row(handler + ";log_append", 100, 1);
  }
  const GrowthReport r = told(before, after);
  CHECK(names_of(story_of(r).culprits) == Names{"log_append"});
  CHECK(story_of(r).culprits[0].value.growth() == 5000);
}

TEST_CASE("culprits: a wrapper that healthy code calls too is no name") {
  std::string before, after;
  for (int i = 0; i < 9; ++i) before += row("main;work" + std::to_string(i) + ";xmalloc", 1000, 1);
  after = before + row("main;serve;keep_request;xmalloc", 800, 8);
  CHECK(names_of(story_of(told(before, after)).culprits) == Names{"keep_request"});
}

TEST_CASE("culprits: a function that says it allocates for others is no name, though nobody else calls it") {
  const GrowthReport r = told("", row("main;serve;keep_request;xmalloc", 800, 8));
  REQUIRE(names_of(story_of(r).culprits) == Names{"keep_request"});
  CHECK(story_of(r).culprits[0].via == "xmalloc");
}

TEST_CASE("culprits: of a function that two callers grow through, the one that brings nearly all is named") {
  const auto after = [](int cache, int strings) {
    return row("main;leak_cache;alloc_block", 240'000 + cache, 6) +
           row("main;leak_strings;alloc_block", 12'800 + strings, 200);
  };
  GrowthReport r = told(after(0, 0), after(480'000, 25'600));
  REQUIRE(names_of(story_of(r).culprits) == Names{"leak_cache"});
  CHECK(story_of(r).culprits[0].value.growth() == 480'000);
  // Where neither does, it is the function's own.
  r = told(after(0, 0), after(240'000, 200'000));
  CHECK(names_of(story_of(r).culprits) == Names{"alloc_block"});
}

TEST_CASE("culprits: what a function allocates itself belongs to it, though most of its growth is of what it calls") {
  const auto heap = [](int n) {
    return row("main;serve;handle", 8'000 * n, 500 * n) + row("main;serve;handle;store_insert", 100'000 * n, 500 * n) +
           row("main;serve;handle;store_insert;new_body", 350'000 * n, 500 * n) +
           row("main;serve;fill_pool;new_body", 1'600'000, 400);
  };
  const GrowthReport r = told(heap(3), heap(6));
  REQUIRE(names_of(story_of(r).culprits) == Names{"store_insert"});
  CHECK(story_of(r).culprits[0].value.growth() == 3 * 450'000);
}

TEST_CASE("culprits: of two leaks in one caller the one of nine tenths is named, not the caller of both") {
  const GrowthReport r = told("", row("main;poll;keep_page", 950'000, 100) + row("main;poll;keep_name", 50'000, 900));
  CHECK(names_of(story_of(r).culprits) == Names{"keep_page"});
}

TEST_CASE("culprits: recursion is folded, also of two functions") {
  const GrowthReport r =
      told("", "main;a;b;a;b;grow;site 10 1\nmain;a;b;grow;site 10 1\nmain;a;b;a;b;a;b;grow;site 10 1\n");
  REQUIRE(story_of(r).culprits.size() == 1);
  CHECK(story_of(r).culprits[0].value.growth() == 30);
}

TEST_CASE("culprits: where more was freed than grew, both are said, apart") {
  const GrowthReport r = told(service(5, true), service(6, false));
  const Story& story = story_of(r);
  CHECK(names_of(story.freed) == Names{"background"});
  CHECK(story.freed[0].value.growth() == -4194304);
  CHECK(names_of(story.culprits) == Names{"leak_sessions", "make_log_line", "leak_rec"});
}

TEST_CASE("culprits: a stack that climbs by what a sibling of the same function loses is no growth") {
  const GrowthReport r = told("main;old;fill 1000 10\nmain;leak 10 1\n", "main;new;fill 1000 10\nmain;leak 90 9\n");
  CHECK(names_of(story_of(r).culprits) == Names{"leak"});
  CHECK(story_of(r).moved == 1000);
}

TEST_CASE("culprits: a function that V8 inlined while the process ran is put back") {
  // `visit` is inlined from snapshot 4 on, and `handle` allocates as before.
  const auto series = [](const char* producer, std::size_t last_of_visit) {
    TextOptions options;
    options.facts.producer = producer;
    return told_series(
        10,
        [&](std::size_t i) {
          const auto kib = [](std::size_t n) { return static_cast<long long>(n << 20U); };
          const std::size_t before = std::min(i, last_of_visit);
          return row("main@m.js;serve@app.js;visit@app.js;keep@node_modules/kept/index.js", kib(before + 1), 10) +
                 (i > 3 ? row("main@m.js;serve@app.js;keep@node_modules/kept/index.js", kib(i - 3), 10) : "") +
                 row("main@m.js;serve@app.js;handle@app.js", kib(9), 10);
        },
        options);
  };
  const TrendReport inlined = series("node", 3);
  const Culprit& found = story_of(inlined).culprits.at(0);
  CHECK(path_of(found.path) == "serve > visit");
  CHECK(found.value.growth() == 9 << 20);
  CHECK(found.inlined == 6 << 20);
  std::string said;
  for (const Span& span : story_of(inlined).also.at(0)) said += span.text;
  CHECK(said == "V8 inlined visit: the stacks of 6.00\u00a0MiB do not show it");
  // A caller that still allocates was not inlined; other runtimes record inlined functions.
  CHECK(story_of(series("node", 9)).culprits.at(0).inlined == 0);
  CHECK(story_of(series("go", 3)).culprits.at(0).inlined == 0);
}

TEST_CASE("culprits: none where nothing grew, and why") {
  const GrowthReport same = told("main;a 5 1\n", "main;a 5 1\n");
  CHECK(story_of(same).culprits.empty());
  CHECK(story_of(same).no_culprit == "nothing changed");
  const GrowthReport freed = told("main;a;b 5 1\n", "");
  CHECK(story_of(freed).no_culprit == "nothing grew");
  REQUIRE(story_of(freed).freed.size() == 1);
  CHECK(story_of(freed).freed[0].share == 1);
}

TEST_CASE("culprits: growth spread over thousands of functions has none, and says so") {
  std::string wide;
  for (int i = 0; i < 20'000; ++i) wide += row("r" + std::to_string(i) + ";x" + std::to_string(i % 40), 1 + i % 7, 1);
  const GrowthReport r = told("", wide);
  CHECK(story_of(r).culprits.empty());
  CHECK(story_of(r).no_culprit.starts_with("growth is spread"));
}

TEST_CASE("culprits: the largest growth of two sampled profiles is shown with its error, never hidden by it") {
  TextOptions sampled;
  sampled.sampling = Sampling::poisson;
  sampled.period = 524288;
  const GrowthReport r =
      told(must_diff(heap("main;a;x 1000000 10000\n", sampled), heap("main;a;x 1100000 11000\n", sampled)));
  REQUIRE(story_of(r).culprits.size() == 1);
  CHECK(story_of(r).culprits[0].error > 100'000);
  // One that stands out although it is a small part of the noise.
  const GrowthReport one = told(must_diff(heap("main;a;x 10000000 100000\nmain;b;big 1048576 1\n", sampled),
                                          heap("main;a;x 12000000 120000\nmain;b;big 10485760 10\n", sampled)));
  CHECK(names_of(story_of(one).culprits).front() == "big");
}

TEST_CASE("culprits: two processes' load addresses do not matter") {
  const GrowthReport r = told("app+0x10;app+0x20;app+0x30 1 1\n", "app+0x10;app+0x20;app+0x30 100 1\n");
  REQUIRE(story_of(r).culprits.size() == 1);
  CHECK(story_of(r).culprits[0].path.back().offset == 0x30);
}

TEST_CASE("culprits: --own and --library move the line between own and library code") {
  const std::string stack = "main@main.cc:1;serve@serve.cc:5;pool::take@pool.cc:9 100 1\n";
  DiffOptions options;
  CHECK(names_of(story_of(told("", stack, options)).culprits) == Names{"pool::take"});
  options.library = "^pool::";
  CHECK(names_of(story_of(told("", stack, options)).culprits) == Names{"serve"});
  options.own = "take$";
  CHECK(names_of(story_of(told("", stack, options)).culprits) == Names{"pool::take"});
}

TEST_CASE("culprits: of types the user's own comes before what a runtime makes for it") {
  const GrowthReport r = told("[B 1000 10\njava.lang.String 240 10\ncom.acme.Session 160 10\n",
                              "[B 90000 900\njava.lang.String 21600 900\ncom.acme.Session 14400 900\n");
  CHECK(names_of(story_of(r).culprits).front() == "com.acme.Session");
  CHECK(names_of(story_of(r).culprits)[1] == "[B");
}

TEST_CASE("culprits: grouped tables have the culprits of the stacks, without rows") {
  const GrowthReport r = told(service(1, false), service(12, false), by(GroupBy::function));
  CHECK(names_of(story_of(r).culprits) == Names{"leak_sessions", "make_log_line", "leak_rec"});
  CHECK(story_of(r).culprits[0].rows.empty());
  CHECK(story_of(r).culprits[0].value.growth() == 11 * 256'000);
}

TEST_CASE("culprits: deep inputs are no trouble") {
  std::string deep;
  for (int i = 0; i < 200'000; ++i) deep.append("f").append(std::to_string(i)).append(";");
  const GrowthReport r = told("", deep + "leaf 10 1\n");
  REQUIRE(story_of(r).culprits.size() == 1);
  CHECK(story_of(r).culprits[0].path.size() == 200'001);
}
