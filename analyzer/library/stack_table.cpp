#include "analyzer/library/stack_table.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>

#include "analyzer/base/frame_text.hpp"
#include "analyzer/base/function_name.hpp"
#include "analyzer/base/numbered_frames.hpp"
#include "analyzer/base/parallel.hpp"
#include "analyzer/base/row_values.hpp"

namespace snapdiff::library {
namespace {

/// Values of a table's series at most: 512 MiB of them. Rows of the report may be sparse, the lists of a table are not.
constexpr std::size_t kMostValues = std::size_t{1} << 26;

/// Texts whose numbers have two bytes. Half of the memory of a table of millions of stacks are numbers of texts.
constexpr std::size_t kMostShort = 32'767;

/// Frames of a stack; a longer one only costs a reallocation.
constexpr std::size_t kUsualDepth = 20;
/// Stacks that are asked for at a time: they fit in the processor's nearest memory.
constexpr std::size_t kStacksTogether = 32;

/// The user's own frame nearest to the allocation, else the leaf.
const FrameView* own_frame(std::span<const FrameView> frames) {
  const auto own =
      std::find_if(frames.begin(), frames.end(), [](const FrameView& f) { return !f.library && !f.pseudo; });
  return own != frames.end() ? &*own : frames.empty() ? nullptr : &frames.front();
}

/// Stacks of many rows as numbers of texts.
class StackColumns {
 public:
  explicit StackColumns(const GrowthReport& report)
      : report_(report),
        numbered_(report.options.by == GroupBy::stack ? dynamic_cast<const NumberedFrames*>(report.view.get())
                                                      : nullptr) {
    if (numbered_ == nullptr) return;
    text_of_.reserve(numbered_->frame_count());
    std::unordered_map<const char*, std::int32_t> by_name;
    for (std::uint32_t frame = 0; frame < numbered_->frame_count(); ++frame) {
      const FrameView view = numbered_->frame(frame);
      own_.push_back(!view.library && !view.pseudo ? 1 : 0);
      text_of_.push_back(text_number(view, by_name));
    }
    leaf_of_.assign(text_of_.size(), kNoLeaf);
  }

  void read(std::span<const std::uint32_t> rows);
  void push_rest(std::string_view name) {
    begin_.push_back(begin_.back());
    push_leaf({names_.number(name), -1, -1, std::nullopt});
  }
  void push_key(std::string_view key) { push_rest(key); }
  /// name, file, line, module, stack.
  void finish(ArrowTable& table) &&;

 private:
  struct Leaf {
    std::int32_t name = -1, file = -1, module = -1;
    std::optional<std::int32_t> line;
  };
  static constexpr std::uint32_t kNoLeaf = 0xffffffff;
  /// Rows of one thread's turn.
  template <class Number>
  struct Part {
    ArrowValues<Number> texts;
    std::vector<std::pair<std::size_t, Leaf>> leaves;  ///< of rows whose frames have no numbers
  };
  /// With numbers of `Number` for the texts of frames. False if they do not fit: nothing has been added then but texts.
  template <class Number>
  bool read_as(std::span<const std::uint32_t> rows);
  template <class Number>
  void read_part(Part<Number>& part, std::span<const std::uint32_t> rows, std::size_t first);
  template <class Number>
  void push_leaves(std::span<const Part<Number>> parts);
  template <class Number>
  void join(std::span<const Part<Number>> parts);
  /// Functions of one dictionary that share a name share its bytes.
  std::int32_t text_number(const FrameView& view, std::unordered_map<const char*, std::int32_t>& by_name) {
    if (view.function.empty()) return texts_.number(address_text(view));
    const auto [place, is_first] = by_name.try_emplace(view.function.data(), 0);
    if (is_first) place->second = texts_.number(view.function);
    return place->second;
  }
  /// A stack whose frames have no numbers, of the row `place`. Returns how many frames it has.
  template <class Number>
  std::uint32_t read_frames(StackRef stack, std::size_t place, Part<Number>& part, std::vector<FrameView>& frames);
  Leaf leaf(const FrameView* frame) {
    if (frame == nullptr) return {names_.number("[filtered out]"), -1, -1, std::nullopt};
    const auto known = [](ArrowDictionary& texts, std::string_view text) {
      return text.empty() ? -1 : texts.number(text);
    };
    const std::string name = frame->function.empty() ? address_text(*frame) : short_function_name(frame->function);
    return {names_.number(name), known(files_, frame->file), known(modules_, frame->module),
            frame->line > 0 ? std::optional(frame->line) : std::nullopt};
  }
  void push_leaf(const Leaf& leaf) {
    name_.push_back(leaf.name);
    file_.push_back(leaf.file);
    module_.push_back(leaf.module);
    line_.push(leaf.line);
  }

  const GrowthReport& report_;
  const NumberedFrames* numbered_;
  ArrowDictionary texts_, names_, files_, modules_;
  std::mutex guard_;                       ///< of the dictionaries while rows are read
  std::vector<std::int32_t> text_of_;      ///< by frame, number in texts_
  std::vector<std::uint8_t> own_;          ///< by frame
  ArrowValues<std::uint32_t> own_of_row_;  ///< number of a frame, in leaf_of_
  std::vector<std::uint32_t> leaf_of_;     ///< by frame, in leaves_
  std::vector<Leaf> leaves_;
  std::variant<ArrowValues<std::int16_t>, ArrowValues<std::int32_t>> stack_;
  ArrowValues<std::int32_t> name_, file_, module_;
  ArrowValues<std::int64_t> begin_{0};
  ArrowNumbers<std::int32_t> line_;
};

template <class Number>
std::uint32_t StackColumns::read_frames(StackRef stack, std::size_t place, Part<Number>& part,
                                        std::vector<FrameView>& frames) {
  report_.view->frames(stack, frames);
  const std::lock_guard lock(guard_);
  for (const FrameView& frame : frames)
    part.texts.push_back(static_cast<Number>(texts_.number(recorded_frame_text(frame))));
  part.leaves.emplace_back(place, leaf(own_frame(frames)));
  return static_cast<std::uint32_t>(frames.size());
}

template <class Number>
void StackColumns::read_part(Part<Number>& part, std::span<const std::uint32_t> rows, std::size_t first) {
  std::vector<StackRef> stacks;
  std::vector<std::uint32_t> numbers, lengths;
  std::vector<FrameView> frames;
  part.texts.reserve(rows.size() * kUsualDepth);
  for (std::size_t begin = 0; begin < rows.size(); begin += kStacksTogether) {
    stacks.clear();
    for (const std::uint32_t row : rows.subspan(begin, std::min(kStacksTogether, rows.size() - begin)))
      stacks.push_back(report_.stacks[report_.rows[row].key]);
    if (numbered_ != nullptr) {
      numbered_->frame_numbers(stacks, numbers, lengths);
    } else {
      lengths.assign(stacks.size(), NumberedFrames::kDependent);
    }
    auto number = numbers.cbegin();
    for (std::size_t i = 0; i < stacks.size(); ++i) {
      const std::size_t place = first + begin + i;
      const bool has_numbers = lengths[i] != NumberedFrames::kDependent && lengths[i] > 0;
      begin_[place + 1] = has_numbers ? lengths[i] : read_frames(stacks[i], place, part, frames);
      if (!has_numbers) continue;
      const auto end = number + lengths[i];
      const auto own = std::find_if(number, end, [&](std::uint32_t n) { return own_[n] != 0; });
      own_of_row_[place] = own != end ? *own : *number;
      for (; number != end; ++number) part.texts.push_back(static_cast<Number>(text_of_[*number]));
    }
  }
}

/// Name, file, line and module of each row; begin_ has the lengths of the stacks and gets their places.
template <class Number>
void StackColumns::push_leaves(std::span<const Part<Number>> parts) {
  for (const Part<Number>& part : parts) {
    for (const auto& [place, leaf] : part.leaves) {
      own_of_row_[place] = static_cast<std::uint32_t>(leaf_of_.size());
      leaf_of_.push_back(static_cast<std::uint32_t>(leaves_.size()));
      leaves_.push_back(leaf);
    }
  }
  for (auto* const column : {&name_, &file_, &module_}) column->reserve(own_of_row_.size() + 2);
  line_.reserve(own_of_row_.size() + 2);
  for (const std::uint32_t own : own_of_row_) {
    std::uint32_t& known = leaf_of_[own];
    if (known == kNoLeaf) {
      known = static_cast<std::uint32_t>(leaves_.size());
      const FrameView frame = numbered_->frame(own);
      leaves_.push_back(leaf(&frame));
    }
    push_leaf(leaves_[known]);
  }
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
}

/// One column of the parts, which follow one another.
template <class Number>
void StackColumns::join(std::span<const Part<Number>> parts) {
  auto& stacks = stack_.emplace<ArrowValues<Number>>();
  resize_on_all_cores(stacks, static_cast<std::size_t>(begin_.back()));
  for_each_parallel(parts.size(), own_of_row_.size(), [&](std::size_t i) {
    std::copy(parts[i].texts.begin(), parts[i].texts.end(), stacks.begin() + begin_[i * kBlockRows]);
  });
}

void StackColumns::read(std::span<const std::uint32_t> rows) {
  if (texts_.size() > kMostShort || !read_as<std::int16_t>(rows)) read_as<std::int32_t>(rows);
}

template <class Number>
bool StackColumns::read_as(std::span<const std::uint32_t> rows) {
  begin_.resize(rows.size() + 1);
  own_of_row_.resize(rows.size());
  std::vector<Part<Number>> parts(blocks_of(rows.size()));
  for_each_block(rows.size(), [&](std::size_t block, std::size_t begin, std::size_t end) {
    read_part(parts[block], rows.subspan(begin, end - begin), begin);
  });
  if (texts_.size() > kMostShort && sizeof(Number) < sizeof(std::int32_t)) return false;
  push_leaves<Number>(parts);
  join<Number>(parts);
  return true;
}

void StackColumns::finish(ArrowTable& table) && {
  table.push_back(dictionary_column("name", std::move(name_), std::move(names_).finish()));
  table.push_back(dictionary_column("file", std::move(file_), std::move(files_).finish(), true));
  table.push_back(std::move(line_).finish("line", true));
  table.push_back(dictionary_column("module", std::move(module_), std::move(modules_).finish(), true));
  table.push_back(list_column(
      "stack", std::move(begin_),
      std::visit([&](auto& texts) { return dictionary_column("item", std::move(texts), std::move(texts_).finish()); },
                 stack_)));
}

/// Values on both sides and their difference.
class ChangeColumns {
 public:
  void reserve(std::size_t rows) {
    for (auto* const column : {&before_, &after_, &growth_}) column->reserve(rows);
  }
  void push(const Change& value, bool known = true) {
    const auto given = [known](std::int64_t number) { return known ? std::optional(number) : std::nullopt; };
    before_.push(given(value.baseline));
    after_.push(given(value.current));
    growth_.push(given(value.growth()));
  }
  void finish(ArrowTable& table, const std::string& prefix, bool nullable) && {
    table.push_back(std::move(before_).finish(prefix + "before", nullable));
    table.push_back(std::move(after_).finish(prefix + "after", nullable));
    table.push_back(std::move(growth_).finish(prefix + "growth", nullable));
  }

 private:
  ArrowNumbers<std::int64_t> before_, after_, growth_;
};

/// The values of each row at every snapshot. Lists are null once kMostValues are there.
ArrowColumn values_column(const GrowthReport& report, std::span<const std::uint32_t> rows, std::size_t rest) {
  const std::size_t length = value_count(report);
  ArrowNumbers<std::int64_t> values;
  ArrowValidity lists;
  ArrowValues<std::int64_t> begin{0};
  std::vector<std::uint8_t> known(length, 1);
  const bool is_series = has_series(report);
  values.reserve(std::min(rows.size() * length, kMostValues));
  for (const std::uint32_t row : rows) {
    const bool fits = static_cast<std::size_t>(begin.back()) + length <= kMostValues;
    if (!fits) lists.mark_null(begin.size() - 1);
    begin.push_back(begin.back() + (fits ? static_cast<std::int64_t>(length) : 0));
    if (!fits) continue;
    if (is_series) report.series.known_row(row, known);
    for (std::size_t i = 0; i < length; ++i)
      values.push(known[i] != 0 ? std::optional(value_at(report, row, i)) : std::nullopt);
  }
  for (std::size_t i = 0; i < rest; ++i) {
    lists.mark_null(begin.size() - 1);
    begin.push_back(begin.back());
  }
  ArrowColumn column = list_column("values", std::move(begin), std::move(values).finish("item", true));
  column.buffers.erase(column.buffers.begin());
  column.nullable = true;
  std::move(lists).finish(column, rows.size() + rest);
  return column;
}

/// Verdict, odds and slope of each row.
void push_verdicts(ArrowTable& table, std::span<const std::uint32_t> rows, std::span<const Verdict> verdicts,
                   std::size_t rest) {
  ArrowDictionary words;
  ArrowValues<std::int32_t> word;
  ArrowNumbers<double> numbers[4];
  for (const std::uint32_t row : rows) {
    const Verdict& verdict = verdicts[row];
    const bool judged = !verdict.word.empty();
    word.push_back(judged ? words.number(verdict.word) : -1);
    const double values[] = {verdict.p, verdict.slope, verdict.slope_low, verdict.slope_high};
    for (std::size_t i = 0; i < std::size(values); ++i)
      numbers[i].push(judged ? std::optional(values[i]) : std::nullopt);
  }
  for (std::size_t i = 0; i < rest; ++i) {
    word.push_back(-1);
    for (auto& column : numbers) column.push(std::optional<double>());
  }
  table.push_back(dictionary_column("verdict", std::move(word), std::move(words).finish(), true));
  const char* const kNames[] = {"p", "slope", "slope_low", "slope_high"};
  for (std::size_t i = 0; i < std::size(kNames); ++i) table.push_back(std::move(numbers[i]).finish(kNames[i], true));
}

struct RestRow {
  const char* name;
  Change value, objects;
};

/// Rows that complete the sum.
std::vector<RestRow> rest_rows(const GrowthReport& report) {
  std::vector<RestRow> rest;
  const auto add = [&](const char* name, const Change& value, const Change& objects) {
    if (value != Change{} || objects != Change{}) rest.push_back({name, value, objects});
  };
  add("[unattributed]", report.unattributed, report.unattributed_objects);
  add("[filtered out]", report.filtered, report.filtered_objects);
  return rest;
}

std::vector<std::uint32_t> all_rows(std::size_t count) {
  std::vector<std::uint32_t> rows(count);
  for (std::size_t i = 0; i < count; ++i) rows[i] = static_cast<std::uint32_t>(i);
  return rows;
}

void push_names(ArrowTable& table, const GrowthReport& report, std::span<const std::uint32_t> rows,
                std::span<const RestRow> rest) {
  StackColumns stacks(report);
  if (report.options.by == GroupBy::stack) {
    stacks.read(rows);
  } else {
    for (const std::uint32_t row : rows) stacks.push_key(report.keys[report.rows[row].key]);
  }
  for (const RestRow& one : rest) stacks.push_rest(one.name);
  std::move(stacks).finish(table);
}

void push_numbers(ArrowTable& table, const GrowthReport& report, std::span<const std::uint32_t> rows,
                  std::span<const RestRow> rest) {
  ChangeColumns value, objects;
  ArrowNumbers<double> error;
  ArrowDictionary classes, tiers;
  ArrowValues<std::int32_t> row_class, tier;
  const std::size_t count = rows.size() + rest.size();
  value.reserve(count);
  objects.reserve(count);
  error.reserve(count);
  for (auto* const column : {&row_class, &tier}) column->reserve(count);
  for (const std::uint32_t index : rows) {
    const GrowthRow& row = report.rows[index];
    value.push(row.value);
    objects.push(row.objects, report.has_objects);
    error.push(std::isnan(row.error) ? std::nullopt : std::optional(row.error));
    row_class.push_back(static_cast<std::int32_t>(row.row_class));
    tier.push_back(static_cast<std::int32_t>(row.tier));
  }
  for (const RestRow& row : rest) {
    value.push(row.value);
    objects.push(row.objects, report.has_objects);
    error.push(std::optional<double>());
    row_class.push_back(-1);
    tier.push_back(-1);
  }
  // Numbers of a dictionary are those of the enumerations.
  for (const RowClass one : {RowClass::added, RowClass::gone, RowClass::grew, RowClass::shrank, RowClass::same})
    (void)classes.number(to_text(one));
  for (std::size_t i = 0; i < kMatchTiers; ++i) (void)tiers.number(to_text(static_cast<MatchTier>(i)));
  std::move(value).finish(table, "", false);
  std::move(objects).finish(table, "objects_", true);
  table.push_back(std::move(error).finish("error", true));
  table.push_back(dictionary_column("class", std::move(row_class), std::move(classes).finish(), true));
  table.push_back(dictionary_column("matched", std::move(tier), std::move(tiers).finish(), true));
}

}  // namespace

ArrowTable rows_table(const GrowthReport& report, const TrendReport* trend) {
  const bool in_own_order = trend == nullptr || trend->order.size() != report.rows.size();
  const std::vector<std::uint32_t> order = in_own_order ? all_rows(report.rows.size()) : trend->order;
  const std::vector<RestRow> rest = rest_rows(report);
  ArrowTable table, numbers;
  for_each_parallel(2, order.size(), [&](std::size_t half) {
    half == 0 ? push_names(table, report, order, rest) : push_numbers(numbers, report, order, rest);
  });
  std::move(numbers.begin(), numbers.end(), std::back_inserter(table));
  if (trend == nullptr || trend->verdicts.size() != report.rows.size()) return table;
  push_verdicts(table, order, trend->verdicts, rest.size());
  table.push_back(values_column(report, order, rest.size()));
  return table;
}

}  // namespace snapdiff::library
