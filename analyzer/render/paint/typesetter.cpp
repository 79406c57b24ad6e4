#include "analyzer/render/paint/typesetter.hpp"

#include <pango/pangocairo.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <unordered_map>

#include "analyzer/base/printable.hpp"
#include "analyzer/render/paint/text.hpp"

namespace snapdiff::render {
namespace {

struct Unref {
  void operator()(gpointer object) const { g_object_unref(object); }
};
struct FreeFont {
  void operator()(PangoFontDescription* font) const { pango_font_description_free(font); }
};
struct FreeAttributes {
  void operator()(PangoAttrList* list) const { pango_attr_list_unref(list); }
};
struct FreeOptions {
  void operator()(cairo_font_options_t* options) const { cairo_font_options_destroy(options); }
};

PangoWeight pango_weight(FontWeight weight) {
  switch (weight) {
    case FontWeight::regular: return PANGO_WEIGHT_NORMAL;
    case FontWeight::medium: return PANGO_WEIGHT_MEDIUM;
    case FontWeight::semibold: return PANGO_WEIGHT_SEMIBOLD;
    case FontWeight::bold: return PANGO_WEIGHT_BOLD;
  }
  return PANGO_WEIGHT_NORMAL;
}

/// Widest text any page can use; a broken font must not blow the layout up.
constexpr double kMaxWidth = 20000;

/// DejaVu Sans runs about 12 % wider than Inter at the same size; the columns are made for Inter.
constexpr double kStandInScale = 0.9;

std::string first_of(const std::vector<std::string>& installed, std::initializer_list<const char*> wanted) {
  for (const char* name : wanted) {
    if (std::ranges::binary_search(installed, name)) return name;
  }
  return installed.front();
}

}  // namespace

struct Typesetter::Parts {
  std::unique_ptr<PangoFontMap, Unref> fonts;
  std::unique_ptr<PangoContext, Unref> context;
  std::string sans, mono;
  double scale = 1;

  /// One layout per style, reused: making them is most of the cost of a short text.
  struct Style {
    std::unique_ptr<PangoLayout, Unref> layout;
    std::unordered_map<std::string, double> widths;
  };
  std::unordered_map<std::string, Style> styles;

  Style& style(const TextStyle& wanted) {
    char key[96] = {};
    std::snprintf(key, sizeof key, "%.3f %d %d %d %.3f", wanted.size, static_cast<int>(wanted.weight),
                  wanted.mono ? 1 : 0, wanted.italic ? 1 : 0, wanted.track);
    Style& found = styles[key];
    if (found.layout != nullptr) return found;
    found.layout.reset(pango_layout_new(context.get()));
    const std::unique_ptr<PangoFontDescription, FreeFont> font(pango_font_description_new());
    pango_font_description_set_family(font.get(), (wanted.mono ? mono : sans).c_str());
    pango_font_description_set_absolute_size(font.get(), wanted.size * scale * PANGO_SCALE);
    pango_font_description_set_weight(font.get(), pango_weight(wanted.weight));
    if (wanted.italic) pango_font_description_set_style(font.get(), PANGO_STYLE_ITALIC);
    pango_layout_set_font_description(found.layout.get(), font.get());
    const std::unique_ptr<PangoAttrList, FreeAttributes> attributes(pango_attr_list_new());
    pango_attr_list_insert(attributes.get(), pango_attr_font_features_new("tnum=1, calt=0"));
    if (wanted.track != 0)
      pango_attr_list_insert(attributes.get(),
                             pango_attr_letter_spacing_new(static_cast<int>(wanted.track * PANGO_SCALE)));
    pango_layout_set_attributes(found.layout.get(), attributes.get());
    pango_layout_set_single_paragraph_mode(found.layout.get(), TRUE);
    // A name in Arabic or Hebrew keeps its place in the line: the page reads from left to right.
    pango_layout_set_auto_dir(found.layout.get(), FALSE);
    return found;
  }

  std::map<std::string, std::uint32_t>
      missing;  ///< by script, as ISO 15924 calls it: the first code point without a glyph

  static bool lacks_glyphs(Style& style, std::string_view text) {
    const bool ascii = std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    if (ascii) return false;
    set(style, text);
    return pango_layout_get_unknown_glyphs_count(style.layout.get()) > 0;
  }

  /// Which of its code points are the ones.
  void note_missing(Style& style, std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
      const CodePoint code = decode_utf8(text, i);
      const std::size_t length = std::max<std::size_t>(1, code.length);
      const std::uint32_t name = g_unicode_script_to_iso15924(g_unichar_get_script(code.value));
      std::string script;
      for (const int shift : {24, 16, 8, 0}) script += static_cast<char>(name >> shift & 0xff);
      if (missing.count(script) == 0 && lacks_glyphs(style, text.substr(i, length)))
        missing.emplace(script, code.value);
      i += length;
    }
  }

  static PangoLayoutLine* set(Style& style, std::string_view text) {
    const std::string marked = left_to_right(text);
    pango_layout_set_text(style.layout.get(), marked.data(), static_cast<int>(marked.size()));
    return pango_layout_get_line_readonly(style.layout.get(), 0);
  }
};

Typesetter::Typesetter(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Typesetter::~Typesetter() = default;

Result<std::unique_ptr<Typesetter>> Typesetter::make() {
  auto parts = std::make_unique<Parts>();
  parts->fonts.reset(pango_cairo_font_map_new_for_font_type(CAIRO_FONT_TYPE_FT));
  if (parts->fonts == nullptr) return Error{ErrorCode::internal, "no font map for FreeType fonts"};
  pango_cairo_font_map_set_resolution(PANGO_CAIRO_FONT_MAP(parts->fonts.get()), 72);

  // Without a font pango returns absurd sizes, and a layout made from them takes all memory.
  PangoFontFamily** families = nullptr;
  int count = 0;
  pango_font_map_list_families(parts->fonts.get(), &families, &count);
  std::vector<std::string> installed;
  installed.reserve(static_cast<std::size_t>(std::max(count, 0)));
  for (int i = 0; i < count; ++i) installed.emplace_back(pango_font_family_get_name(families[i]));
  g_free(families);
  std::ranges::sort(installed);
  // Aliases such as "Sans" are listed even when nothing is after them.
  std::vector<std::string> real;
  for (const std::string& name : installed) {
    if (name != "Sans" && name != "Serif" && name != "Monospace" && name != "System-ui") real.push_back(name);
  }
  if (real.empty())
    return Error{ErrorCode::io, "no font is installed: expected at least the package fonts-dejavu-core"};

  parts->sans = first_of(real, {"Inter", "DejaVu Sans", "Noto Sans", "Liberation Sans"});
  parts->mono = first_of(real, {"JetBrains Mono", "DejaVu Sans Mono", "Noto Sans Mono", "Liberation Mono"});
  parts->scale = parts->sans == "DejaVu Sans" ? kStandInScale : 1;

  parts->context.reset(pango_font_map_create_context(parts->fonts.get()));
  pango_context_set_base_dir(parts->context.get(), PANGO_DIRECTION_LTR);
  pango_context_set_language(parts->context.get(), pango_language_from_string("en"));
  pango_context_set_round_glyph_positions(parts->context.get(), FALSE);
  const std::unique_ptr<cairo_font_options_t, FreeOptions> options(cairo_font_options_create());
  cairo_font_options_set_hint_style(options.get(), CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_hint_metrics(options.get(), CAIRO_HINT_METRICS_OFF);
  cairo_font_options_set_antialias(options.get(), CAIRO_ANTIALIAS_GRAY);
  pango_cairo_context_set_font_options(parts->context.get(), options.get());
  return std::unique_ptr<Typesetter>(new Typesetter(std::move(parts)));
}

double Typesetter::width(std::string_view text, const TextStyle& style) {
  if (text.empty()) return 0;
  Parts::Style& found = parts_->style(style);
  const auto [entry, fresh] = found.widths.try_emplace(std::string(text), 0.0);
  if (fresh) {
    PangoRectangle logical{};
    pango_layout_line_get_extents(Parts::set(found, text), nullptr, &logical);
    entry->second = std::clamp(static_cast<double>(logical.width) / PANGO_SCALE, 0.0, kMaxWidth);
  }
  return entry->second;
}

namespace {

/// The largest number from `fits` on, which does, and below `too_many`, which does not.
template <class Fits>
std::size_t most_that_fit(std::size_t fits, std::size_t too_many, const Fits& does_fit) {
  while (fits + 1 < too_many) {
    const std::size_t middle = fits + (too_many - fits) / 2;
    (does_fit(middle) ? fits : too_many) = middle;
  }
  return fits;
}

}  // namespace

std::string Typesetter::fit_middle(std::string_view whole, const TextStyle& style, double limit) {
  if (whole.empty() || width(whole, style) <= limit) return std::string(whole);
  std::string text = without_template_arguments(whole);
  if (text != whole && width(text, style) <= limit) return text;
  const std::vector<std::size_t> starts = code_points(text);
  // Of what stays, more than half is the end: the last component of a name says most.
  const auto cut = [&](std::size_t keep) {
    const std::size_t tail = keep - keep * 2 / 5;
    return std::string(text, 0, starts[keep - tail]).append("\u2026").append(text, starts[starts.size() - tail]);
  };
  return cut(most_that_fit(1, starts.size(), [&](std::size_t keep) { return width(cut(keep), style) <= limit; }));
}

std::string Typesetter::fit_end(std::string_view text, const TextStyle& style, double limit) {
  if (text.empty() || width(text, style) <= limit) return std::string(text);
  const std::vector<std::size_t> starts = code_points(text);
  const auto cut = [&](std::size_t keep) {
    std::size_t end = starts[keep];
    while (end > 0 && text[end - 1] == ' ') --end;
    return std::string(text.substr(0, end)).append("\u2026");
  };
  return cut(most_that_fit(0, starts.size(), [&](std::size_t keep) { return width(cut(keep), style) <= limit; }));
}

void Typesetter::show(cairo_t* context, std::string_view text, const TextStyle& style) {
  if (text.empty()) return;
  Parts::Style& found = parts_->style(style);
  if (parts_->lacks_glyphs(found, text)) parts_->note_missing(found, text);
  pango_cairo_show_layout_line(context, Parts::set(found, text));
}

std::string Typesetter::missing_note() const {
  std::string text;
  for (const auto& [script, code] : parts_->missing) {
    char point[16] = {};
    std::snprintf(point, sizeof point, "U+%04X", static_cast<unsigned>(code));
    text.append(text.empty() ? "no font for " : ", ").append(script).append(" (").append(point).append(")");
  }
  return text.empty() ? text : text.append(": shown as boxes");
}

const std::string& Typesetter::sans() const { return parts_->sans; }
const std::string& Typesetter::mono() const { return parts_->mono; }
double Typesetter::real_size(double size) const { return size * parts_->scale; }

}  // namespace snapdiff::render
