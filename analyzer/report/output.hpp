#pragma once

#include <cstddef>
#include <string>

#include "analyzer/report/report.hpp"

namespace snapdiff::report {

/// Collects text and hands it on in pieces of about a MiB.
class Output {
 public:
  explicit Output(const Sink& sink) : sink_(sink) { text_.reserve(kPiece + kPiece / 8); }
  ~Output() { flush(); }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  std::string& text() { return text_; }

  /// Call between rows.
  void row_done() {
    if (text_.size() >= kPiece) flush();
  }

 private:
  static constexpr std::size_t kPiece = std::size_t{1} << 20;
  void flush() {
    if (!text_.empty()) sink_(text_);
    text_.clear();
  }

  const Sink& sink_;
  std::string text_;
};

}  // namespace snapdiff::report
