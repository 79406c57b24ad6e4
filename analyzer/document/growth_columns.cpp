#include "analyzer/document/growth_columns.hpp"

#include <array>

// The columns of the table of growth. A new column is declared here, and named in each list below that shall have it.

namespace snapdiff::document {
namespace {

bool grouped(const GrowthView& view) { return view.grouped(); }
bool of_stacks(const GrowthView& view) { return !view.grouped(); }
bool narrow_error(const GrowthView& view) { return of_stacks(view) && view.report.has_error && !view.wide; }
bool no_narrow_error(const GrowthView& view) { return !narrow_error(view); }
bool series_shown(const GrowthView& view) { return of_stacks(view) && view.wide && view.report.series_length > 1; }
bool room_for_sites(const GrowthView& view) { return of_stacks(view) && view.wide && !series_shown(view); }
bool printed_series(const GrowthView& view) { return view.wide && view.report.series_length > 2; }
bool counts_of_objects(const GrowthView& view) { return view.report.has_objects; }
bool objects_beside(const GrowthView& view) { return view.report.has_objects && !narrow_error(view); }
bool has_instances(const GrowthView& view) { return !view.report.instances.empty(); }
bool has_verdicts(const GrowthView& view) { return view.trend != nullptr || !view.verdicts.empty(); }
bool judged_series(const GrowthView& view) { return series_shown(view) && has_verdicts(view); }
bool has_no_verdicts(const GrowthView& view) { return !has_verdicts(view); }
bool has_scenario(const GrowthView& view) { return view.trend != nullptr && view.trend->scenario.has_value(); }
bool fitted(const GrowthView& view) { return !has_scenario(view); }
bool judged(const GrowthView& view) { return view.judged() && fitted(view); }
bool round_trips(const GrowthView& view) {
  return has_scenario(view) && view.trend->scenario->kind == Scenario::Kind::round_trips;
}

Cell amount(const std::optional<std::int64_t>& value) { return value ? Cell(Amount{*value}) : Cell(Missing::blank); }

/// Of the rows alone: a figure of the verdict, blank where people would read nothing out of it.
template <class CellOf>
Cell of_fit(const GrowthLine& line, const CellOf& cell_of) {
  const Verdict* const verdict = line.verdict();
  if (verdict == nullptr) return Missing::blank;
  const bool level = verdict->minor || ((verdict->word.empty() || verdict->word == "FLAT") && verdict->slope == 0);
  return line.view.for_people && level ? Cell(Missing::blank) : Cell(cell_of(*verdict));
}

/// Counts of objects on a side of a line.
template <class CountOf>
Cell objects(const GrowthLine& line, const CountOf& count_of, bool with_sign) {
  if (!line.view.report.has_objects) return Missing::unknown;
  if (line.kind == GrowthLine::Kind::listed_once) return Missing::blank;
  if (!line.view.cumulative_leads) return Count{count_of(line.objects), with_sign};
  if (line.kind == GrowthLine::Kind::rest) return Missing::blank;
  return Count{count_of(line.is_row() ? line.view.report.cumulative[line.number].objects : line.objects), with_sign};
}

Cell stack(const GrowthLine& line, StackRef of) {
  line.view.report.view->frames(of, line.view.frames);
  return Stack{line.view.frames};
}

const Counterpart* counterpart(const GrowthLine& line) {
  return line.is_row() ? line.view.report.counterpart(line.row().key) : nullptr;
}

std::string_view tag_of(RowClass row_class) {
  switch (row_class) {
    case RowClass::added: return "[NEW]";
    case RowClass::gone: return "[DEL]";
    case RowClass::same: return "[ = ]";
    case RowClass::grew:
    case RowClass::shrank: break;
  }
  return {};
}

/// A function is new or gone by all that it calls too.
std::string_view tag_of(const CumulativeChange& all) {
  if (all.value.growth() == 0) return all.grew == 0 && all.shrank == 0 ? "[ = ]" : "";
  return all.value.baseline == 0 ? "[NEW]" : all.value.current == 0 ? "[DEL]" : "";
}

/// The value of a line last, as it is the longest part.
constexpr GrowthColumn made(std::string_view key, std::string_view title, std::string_view type,
                            std::string_view meaning, const GrowthColumn::Traits& traits,
                            Cell (*cell)(const GrowthLine&)) {
  return {key, title, type, meaning, cell, traits};
}

// The row itself.
constexpr GrowthColumn kClass = made("class", "class", "class", "", {}, [](const GrowthLine& line) -> Cell {
  if (line.kind == GrowthLine::Kind::listed_once) return Word{"unknown"};
  return line.is_row() ? Cell(Word{to_text(line.row().row_class)}) : Cell(Missing::blank);
});
constexpr GrowthColumn kTag = made("", "", "", "", {}, [](const GrowthLine& line) -> Cell {
  if (!line.is_row()) return Word{line.tag};
  const GrowthView& view = line.view;
  return Word{view.grouped() ? tag_of(view.report.cumulative[line.number]) : tag_of(line.row().row_class)};
});
constexpr GrowthColumn kTier = made("tier", "", "tier", "the weakest by which a part of the row was matched", {},
                                    [](const GrowthLine& line) -> Cell {
                                      return line.is_row() ? Cell(Word{to_text(line.row().tier)}) : Missing::blank;
                                    });
constexpr GrowthColumn kStack =
    made("stack", "stack (leaf first)", "[frame]", "leaf first", {.rows = RowsOf::stacks, .csv = CsvShape::stack},
         [](const GrowthLine& line) -> Cell {
           if (line.kind == GrowthLine::Kind::rest) return Text{line.name};
           const GrowthReport& report = line.view.report;
           if (!line.is_row()) return stack(line, report.listed_once[line.number].stack);
           report.frames(line.row(), line.view.frames);
           return Stack{line.view.frames};
         });
constexpr GrowthColumn kKey = made("key", "", "text", "", {.rows = RowsOf::groups}, [](const GrowthLine& line) -> Cell {
  if (line.kind == GrowthLine::Kind::rest) return Text{line.name};
  const GrowthReport& report = line.view.report;
  if (!line.is_row()) return stack(line, report.listed_once[line.number].stack);
  return Text{report.keys[line.row().key]};
});
constexpr GrowthColumn kBaselineStack =
    made("baseline_stack", "", "[frame]",
         "where the row was matched across builds: the stack as the baseline calls it, leaf first",
         {.rows = RowsOf::stacks}, [](const GrowthLine& line) -> Cell {
           const Counterpart* const found = counterpart(line);
           return found == nullptr ? Cell(Missing::absent) : stack(line, found->before);
         });
constexpr GrowthColumn kStacks =
    made("stacks", "", "matched_stacks", "how many stacks of each side such a row stands for", {.rows = RowsOf::stacks},
         [](const GrowthLine& line) -> Cell {
           const Counterpart* const found = counterpart(line);
           if (found == nullptr) return Missing::absent;
           return Stacks{found->stacks_before, found->stacks_after};
         });
constexpr GrowthColumn kSite = made("", "allocated at", "", "", {}, [](const GrowthLine& line) -> Cell {
  if (!line.is_row()) return Missing::blank;
  line.view.report.frames(line.row(), line.view.frames);
  return Site{line.view.frames};
});
constexpr GrowthColumn kInstances =
    made("instances", "grew on", "instances",
         "of a fleet: on how many instances it grew and shrank, of those there at both ends", {.when = has_instances},
         [](const GrowthLine& line) -> Cell {
           return line.is_row() ? Cell(line.view.report.instances[line.number]) : Cell(Missing::blank);
         });

// Its amounts.
constexpr GrowthColumn kBaseline =
    made("baseline", "before", "integer", "", {.of_total = true}, [](const GrowthLine& line) -> Cell {
      if (line.kind == GrowthLine::Kind::listed_once)
        return amount(known_baseline(line.view.report.listed_once[line.number]));
      const std::optional<Change> leading = line.leading();
      return leading ? Cell(Amount{leading->baseline}) : Cell(Missing::blank);
    });
constexpr GrowthColumn kCurrent =
    made("current", "after", "integer", "", {.of_total = true}, [](const GrowthLine& line) -> Cell {
      if (line.kind == GrowthLine::Kind::listed_once)
        return amount(known_current(line.view.report.listed_once[line.number], line.view.report));
      const std::optional<Change> leading = line.leading();
      return leading ? Cell(Amount{leading->current}) : Cell(Missing::blank);
    });
constexpr GrowthColumn kGrowth =
    made("growth", "growth", "integer", "", {.of_total = true}, [](const GrowthLine& line) -> Cell {
      if (line.kind == GrowthLine::Kind::listed_once) return Missing::blank;
      return Growth{line.value.growth()};
    });
constexpr GrowthColumn kShare = made("", "share", "", "", {}, [](const GrowthLine& line) -> Cell {
  const std::int64_t growth = line.value.growth();
  const std::int64_t all = line.view.report.grew;
  return line.is_row() && growth > 0 && all > 0 ? Cell(Share{growth, all}) : Cell(Missing::blank);
});
constexpr GrowthColumn kBaselineObjects =
    made("baseline_objects", "", "integer|null", "", {}, [](const GrowthLine& line) {
      return objects(
          line, [](const Change& all) { return all.baseline; }, false);
    });
constexpr GrowthColumn kCurrentObjects =
    made("current_objects", "", "integer|null", "", {}, [](const GrowthLine& line) {
      return objects(
          line, [](const Change& all) { return all.current; }, false);
    });
constexpr GrowthColumn kGrowthObjects =
    made("growth_objects", "objects", "integer|null", "", {}, [](const GrowthLine& line) {
      return objects(
          line, [](const Change& all) { return all.growth(); }, true);
    });
constexpr GrowthColumn kError = made(
    "error", "±", "number|null", "one standard deviation of the growth by sampling; 0 when exact, null when unknown",
    {}, [](const GrowthLine& line) -> Cell {
      if (!line.error || (!line.is_row() && !line.view.for_people)) return Missing::blank;
      const GrowthReport& report = line.view.report;
      if (!line.view.for_people || report.has_error) return Deviation{*line.error};
      return report.exact ? Cell(Deviation{0}) : Cell(Missing::unknown);
    });
constexpr GrowthColumn kFlat = made("flat", "", "change", "", {.rows = RowsOf::groups, .csv = CsvShape::sides},
                                    [](const GrowthLine& line) -> Cell { return Sides{line.value}; });
constexpr GrowthColumn kCumulative = made(
    "cum", "cum", "change", "", {.rows = RowsOf::groups, .csv = CsvShape::sides}, [](const GrowthLine& line) -> Cell {
      const std::optional<Change> all = line.cumulative();
      if (!all) return Missing::blank;
      return line.view.for_people ? Cell(Growth{all->growth()}) : Cell(Sides{*all});
    });

// Its course over a series.
constexpr GrowthColumn kValues =
    made("values", "1 – N", "[integer|null]", "value at each snapshot of a series; null where no source lists the row",
         {.csv = CsvShape::series, .when = [](const GrowthView& view) { return view.has_series(); }},
         [](const GrowthLine& line) -> Cell {
           const GrowthView& view = line.view;
           if (line.is_row() && !view.has_series()) {
             view.numbers = {line.value.baseline, line.value.current};
             return Series{view.numbers};
           }
           if (line.is_row()) {
             const SeriesValues& series = view.report.series;
             return Series{series.row(line.number, view.numbers), &series, line.number};
           }
           if (line.kind != GrowthLine::Kind::total || view.trend == nullptr) return Missing::blank;
           view.numbers.clear();
           for (const SeriesStep& step : view.trend->series.steps) view.numbers.push_back(step.total);
           return Series{view.numbers};
         });
constexpr GrowthColumn kObjects =
    made("objects", "", "[integer]|null",
         "at each snapshot; null where the input has none, or the row stays below the byte floor", {},
         [](const GrowthLine& line) -> Cell {
           const GrowthReport& report = line.view.report;
           if (line.number >= report.object_place.size()) return Missing::unknown;
           const std::uint32_t place = report.object_place[line.number];
           if (place == GrowthReport::kNoPlace) return Missing::unknown;
           return Series{report.object_series.row(place, line.view.numbers)};
         });
/// One entry that comes and goes would decide the verdict of a total: people are not shown it.
constexpr GrowthColumn kVerdict = made("verdict", "verdict", "verdict|null",
                                       "null below 8 snapshots: rows are ranked, nothing is claimed; null where the "
                                       "row changes by less than the floor",
                                       {.when = has_verdicts, .of_total = true}, [](const GrowthLine& line) -> Cell {
                                         const Verdict* const verdict = line.verdict();
                                         const bool people = line.view.for_people;
                                         if (verdict == nullptr || (people && !line.is_row())) return Missing::blank;
                                         if (people && verdict->minor) return Word{"minor"};
                                         if (verdict->word.empty() || !line.view.judged()) return Missing::blank;
                                         return Word{verdict->word};
                                       });
constexpr GrowthColumn kReason =
    made("reason", "", "text|null", "", {.when = has_verdicts, .of_total = true}, [](const GrowthLine& line) -> Cell {
      const Verdict* const verdict = line.verdict();
      if (verdict == nullptr || verdict->reason.empty()) return Missing::unknown;
      return Text{verdict->reason};
    });
constexpr GrowthColumn kOdds =
    made("p", "p", "number 0..1", "odds of the climbing shapes", {.of_total = true},
         [](const GrowthLine& line) { return of_fit(line, [](const Verdict& verdict) { return Odds{verdict.p}; }); });
constexpr GrowthColumn kSlope = made(
    "slope", "a snapshot", "number|null", "per snapshot, in the metric's unit", {.of_total = true},
    [](const GrowthLine& line) { return of_fit(line, [](const Verdict& verdict) { return Rate{verdict.slope}; }); });
constexpr GrowthColumn kBand = made("", "±", "", "", {}, [](const GrowthLine& line) {
  return of_fit(line, [](const Verdict& verdict) { return Rate{verdict.band(), false}; });
});
constexpr GrowthColumn kSlopeLow =
    made("slope_low", "", "number|null", "95 % band", {.of_total = true}, [](const GrowthLine& line) {
      return of_fit(line, [](const Verdict& verdict) { return Number{verdict.slope_low}; });
    });
constexpr GrowthColumn kSlopeHigh =
    made("slope_high", "", "number|null", "", {.of_total = true}, [](const GrowthLine& line) {
      return of_fit(line, [](const Verdict& verdict) { return Number{verdict.slope_high}; });
    });
constexpr GrowthColumn kSlopePerHour =
    made("slope_per_hour", "an hour", "number|null",
         "null where the snapshots hold no usable times or span less than ten minutes", {.of_total = true},
         [](const GrowthLine& line) {
           return of_fit(line, [&](const Verdict& verdict) {
             const std::optional<double> rate = line.view.trend->axis.per_hour(verdict.slope);
             return rate ? Cell(Rate{*rate}) : Cell(Missing::unknown);
           });
         });
constexpr GrowthColumn kRise = made(
    "rise", "", "number|null", "slope times (snapshots - 1)", {.of_total = true},
    [](const GrowthLine& line) { return of_fit(line, [](const Verdict& verdict) { return Number{verdict.rise}; }); });
constexpr GrowthColumn kByObjects =
    made("by_objects", "", "flag", "verdict and p come from the counts of objects", {.of_total = true},
         [](const GrowthLine& line) {
           return of_fit(line, [](const Verdict& verdict) { return Flag{verdict.by_objects}; });
         });
constexpr GrowthColumn kMinor = made(
    "minor", "", "flag", "changes by less than the floor: no verdict", {.of_total = true},
    [](const GrowthLine& line) { return of_fit(line, [](const Verdict& verdict) { return Flag{verdict.minor}; }); });
constexpr GrowthColumn kDoublings = made(
    "doublings", "", "integer", "jumps that each double the value of equally many objects: a table that resizes",
    {.of_total = true}, [](const GrowthLine& line) {
      return of_fit(line, [](const Verdict& verdict) { return Count{static_cast<std::int64_t>(verdict.doublings)}; });
    });

// The rest that a scenario left.

constexpr GrowthColumn kKept = made("kept", "kept", "integer",
                                    "only with a scenario. round trips: growth; triple: what target and final have "
                                    "beyond the baseline",
                                    {.when = has_scenario}, [](const GrowthLine& line) -> Cell {
                                      if (!line.is_row()) return Missing::blank;
                                      return Growth{line.view.trend->scenario->kept[line.number]};
                                    });
constexpr GrowthColumn kRound = made("", "a round trip", "", "", {}, [](const GrowthLine& line) -> Cell {
  if (!line.is_row()) return Missing::blank;
  return Growth{per_loop(*line.view.trend, line.view.trend->scenario->kept[line.number])};
});
constexpr GrowthColumn kLeast = made("least_objects", "objects a round", "integer|null",
                                     "only with a scenario: objects in the round that left fewest",
                                     {.when = has_scenario}, [](const GrowthLine& line) -> Cell {
                                       if (!line.is_row()) return Missing::blank;
                                       if (!round_trips(line.view)) return Missing::unknown;
                                       return Count{line.view.trend->scenario->least[line.number], false, true};
                                     });

constexpr std::array kDiffFields = std::to_array<GrowthField>({{&kClass},
                                                               {&kBaseline},
                                                               {&kCurrent},
                                                               {&kGrowth},
                                                               {&kBaselineObjects},
                                                               {&kCurrentObjects},
                                                               {&kGrowthObjects},
                                                               {&kError},
                                                               {&kTier},
                                                               {&kInstances, Forms::json, true},
                                                               {&kFlat, Forms::json},
                                                               {&kCumulative},
                                                               {&kKey},
                                                               {&kStack},
                                                               {&kBaselineStack, Forms::json, true},
                                                               {&kStacks, Forms::json, true},
                                                               {&kValues, Forms::all, true},
                                                               {&kVerdict, Forms::all, true},
                                                               {&kReason, Forms::all, true}});

constexpr std::array kTrendFields = std::to_array<GrowthField>({{&kClass},
                                                                {&kBaseline},
                                                                {&kCurrent},
                                                                {&kGrowth},
                                                                {&kSlope},
                                                                {&kSlopeLow},
                                                                {&kSlopeHigh},
                                                                {&kSlopePerHour},
                                                                {&kOdds},
                                                                {&kVerdict},
                                                                {&kReason},
                                                                {&kRise},
                                                                {&kByObjects},
                                                                {&kMinor},
                                                                {&kDoublings},
                                                                {&kInstances, Forms::json, true},
                                                                {&kKept, Forms::all, true},
                                                                {&kLeast, Forms::json, true},
                                                                {&kKey},
                                                                {&kStack},
                                                                {&kValues},
                                                                {&kObjects, Forms::json}});

constexpr std::array kDiffScreen = std::to_array<GrowthPlace>(
    {{.column = &kCumulative, .width = 10, .when = [](const GrowthView& view) { return view.cumulative_leads; }},
     {.column = &kGrowth, .width = 10, .when = of_stacks},
     {.column = &kGrowth, .width = 10, .when = grouped, .title = "flat"},
     {.column = &kCumulative,
      .width = 10,
      .when = [](const GrowthView& view) { return view.grouped() && !view.cumulative_leads; }},
     {.column = &kError, .width = 8, .gap = "±", .when = narrow_error, .title = "error"},
     {.column = &kTag, .width = 5, .right = false, .quiet = true, .if_filled = true},
     {.column = &kBaseline, .width = 8, .gap = "   ", .quiet = true, .when = narrow_error},
     {.column = &kBaseline, .width = 9, .quiet = true, .when = no_narrow_error},
     {.column = &kCurrent, .width = 8, .gap = "→", .quiet = true},
     {.column = &kGrowthObjects, .width = 8, .when = objects_beside},
     {.column = &kError, .width = 4, .gap = "  ", .when = room_for_sites},
     {.column = &kSite,
      .width = 18,
      .gap = "  ",
      .right = false,
      .quiet = true,
      .if_filled = true,
      .when = room_for_sites},
     {.column = &kInstances, .width = 7, .gap = "  ", .when = has_instances},
     {.column = &kValues, .width = 8, .gap = "  ", .right = false, .when = series_shown},
     {.column = &kVerdict, .width = 8, .gap = "  ", .right = false, .when = judged_series}});

constexpr std::array kDiffMarkdown = std::to_array<GrowthPlace>(
    {{.column = &kGrowth, .when = of_stacks},
     {.column = &kGrowth, .when = grouped, .title = "flat"},
     {.column = &kCumulative, .when = grouped},
     {.column = &kBaseline},
     {.column = &kCurrent},
     {.column = &kGrowthObjects, .when = counts_of_objects},
     {.column = &kError, .when = [](const GrowthView& view) { return of_stacks(view) && view.report.has_error; }},
     {.column = &kClass, .right = false},
     {.column = &kVerdict, .right = false, .when = has_verdicts}});

constexpr std::array kPage =
    std::to_array<GrowthPlace>({{.column = &kValues, .if_room = true},
                                {.column = &kGrowth},
                                {.column = &kBaseline, .if_room = true},
                                {.column = &kCurrent},
                                {.column = &kGrowthObjects, .if_room = true},
                                {.column = &kError, .if_room = true},
                                {.column = &kVerdict, .when = has_verdicts},
                                {.column = &kClass, .when = has_no_verdicts, .title = "kind"}});

constexpr std::array kPrint =
    std::to_array<GrowthPlace>({{.column = &kValues, .width = 44, .when = printed_series},
                                {.column = &kGrowth, .width = 66},
                                {.column = &kBaseline, .width = 46},
                                {.column = &kCurrent, .width = 46},
                                {.column = &kGrowthObjects, .width = 38, .when = counts_of_objects},
                                {.column = &kError, .width = 32},
                                {.column = &kVerdict, .width = 60, .when = has_verdicts},
                                {.column = &kClass, .width = 60, .when = has_no_verdicts}});

constexpr std::array kTrendScreen = std::to_array<GrowthPlace>(
    {{.column = &kGrowth, .width = 9},
     {.column = &kShare, .width = 5},
     {.column = &kSlope, .width = 10, .gap = "  ", .when = fitted},
     {.column = &kBand, .width = 8, .when = [](const GrowthView& view) { return fitted(view) && view.wide; }},
     {.column = &kSlopePerHour,
      .width = 9,
      .gap = "  ",
      .when =
          [](const GrowthView& view) { return fitted(view) && view.wide && view.trend->axis.per_hour(0).has_value(); }},
     {.column = &kOdds, .width = 4, .gap = "  ", .when = fitted},
     {.column = &kKept,
      .width = 9,
      .gap = "  ",
      .when = [](const GrowthView& view) { return has_scenario(view) && !round_trips(view); }},
     {.column = &kRound, .width = 9, .gap = "  ", .when = round_trips},
     {.column = &kLeast, .width = 9, .gap = "  ", .when = round_trips},
     {.column = &kValues,
      .width = 6,
      .gap = "  ",
      .right = false,
      .when = [](const GrowthView& view) { return view.wide; }},
     {.column = &kVerdict, .width = 7, .gap = "  ", .right = false, .when = judged},
     {.column = &kInstances, .width = 7, .gap = "  ", .when = [](const GrowthView& view) {
        return has_instances(view) && fitted(view);
      }}});

constexpr std::array kTrendMarkdown =
    std::to_array<GrowthPlace>({{.column = &kGrowth},
                                {.column = &kKept, .when = has_scenario},
                                {.column = &kSlope, .when = fitted},
                                {.column = &kBand, .when = fitted},
                                {.column = &kOdds, .when = fitted},
                                {.column = &kVerdict, .right = false, .when = judged}});

}  // namespace

std::span<const GrowthField> growth_fields(bool of_trend) {
  return of_trend ? std::span<const GrowthField>(kTrendFields) : std::span<const GrowthField>(kDiffFields);
}
std::span<const GrowthPlace> growth_screen(bool of_trend) {
  return of_trend ? std::span<const GrowthPlace>(kTrendScreen) : std::span<const GrowthPlace>(kDiffScreen);
}
std::span<const GrowthPlace> growth_page() { return kPage; }
std::span<const GrowthPlace> growth_print() { return kPrint; }
std::span<const GrowthPlace> growth_markdown(bool of_trend) {
  return of_trend ? std::span<const GrowthPlace>(kTrendMarkdown) : std::span<const GrowthPlace>(kDiffMarkdown);
}

}  // namespace snapdiff::document
