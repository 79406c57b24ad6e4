#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/render/paint/style.hpp"
#include "snapdiff/result.hpp"

typedef struct _cairo cairo_t;

namespace snapdiff::render {

/// Measures and sets text. Every text it is given must be printable(). One per document; not for
/// several threads at once.
class Typesetter {
 public:
  /// Errors: io, when no font is installed.
  static Result<std::unique_ptr<Typesetter>> make();
  ~Typesetter();
  Typesetter(const Typesetter&) = delete;
  Typesetter& operator=(const Typesetter&) = delete;

  double width(std::string_view text, const TextStyle& style);
  /// `text`; where it is wider than `width` without its template arguments, then with an ellipsis for its middle.
  std::string fit_middle(std::string_view text, const TextStyle& style, double width);
  /// The same at its end.
  std::string fit_end(std::string_view text, const TextStyle& style, double width);
  /// Sets one line with its baseline at the current point.
  void show(cairo_t* context, std::string_view text, const TextStyle& style);

  /// "no font for Thai (U+0E01): shown as boxes" of what was set so far; "" where nothing was missing.
  std::string missing_note() const;

  /// "Inter", or what replaces it.
  const std::string& sans() const;
  const std::string& mono() const;
  /// Point size really used for a nominal one: a wide stand-in is set smaller.
  double real_size(double size) const;

 private:
  struct Parts;
  explicit Typesetter(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace snapdiff::render
