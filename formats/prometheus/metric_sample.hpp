#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "formats/text/quantity.hpp"
#include "snapdiff/snapshot.hpp"

namespace snapdiff::formats::prometheus {

/// A line of the text form: `go_memstats_alloc_bytes{instance="a"} 2.2e+07 1700000000000`. Views into it.
struct SampleLine {
  std::string_view name;
  std::string_view labels;  ///< between the braces
  std::string_view value;
  std::optional<std::int64_t> time_ms;
};
std::optional<SampleLine> sample_of(std::string_view line);

/// `a="x",b="y"` as a counter's name has them: `{a=x,b=y}`; "" for none.
std::string labels_text(std::string_view labels);

/// What # TYPE says of a metric; `unknown` without it.
enum class MetricType : std::uint8_t { unknown, gauge, counter, spread };

/// The counter of a metric, `name` being its own and `labels` as labels_text() has them. Nothing where it says nothing
/// about what is held: times, shares, distributions, events that are not bytes.
std::optional<Counter> counter_of(std::string_view name, std::string_view labels, std::string_view value,
                                  MetricType type);

}  // namespace snapdiff::formats::prometheus
