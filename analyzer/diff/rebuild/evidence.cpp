#include "analyzer/diff/rebuild/evidence.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analyzer/base/concat.hpp"
#include "analyzer/base/function_name.hpp"
#include "analyzer/diff/names.hpp"
#include "analyzer/diff/rebuild/code.hpp"
#include "analyzer/diff/rebuild/score.hpp"

namespace snapdiff::diff::rebuild {
namespace {

struct Kind {
  std::string_view text;
  double noise;  ///< share that contradicts in one build: tests/builds/one_process.py
};
constexpr std::array<Kind, kEvidences> kKinds{
    {{"", 0},
     {"a module has another build id, or other code at its offsets", 0},
     {"a line belongs to another function", 0.001},
     {"a function is in another file, or has another hash in its name", 0.005},
     {"a line calls another function", 0.005},
     {"a call goes through another function, or no longer does", 0.003},
     {"a line allocates through other functions of the library", 0.02},
     {"a line allocates instead of a call, or calls instead", 0.01},
     {"a function begins at another line", 0.001},
     {"a function calls another one at another line", 0.025},
     {"a function allocates at another line", 0.4},
     {"a function allocates at none of its old lines", 0.05},
     {"a stack of one side has code that contradicts", 0.3}}};
constexpr double kStackCounts = 0.25;         // of a fact: stacks have the few facts in common that contradict
constexpr std::size_t kEnoughFunctions = 10;  // fewer may all be seen at one line by chance

/// A fact of one side: of `about` (a line, a function), `value`.
struct Saying {
  std::uint64_t about = 0, value = 0;
  auto operator<=>(const Saying&) const = default;
};
using Sayings = std::vector<Saying>;
constexpr std::uint64_t kOfAllocation = 1, kOfClosure = 2;  // in the place of a function that is called

/// Ways to make `about`. Of `lines` the lowest bit is 1 where the function allocates there.
enum class About : std::uint8_t { function, file, calls, ways, library, lines, begins };
constexpr std::size_t kAbouts = 7;
constexpr std::uint64_t kItself = 1, kThrough = 2;  // of a way
constexpr std::size_t kDeepestWay = 4;  // frames below a line: calls that a build makes jumps follow one another
using AllSayings = std::array<Sayings, kAbouts>;

std::uint64_t both(std::uint64_t a, std::uint64_t b) { return mix64(a * 0x9e3779b97f4a7c15ULL + b); }

/// The name without what several functions of one line have each in another way: arguments of templates, numbers of
/// closures and the closures themselves.
std::string name_of_owner(std::string_view name) {
  std::string out = normalise(name);
  for (const std::string_view closure : {".func", "{lambda}", "{closure}", "{{closure}}", "_$u7b$$u7b$closure"}) {
    const std::size_t at = out.find(closure);
    if (at != std::string::npos && at > 0) out.resize(at);
  }
  while (out.ends_with(':')) out.pop_back();
  if (out.find('<') != std::string::npos || out.find('[') != std::string::npos) return last_parts_of(out, 9);
  return out;
}

/// Reads the facts that the stacks of one side hold.
class Reader {
 public:
  Reader(const Side& side, const BuildFacts& own, const BuildFacts& other, bool& differs)
      : side_(side), d_(*side.ref.snapshot->dictionary), known_(d_.functions.size()) {
    module_.assign(d_.modules.size(), SameBuild::unknown);
    for (std::size_t m = 1; m < d_.modules.size(); ++m) {
      const std::string_view name = base_name(d_.strings[d_.modules.name[m]]);
      const auto here = own.modules.find(name);
      const auto there = other.modules.find(name);
      if (here == own.modules.end() || there == other.modules.end()) continue;
      module_[m] = same_build(here->second, there->second);
      differs = differs || module_[m] == SameBuild::no;
    }
  }

  /// A frame of the program with a name, in code that is not known to be the same.
  bool counts(FrameId frame) { return may_count(index_of(frame)) && known(index_of(frame)).is_program; }
  /// Whether any frame of the side does. Where its code is known to be the same no stack is read.
  bool any_counts() {
    std::size_t first = 0;
    while (first < d_.frames.size() && !may_count(first)) ++first;
    if (first == d_.frames.size()) return false;
    for (std::size_t entry = 0; entry < side_.stack.size(); ++entry) {
      for (const FrameId frame : side_.frames(entry).frames()) {
        if (counts(frame)) return true;
      }
    }
    return false;
  }

  /// The latest of what was read: most of it is said again and again.
  using Said = std::vector<std::uint64_t>;
  static Said nothing_said() { return Said(1U << 16U); }

  /// Adds what an entry says that `wanted(about)` lets through, but for what `said` remembers.
  template <class Wanted>
  void read(std::size_t entry, AllSayings& out, const Wanted& wanted, Said* said = nullptr) {
    const auto say = [&](About kind, std::uint64_t about, std::uint64_t value) {
      const std::uint64_t hash = both(both(about, static_cast<std::uint64_t>(kind)), value);
      if (said != nullptr && std::exchange((*said)[hash % said->size()], hash) == hash) return;
      if (wanted(kind, about)) out[static_cast<std::size_t>(kind)].push_back({about, value});
    };
    frames_.clear();
    std::uint64_t library = 0;  // of the frames below those that count
    for (const FrameId frame : side_.frames(entry).frames()) {
      const std::size_t i = index_of(frame);
      if (counts(frame)) {
        frames_.push_back(frame);
      } else if (frames_.empty() && d_.frames.function[i] != FunctionId{}) {
        library = both(library, known(i).plain);
      }
    }
    for (std::size_t k = 0; k < frames_.size(); ++k) {
      const std::uint64_t callee = k == 0 ? kOfAllocation : called_as(frames_[k - 1]);
      const std::size_t i = index_of(frames_[k]);
      const Known& f = known(i);
      const auto line = static_cast<std::uint64_t>(d_.frames.line[i]);
      const std::uint64_t place = place_of(i);
      if (!f.anonymous) say(About::file, f.identity(), f.only_lines ? f.file : both(f.name, f.file));
      if (!f.anonymous && line > 0) {
        std::uint64_t itself = both(f.owner, f.file);
        if (f.only_lines) {  // a line calls one function of a file
          const bool called = k + 1 < frames_.size();
          itself = both(called ? place_of(index_of(frames_[k + 1])) : 0, f.file);
        } else {
          say(About::function, place, f.owner);
          say(About::begins, both(f.name, f.file), line);
        }
        say(About::calls, both(place, f.only_lines ? 0 : f.owner), callee);
        for (std::size_t below = 1; below <= std::min(k, kDeepestWay); ++below) {
          const std::uint64_t called = called_as(frames_[k - below]);
          if (called != kOfClosure && called != called_as(frames_[k]))
            say(About::ways, both(place, called), below == 1 ? kItself : kThrough);
        }
        if (k == 0) say(About::library, place, library);
        if (callee != kOfClosure)
          say(About::lines, both(itself, callee) << 1U | (callee == kOfAllocation ? 1U : 0U), line);
      }
    }
  }

 private:
  struct Known {
    bool seen = false, is_program = false, only_lines = false, anonymous = false;
    std::uint64_t name = 0, plain = 0, owner = 0, file = 0, base_file = 0;

    /// The name in any build; where names say only lines, the file.
    std::uint64_t identity() const { return only_lines ? base_file : plain; }
  };

  bool may_count(std::size_t frame) const {
    return d_.frames.function[frame] != FunctionId{} && (d_.frames.flags[frame] & kFramePseudo) == 0 &&
           module_[index_of(d_.frames.module[frame])] != SameBuild::yes;
  }

  std::uint64_t called_as(FrameId frame) {
    const Known& f = known(index_of(frame));
    return f.anonymous ? kOfClosure : (f.only_lines ? f.base_file : f.owner) | 4U;
  }

  std::uint64_t place_of(std::size_t frame) {
    return both(known(frame).file, static_cast<std::uint64_t>(d_.frames.line[frame]));
  }

  const Known& known(std::size_t frame) {
    const std::size_t f = index_of(d_.frames.function[frame]);
    Known& out = known_[f];
    if (out.seen) return out;
    out.seen = true;
    const std::string_view name = d_.strings[d_.functions.name[f]], file = d_.strings[d_.functions.file[f]];
    const std::string_view module = d_.strings[d_.modules.name[index_of(d_.frames.module[frame])]];
    out.only_lines = says_only_lines(name, file, d_.frames.line[frame]);
    out.is_program = !is_library_frame(out.only_lines ? std::string() : short_function_name(name), file, module);
    out.anonymous = name.find("(anonymous") != std::string_view::npos || name.starts_with('<');
    out.name = hash_bytes(name).low;
    out.plain = hash_bytes(without_rust_hash(name)).low;
    out.owner = hash_bytes(name_of_owner(name)).low;
    out.file = hash_bytes(file).low;
    out.base_file = hash_bytes(base_name(file)).low;
    return out;
  }

  const Side& side_;
  const Dictionary& d_;
  std::vector<Known> known_;
  std::vector<SameBuild> module_;
  std::vector<FrameId> frames_;
};

/// Calls body(about, values before, values after) for what both sides say something of, and sorts both.
template <class Body>
void each_common(Sayings& a, Sayings& b, Body body) {
  for (Sayings* one : {&a, &b}) {
    std::sort(one->begin(), one->end());
    one->erase(std::unique(one->begin(), one->end()), one->end());
  }
  for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
    const std::uint64_t about = std::max(i->about, j->about);
    const auto end = [about](auto from, auto last) {
      return std::find_if(from, last, [about](const Saying& s) { return s.about != about; });
    };
    if (i->about != j->about) {
      i->about < j->about ? ++i : ++j;
      continue;
    }
    const auto end_i = end(i, a.end()), end_j = end(j, b.end());
    body(about, std::span<const Saying>(i, end_i), std::span<const Saying>(j, end_j));
    i = end_i, j = end_j;
  }
}

bool have_common(std::span<const Saying> a, std::span<const Saying> b) {
  return std::any_of(a.begin(), a.end(), [&](const Saying& s) { return std::binary_search(b.begin(), b.end(), s); });
}

/// How to read the line numbers of functions.
enum class LinesSay : std::uint8_t { of_calls, unknown, of_functions };

/// Functions are seen at several lines; where agents know only where a function begins, at one. Few may all be seen at
/// one by chance.
LinesSay lines_of(const Sayings& begins) {
  std::unordered_map<std::uint64_t, std::uint64_t> line_of;
  std::unordered_set<std::uint64_t> several;
  for (const Saying& s : begins) {
    if (line_of.try_emplace(s.about, s.value).first->second != s.value) several.insert(s.about);
  }
  if (line_of.empty() || (!several.empty() && several.size() * kEnoughFunctions >= line_of.size()))
    return LinesSay::of_calls;
  return line_of.size() < kEnoughFunctions ? LinesSay::unknown : LinesSay::of_functions;
}

/// The evidence that two sides give by one kind of fact; none where they say nothing.
Evidence evidence_of(About kind, std::uint64_t about, std::span<const Saying> a, std::span<const Saying> b, bool agree,
                     LinesSay lines) {
  const bool clear = agree || (a.size() == 1 && b.size() == 1);
  const auto allocates = [](std::span<const Saying> s) { return s.size() == 1 && s[0].value == kOfAllocation; };
  switch (kind) {
    case About::function: return clear ? Evidence::function_of_line : Evidence::none;
    case About::file: return clear ? Evidence::file_of_function : Evidence::none;
    case About::library: return clear ? Evidence::way_of_site : Evidence::none;
    case About::ways: {
      const auto itself = [](std::span<const Saying> s) { return s.front().value == kItself; };
      return lines == LinesSay::of_calls && (itself(a) || itself(b)) ? Evidence::way_of_call : Evidence::none;
    }
    case About::begins: return clear && lines == LinesSay::of_functions ? Evidence::line_of_function : Evidence::none;
    case About::calls:
      if (lines != LinesSay::of_calls || !clear) return Evidence::none;
      return allocates(a) || allocates(b) ? Evidence::use_of_line : Evidence::callee_of_line;
    case About::lines: break;
  }
  if (lines == LinesSay::of_functions) return Evidence::none;
  if ((about & 1U) == 0) return Evidence::line_of_call;
  return std::min(a.size(), b.size()) == 1 ? Evidence::site_of_few : Evidence::site_of_many;
}

/// Counts how the facts of two sides agree and contradict, in the stacks that are left over.
class Comparing {
 public:
  Comparing(Reader& first, Reader& second, const Side& before, const Side& after, const LeftOver& left)
      : halves_{Half{&first, &before, some_of(before, left.before), {}},
                Half{&second, &after, some_of(after, left.after), {}}} {
    for (Half& half : halves_) {
      Reader::Said said = Reader::nothing_said();
      for (const std::uint32_t entry : half.left) half.reader->read(entry, half.says, everything, &said);
    }
    constexpr auto kBegins = static_cast<std::size_t>(About::begins);
    lines_ = std::max(lines_of(halves_[0].says[kBegins]), lines_of(halves_[1].says[kBegins]));
  }

  std::array<Observed, kEvidences> observe() {
    observe_facts();
    if (contradicted_.empty()) return observed_;
    // The other side may have the same fact in a stack that both have.
    const std::unordered_set<std::uint64_t> asked = contradicted_;
    const auto wanted = [&asked](About kind, std::uint64_t about) {
      return asked.contains(both(about, static_cast<std::uint64_t>(kind)));
    };
    for (Half& half : halves_) {
      Reader::Said said = Reader::nothing_said();
      for (std::size_t entry = 0; entry < half.side->stack.size(); ++entry)
        half.reader->read(entry, half.says, wanted, &said);
    }
    observe_facts();
    observe_stacks();
    return observed_;
  }

 private:
  struct Half {
    Reader* reader;
    const Side* side;
    std::vector<std::uint32_t> left;
    AllSayings says;
  };
  /// Where there are many entries, a sample by their identity: the order of the entries does not matter.
  static std::vector<std::uint32_t> some_of(const Side& side, const std::vector<std::uint32_t>& entries) {
    std::vector<std::uint32_t> out;
    for (const std::uint32_t entry : entries) {
      if (side.recorded_identity(entry).low % (1 + entries.size() / kManyStacks) == 0) out.push_back(entry);
    }
    return out;
  }
  static bool everything(About, std::uint64_t) { return true; }

  void observe_facts() {
    observed_ = {};
    contradicted_.clear();
    for (std::size_t kind = 0; kind < kAbouts; ++kind) {
      each_common(halves_[0].says[kind], halves_[1].says[kind], [&](std::uint64_t about, auto of_a, auto of_b) {
        const bool agree = have_common(of_a, of_b);
        const Evidence evidence = evidence_of(static_cast<About>(kind), about, of_a, of_b, agree, lines_);
        if (evidence == Evidence::none) return;
        Observed& observed = observed_[static_cast<std::size_t>(evidence)];
        ++(agree ? observed.agree : observed.contradict);
        if (!agree) contradicted_.insert(both(about, kind));
      });
    }
    for (std::size_t e = 0; e < kEvidences; ++e)
      observed_[e].nats = weight_of(observed_[e].contradict, observed_[e].agree, kKinds[e].noise);
  }

  /// Of the side that has fewer such stacks.
  void observe_stacks() {
    Observed& least = observed_[static_cast<std::size_t>(Evidence::stack)];
    for (Half& half : halves_) {
      Observed own;
      for (const std::uint32_t entry : half.left) {
        bool contradicts = false;
        AllSayings none;
        half.reader->read(entry, none, [&](About kind, std::uint64_t about) {
          contradicts = contradicts || contradicted_.contains(both(about, static_cast<std::uint64_t>(kind)));
          return false;
        });
        ++(contradicts ? own.contradict : own.agree);
      }
      own.nats = kStackCounts * weight_of(own.contradict, own.agree, kKinds.back().noise);
      if (&half == halves_.data() || own.nats < least.nats) least = own;
    }
  }

  std::array<Half, 2> halves_;
  LinesSay lines_ = LinesSay::of_calls;
  std::array<Observed, kEvidences> observed_{};
  std::unordered_set<std::uint64_t> contradicted_;
};

}  // namespace

double weight_of(std::size_t contradict, std::size_t agree, double noise) {
  const auto c = static_cast<double>(contradict), a = static_cast<double>(agree);
  if (contradict == 0 || noise <= 0 || c <= noise * (c + a)) return 0;
  const double share = c / (c + a);
  return c * std::log(share / noise) + (agree == 0 ? 0 : a * std::log((1 - share) / (1 - noise)));
}

double Estimate::nats() const {
  return std::accumulate(observed.begin(), observed.end(), 0.0,
                         [](double sum, const Observed& one) { return sum + one.nats; });
}

Evidence Estimate::kind() const {
  if (settled) return Evidence::none;
  if (is_other_module) return Evidence::module;
  if (nats() < kEnough) return Evidence::none;
  const auto strongest = std::max_element(observed.begin(), observed.end() - 1,  // not the stacks
                                          [](const Observed& x, const Observed& y) { return x.nats < y.nats; });
  return static_cast<Evidence>(strongest - observed.begin());
}

std::vector<std::string> Estimate::text() const {
  std::vector<std::string> out;
  for (std::size_t e = 0; e < kEvidences; ++e) {
    const Observed& one = observed[e];
    if (one.agree + one.contradict == 0) continue;
    out.push_back(concat(kKinds[e].text, ": ", one.contradict, " of ", one.contradict + one.agree, ", weight ",
                         std::lround(one.nats)));
  }
  return out;
}

std::string_view to_text(Evidence evidence) { return kKinds[static_cast<std::size_t>(evidence)].text; }

Estimate estimate(const Side& before, const Side& after, const BuildFacts& facts_before, const BuildFacts& facts_after,
                  const LeftOver& left) {
  Estimate out;
  const Snapshot& a = *before.ref.snapshot;
  const Snapshot& b = *after.ref.snapshot;
  const bool is_named = a.facts.pid && b.facts.pid;
  out.settled = left.before.empty() || left.after.empty() ||
                ((from_one_file(a.facts, b.facts) || is_named) && other_process(a, b).empty());
  if (out.settled) return out;
  bool differs = false;
  Reader first(before, facts_before, facts_after, differs), second(after, facts_after, facts_before, differs);
  const bool may_a = first.any_counts(), may_b = second.any_counts();
  out.settled = !may_a && !may_b;
  out.is_other_module = differs;
  if (!may_a || !may_b || differs) return out;
  out.observed = Comparing(first, second, before, after, left).observe();
  // Two programs have no stack in common and one function, from which all stacks begin.
  const Observed& functions = out.observed[static_cast<std::size_t>(Evidence::file_of_function)];
  out.settled = left.before.size() == before.stack.size() && left.after.size() == after.stack.size() &&
                functions.agree + functions.contradict <= 1;
  return out;
}

}  // namespace snapdiff::diff::rebuild
