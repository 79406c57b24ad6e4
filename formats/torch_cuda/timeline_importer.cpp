#include "analyzer/base/concat.hpp"
#include "formats/input/all_formats.hpp"
#include "formats/input/type_row.hpp"
#include "formats/torch_cuda/thinner.hpp"

namespace snapdiff::formats {
namespace {

using namespace torch_cuda;

/// torch/profiler/_memory_profiler.py, _CATEGORY_TO_INDEX.
constexpr std::array<std::string_view, 8> kCategories = {
    "parameter", "optimizer state", "input", "temporary", "activation", "gradient", "autograd detail", "unknown"};
using Sizes = std::array<std::int64_t, kCategories.size()>;

struct Point {
  std::uint64_t number = 0;  // of the moment
  Sizes sizes{};
  std::int64_t total = 0;
};

class Reader {
 public:
  explicit Reader(Input& in) : json_(in) {}

  void run() {
    json_.expect('[', "[");
    json_.expect('[', "[");
    std::vector<std::int64_t> first;
    // A list of four numbers may begin either form: what follows it shows which.
    do first.push_back(number());
    while (json_.next_item());
    bool more = next_list();
    if (const char c = json_.token(); more && (c == '[' || c == ']')) {
      times_ = std::move(first);
      return read_sizes();
    }
    raw_ = true;
    event(first);
    for (; more; more = next_list()) {
      std::vector<std::int64_t> numbers;
      list([&](std::int64_t value) {
        if (numbers.size() == 4)
          fail_malformed("event of more than 4 numbers, expected time, action, bytes, category", json_.offset());
        numbers.push_back(value);
      });
      event(numbers);
    }
    flush();
  }

  std::vector<Point> points() { return thinner_.finish(); }
  std::uint64_t count() const { return thinner_.count(); }
  std::uint64_t negative() const { return negative_; }
  std::optional<std::int64_t> time_ns(std::uint64_t number) const {
    if (number >= times_.size()) return std::nullopt;
    std::int64_t ns = times_[number];
    if (!raw_ && __builtin_mul_overflow(ns, std::int64_t{1000}, &ns)) return std::nullopt;
    if (ns / 1000 < kFirstDateUs) return std::nullopt;
    return ns;
  }

 private:
  /// Behind a list in the outermost one: whether another begins, whose bracket is consumed.
  bool next_list() {
    const bool more = json_.next_item();
    if (more) json_.expect('[', "[");
    return more;
  }

  std::int64_t number() { return floored_number(json_); }

  /// Items of the list that is open, and its end.
  template <class Take>
  void list(const Take& take) {
    if (json_.token() == ']') return json_.expect(']', "]");
    do take(number());
    while (json_.next_item());
  }

  void take(const Sizes& sizes, std::uint64_t number) {
    Point point;
    point.number = number;
    point.sizes = sizes;
    for (const std::int64_t size : sizes) {
      add_to(point.total, size, "sum of sizes is", json_.offset());
      if (size < 0) ++negative_;
    }
    thinner_.add(point);
  }

  /// `[times, sizes]`: after the bracket of sizes.
  void read_sizes() {
    std::uint64_t number = 0;
    const bool empty = json_.token() == ']';
    if (empty) json_.expect(']', "]");
    for (bool more = !empty; more; more = json_.next_item()) {
      json_.token();
      const std::uint64_t start = json_.offset();
      json_.expect('[', "[");
      Sizes sizes{};
      std::size_t i = 0;
      list([&](std::int64_t value) {
        // The first is always 0: where the stacked areas of the plot begin.
        if (i > kCategories.size())
          fail_malformed("more than 9 sizes at one moment, expected 0 and one for each of 8 categories", start);
        if (i > 0) sizes[i - 1] = value;
        ++i;
      });
      if (number >= times_.size())
        fail_malformed("more sizes than times: " + std::to_string(times_.size()) + " times", start);
      take(sizes, number++);
    }
    json_.expect(']', "]");
    if (number != times_.size())
      fail_malformed(instead("fewer sizes than times", number, std::to_string(times_.size())), json_.offset());
  }

  /// Sums up; the state after all events of one time is a moment.
  void event(const std::vector<std::int64_t>& e) {
    if (e.size() != 4)
      fail_malformed("event of " + std::to_string(e.size()) + " numbers, expected time, action, bytes, category",
                     json_.offset());
    if (e[1] < 1 || e[1] > 4) fail_malformed("action " + std::to_string(e[1]) + ", expected 1 to 4", json_.offset());
    if (e[3] < 0 || e[3] >= static_cast<std::int64_t>(kCategories.size()))
      fail_malformed("category " + std::to_string(e[3]) + ", expected 0 to 7", json_.offset());
    if (has_time_ && e[0] != time_) flush();
    has_time_ = true;
    time_ = e[0];
    add_to(state_[static_cast<std::size_t>(e[3])], e[2], "sum of sizes is", json_.offset());
  }
  void flush() {
    if (!has_time_) return;
    take(state_, times_.size());
    times_.push_back(time_);
    has_time_ = false;
  }

  json::JsonScanner json_;
  bool raw_ = false;
  std::vector<std::int64_t> times_;
  Thinner<Point> thinner_;
  Sizes state_{};
  bool has_time_ = false;
  std::int64_t time_ = 0;
  std::uint64_t negative_ = 0;
};

Result<Snapshot> snapshot_of(const Point& point, const Reader& reader, bool thinned) {
  SnapshotBuilder builder;
  SnapshotFacts& facts = exact_facts(
      builder, "pytorch", concat("memory timeline of the profiler, moment ", point.number + 1, " of ", reader.count()));
  facts.taken_at_ns = reader.time_ns(point.number);
  facts.notes.add(Severity::info, "no stacks in a profiler's timeline: --by label:category shows what it holds");
  if (thinned)
    facts.notes.add(Severity::info, "of " + std::to_string(reader.count()) +
                                        " moments the fullest of each stretch, and the last, are read");
  if (reader.negative() > 0)
    facts.notes.add(Severity::warning, "size below 0 in a profiler's timeline", std::nullopt, reader.negative());
  builder.add_column({"inuse_space", "bytes"});
  const StackId stack = builder.pseudo_stack(kNoStackRecorded);
  for (std::size_t c = 0; c < kCategories.size(); ++c) {
    if (point.sizes[c] == 0) continue;
    builder.add_row(stack, builder.labels({text_label(builder, "category", kCategories[c])}),
                    std::span(&point.sizes[c], 1));
  }
  return builder.finish();
}

/// `[times, sizes]`, or a list of `[time, action, bytes, category]`: lists of numbers and nothing else.
Match sniff_timeline(std::string_view head) {
  const std::size_t number = std::min(head.find_first_of("-0123456789"), head.size());
  const auto lists = std::count(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(number), '[');
  if (number == head.size() || lists != 2 || !text::begins_with(head, {"[", "["})) return Match::no;
  const bool only_numbers = head.find_first_not_of("0123456789+-.eE,[] \t\r\n") == std::string_view::npos;
  return only_numbers ? Match::possible : Match::no;
}

/// Reads a memory timeline of torch.profiler: a snapshot for each moment, its bytes by the label "category".
/// Memory: 8 bytes a moment. Errors: malformed with an offset, limit.
void decode_timeline(Input& in, SnapshotSink& out, const ReadRequest& /*request*/) {
  Reader reader(in);
  reader.run();
  const std::vector<Point> points = reader.points();
  if (points.empty()) fail(ErrorCode::malformed, "no moment in this timeline, expected at least one");
  for (const Point& point : points) give(out, snapshot_of(point, reader, points.size() < reader.count()));
}

}  // namespace

constexpr Format kTorchTimeline{.info = {"torch-timeline", "memory timeline of torch.profiler: bytes by category",
                                         "*.json, *.raw.json.gz", "single tensors and versions of raw timelines"},
                                .sniff = sniff_timeline,
                                .decode = decode_timeline};

}  // namespace snapdiff::formats
