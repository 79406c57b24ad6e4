#include <catch2/catch.hpp>

#include "unit/analyzer/diff/diff_support.hpp"

using namespace snapdiff;
using namespace snapdiff::test;

TEST_CASE("filters: allocator frames at the leaf are hidden by default") {
  const std::string_view before = "main;parse;operator new(unsigned long);malloc 10 1\nmain;parse;calloc 5 1\n";
  const std::string_view after = "main;parse;operator new(unsigned long);malloc 20 2\nmain;parse;tcmalloc::x 5 1\n";
  const GrowthReport r = must_diff(before, after);
  REQUIRE(r.rows.size() == 1);
  CHECK(key_of(r, r.rows[0]) == "main;parse");
  CHECK(r.rows[0].value == Change{15, 25});
  DiffOptions show;
  show.hide_allocator_frames = false;
  CHECK(must_diff(before, after, show).rows.size() == 3);
}

TEST_CASE("filters: names of allocators") {
  const auto [name, hidden] = GENERATE(table<std::string, bool>({
      {"malloc", true},
      {"__libc_malloc", true},
      {"tc_new", true},
      {"operator new[](unsigned long)", true},
      {"std::__new_allocator<char*>::allocate(unsigned long, void const*)", true},
      {"std::allocator_traits<std::allocator<int> >::allocate(std::allocator<int>&, unsigned long)", true},
      {"std::_Vector_base<int, std::allocator<int> >::_M_allocate(unsigned long)", true},
      {"std::_Rb_tree<int, int, std::less<int> >::_M_get_node()", true},
      {"std::__detail::_Hashtable_alloc<std::allocator<int> >::_M_allocate_node<int>(int&&)", true},
      {"prof_backtrace_impl", true},
      {"imalloc_body", true},
      {"je_prof_backtrace", true},
      {"posix_memalign", true},
      {"libjemalloc.so.2+0x1234", true},
      {"libtcmalloc_minimal.so.4.5.10+0x99", true},
      {"libc.so.6+0x99", false},
      {"std::vector<int, std::allocator<int> >::push_back(int const&)", false},
      {"my_malloc", false},
      {"mallocate", false},
      {"runtime.mallocgc", false},
      {"parse#libjemalloc.so.2", false},
  }));
  const GrowthReport r = must_diff("", "main;caller;" + name + " 1 1\n");
  CAPTURE(name);
  std::vector<FrameView> frames;
  r.frames(r.rows.at(0), frames);
  CHECK((frames.size() == 2) == hidden);
}

TEST_CASE("filters: allocator frames below user frames, and stacks of nothing else, stay") {
  const GrowthReport r = must_diff("", "main;malloc;hook 1 1\nmalloc;calloc 2 1\n");
  CHECK(growth_by_key(r) == std::map<std::string, std::int64_t>{{"main;malloc;hook", 1}, {"malloc;calloc", 2}});
}

TEST_CASE("filters: drop_frames of the input cut as pprof does") {
  TextOptions options;
  options.facts.drop_frames = "drop.*";
  options.facts.keep_frames = "drop_not";
  // The first match after a frame that stays goes, with all on its leaf side.
  const GrowthReport r = must_diff(heap("", options), heap("main;user;dropped(int);inner;leaf 1 1\n"
                                                           "drop_root;main;leaf 2 1\n"
                                                           "dropped;drop2 3 1\n"
                                                           "main;drop_not;leaf 4 1\n",
                                                           options));
  CHECK(growth_by_key(r) ==
        std::map<std::string, std::int64_t>{
            {"main;user", 1}, {"drop_root;main;leaf", 2}, {"dropped;drop2", 3}, {"main;drop_not;leaf", 4}});
  // A location is a function with what was inlined into it (~): cut inside where it is the match; not a user's frame,
  // and the only thing to lose its inlined frames where it stands before one.
  const GrowthReport inlined = must_diff(heap("", options), heap("main;user;f;dropped~;g~;leaf 1 1\n"
                                                                 "main;dropped~;user;leaf 2 1\n"
                                                                 "main;in~;dropped~;low~;b;drop3;leaf 4 1\n"
                                                                 "main;dropped~;f;dropped~ 8 1\n"
                                                                 "drop_root;c~;main;leaf 16 1\n",
                                                                 options));
  CHECK(growth_by_key(inlined) ==
        std::map<std::string, std::int64_t>{
            {"main;user;f", 1}, {"main;user;leaf", 2}, {"main;in;b", 4}, {"main;f", 8}, {"drop_root;c;main;leaf", 16}});
  // One that only one side carries holds for both, else nothing would match.
  const GrowthReport mixed = must_diff(heap("main;dropped 5 1\n"), heap("main;dropped 5 1\n", options));
  CHECK(mixed.rows.size() == 1);
  TextOptions bad;
  bad.facts.drop_frames = "(";
  CHECK(must_diff(heap("a 1", bad), heap("a 1", bad)).notes.all().size() == 1);
}

TEST_CASE("filters: focus and ignore move stacks to `filtered`") {
  const std::string_view before =
      "main;a;x 1 1\nmain;b;x 2 1\nmain;c@lib/c.cc:1 4 1\nmain;d#/usr/lib/libz.so.1 8 1\n[unattributed] 3 1\n";
  const std::string_view after =
      "main;a;x 10 2\nmain;b;x 20 1\nmain;c@lib/c.cc:1 40 1\nmain;d#/usr/lib/libz.so.1 80 1\n[unattributed] 5 1\n";
  DiffOptions options;
  options.focus = "^a$";
  GrowthReport r = must_diff(before, after, options);
  CHECK(keys_in_order(r) == std::vector<std::string>{"main;a;x"});
  CHECK(r.filtered == Change{14, 140});
  CHECK(r.filtered_objects == Change{3, 3});
  CHECK(r.unattributed == Change{3, 5});
  CHECK(r.total == Change{18, 155});
  options.focus = "lib/c|libz";  // file and module
  r = must_diff(before, after, options);
  CHECK(r.rows.size() == 2);
  options.ignore = "libz";
  r = must_diff(before, after, options);
  CHECK(keys_in_order(r) == std::vector<std::string>{"main;c@lib/c.cc:1"});
  options = {};
  options.ignore = "x";
  CHECK(must_diff(before, after, options).rows.size() == 2);
}

TEST_CASE("filters: hide and show drop frames and merge what becomes equal") {
  const std::string_view before = "main;a;x 1 1\nmain;b;x 2 1\n";
  const std::string_view after = "main;a;x 10 1\nmain;b;x 20 1\nx 5 1\n";
  DiffOptions options;
  options.hide = "^[ab]$";
  GrowthReport r = must_diff(before, after, options);
  CHECK(growth_by_key(r) == std::map<std::string, std::int64_t>{{"main;x", 27}, {"x", 5}});
  options.hide = "x";
  r = must_diff(before, after, options);
  CHECK(growth_by_key(r) == std::map<std::string, std::int64_t>{{"main;a", 9}, {"main;b", 18}});
  CHECK(r.filtered == Change{0, 5});
  options = {};
  options.show = "^main$";
  r = must_diff(before, after, options);
  CHECK(growth_by_key(r) == std::map<std::string, std::int64_t>{{"main", 27}});
  CHECK(r.filtered == Change{0, 5});
}

TEST_CASE("filters: focus sees frames that hide drops") {
  DiffOptions options;
  options.focus = "a";
  options.hide = "a";
  CHECK(growth_by_key(must_diff("", "m;a;x 1 1\nm;b;x 2 1\n", options)) ==
        std::map<std::string, std::int64_t>{{"m;x", 1}});
}

TEST_CASE("filters: a bad expression is a usage error that names it") {
  DiffOptions options;
  options.focus = "a(";
  const Result<GrowthReport> r = diff::diff(heap("a 1"), heap("a 1"), options);
  REQUIRE_FALSE(r);
  CHECK(r.error().code == ErrorCode::usage);
  CHECK(r.error().message.find("bad regular expression in --focus: 'a('") == 0);
}

TEST_CASE("filters: a catastrophic pattern is no hang") {
  DiffOptions options;
  options.focus = "(a+)+$";
  std::string name(20'000, 'a');
  CHECK(must_diff(heap(name + "b 1"), heap(name + "b 2"), options).filtered.growth() == 1);
}

TEST_CASE("filters: of a stack of PyTorch's with Python frames only these are shown, of others all but the noise") {
  SnapshotBuilder builder;
  builder.facts().producer = "pytorch";
  builder.add_column({"inuse_space", "bytes"});
  const auto frame = [&](std::string_view function, std::string_view file) {
    SnapshotBuilder::FrameSpec spec;
    spec.function = builder.function(builder.string(function), StringId{}, builder.string(file), 0);
    return builder.frame(spec);
  };
  const FrameId native = frame("at::_ops::bmm::call", ""), noise = frame("_PyEval_EvalFrameDefault", "");
  const FrameId step = frame("step", "optimizer.py"),
                node = frame("torch::autograd::generated::BmmBackward0::apply()", "");
  const std::vector<std::vector<FrameId>> stacks = {{native, noise, step}, {native, node, noise}, {step}};
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    const std::int64_t value = std::int64_t{1} << i;
    builder.add_row(builder.stack(stacks[i]), LabelSetId{}, std::span(&value, 1));
  }
  Result<Snapshot> made = builder.finish();
  REQUIRE(made);
  SnapshotRef ref;
  ref.ref = "run.pickle";
  ref.snapshot = std::make_shared<const Snapshot>(*std::move(made));
  const auto functions = [&](FrameSet set) {
    DiffOptions options;
    options.frames = set;
    const Result<TopReport> top = diff::top(ref, options);
    REQUIRE(top);
    std::map<std::string, std::int64_t> out;
    for (const TopRow& row : top->rows) {
      std::vector<FrameView> frames;
      top->view->frames(top->stacks[row.key], frames);
      std::string text;
      for (const FrameView& view : frames) text += (text.empty() ? "" : " < ") + std::string(view.function);
      out[text] += row.value;
    }
    return out;
  };
  const std::string node_name = "torch::autograd::generated::BmmBackward0::apply()";
  CHECK(functions(FrameSet::usual) ==
        std::map<std::string, std::int64_t>{{"step", 5}, {"at::_ops::bmm::call < " + node_name, 2}});
  CHECK(functions(FrameSet::all).at("at::_ops::bmm::call < _PyEval_EvalFrameDefault < step") == 1);
  CHECK(functions(FrameSet::native).at("at::_ops::bmm::call") == 1);
}
