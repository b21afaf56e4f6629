// SPDX-License-Identifier: Apache-2.0
//
// LineScanner: takes one line of a file of sentences apart, word after word.
// Text in double quotes has a backslash before a quote or a backslash that is
// meant, in queries too.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "framework/core/status.h"

namespace assay::policy {

/// True for the characters that separate words.
inline bool IsBlank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/// The text in the quotes that open at text[*position]; moves behind them.
/// Nothing when they are not closed.
inline std::optional<std::string> TakeQuoted(std::string_view text,
                                             size_t* position) {
  std::string held;
  for (size_t i = *position + 1; i < text.size(); ++i) {
    if (text[i] == '"') {
      *position = i + 1;
      return held;
    }
    const bool escaped = text[i] == '\\' && i + 1 < text.size() &&
                         (text[i + 1] == '"' || text[i + 1] == '\\');
    if (escaped) ++i;
    held += text[i];
  }
  return std::nullopt;
}

class LineScanner {
 public:
  explicit LineScanner(std::string_view line) : line_(line) { Skip(); }

  bool AtEnd() const { return position_ == line_.size(); }

  /// The next word, up to a blank; empty at the end.
  std::string_view Word() {
    const std::string_view word = Peek();
    position_ += word.size();
    Skip();
    return word;
  }

  bool Take(std::string_view word) {
    if (Peek() != word) return false;
    static_cast<void>(Word());
    return true;
  }

  Status Expect(std::string_view word) {
    if (Take(word)) return OkStatus();
    return Wanted(word);
  }

  /// The text up to a word that stands outside quotes, or up to the end.
  std::string_view Until(std::string_view word) {
    const size_t begin = position_;
    size_t end = begin;
    while (!AtEnd() && Peek() != word) {
      SkipWord();
      end = position_;
      Skip();
    }
    return line_.substr(begin, end - begin);
  }

  /// The text in quotes at the position.
  Result<std::string> Quoted(std::string_view wanted) {
    if (AtEnd() || line_[position_] != '"') return Wanted(wanted);
    auto held = TakeQuoted(line_, &position_);
    if (!held.has_value()) {
      return InvalidArgument("the quote of ", wanted, " is not closed");
    }
    Skip();
    return *std::move(held);
  }

  Status Wanted(std::string_view wanted) const {
    return InvalidArgument("found ",
                           AtEnd() ? "the end" : StrCat("'", Peek(), "'"),
                           ", wanted ", wanted);
  }

 private:
  std::string_view Peek() const {
    size_t end = position_;
    while (end < line_.size() && !IsBlank(line_[end])) ++end;
    return line_.substr(position_, end - position_);
  }

  void Skip() {
    while (!AtEnd() && IsBlank(line_[position_])) ++position_;
  }

  /// Passes a word whose blanks may be in quotes.
  void SkipWord() {
    while (!AtEnd() && !IsBlank(line_[position_])) {
      // The query parser reports a quote that is not closed.
      if (line_[position_] != '"' || !TakeQuoted(line_, &position_)) {
        ++position_;
      }
    }
  }

  std::string_view line_;
  size_t position_ = 0;
};

}  // namespace assay::policy
