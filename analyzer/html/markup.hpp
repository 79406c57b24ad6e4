#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analyzer/base/markup_text.hpp"
#include "analyzer/base/number_text.hpp"
#include "analyzer/base/words.hpp"
#include "snapdiff/postmortem.hpp"

/// Text of unknown origin made safe for HTML, and numbers as the page writes them.
namespace snapdiff::html {

/// Minus sign, thin space between thousands, no-break space before units.
inline constexpr NumberGlyphs kGlyphs{"\u2212", "\u2009", "\u00a0"};

/// Raw bytes out of inputs, for text and for quoted attributes: what cannot be shown as \xNN, then
/// entities.
std::string safe(std::string_view bytes);

/// A string of JSON that cannot end the script element it is in.
std::string json_string(std::string_view bytes);

/// Spans in order; names as <code>.
std::string prose(const Prose& text);

/// The same without markup.
std::string plain(const Prose& text);

/// Most of a text that a page keeps: longer ones lose their middle, printable.
std::string bounded(std::string_view bytes, std::size_t most);

/// A value in its unit, as "1.02&nbsp;MiB".
std::string value(std::int64_t v, std::string_view unit);
std::string growth(std::int64_t v, std::string_view unit);

/// "up", "down" or "": the class of a growth.
std::string_view direction(std::int64_t growth);

/// "12&nbsp;snapshots".
inline std::string counted(std::size_t count, std::string_view what) { return snapdiff::counted(count, what, kGlyphs); }

/// "2026-11-21 23:49:03 UTC" of nanoseconds since 1970.
inline std::string utc(std::int64_t nanoseconds) { return utc_text(nanoseconds) + " UTC"; }

/// "In-use bytes" for inuse_space; other metrics by their own name, escaped.
std::string metric_title(std::string_view metric);

}  // namespace snapdiff::html
