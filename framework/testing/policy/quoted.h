// SPDX-License-Identifier: Apache-2.0
//
// Text in double quotes, as queries and policy files have it: a backslash
// stands before a quote or a backslash that is meant.
//
//   size_t at = 8;                         // because "a \"b\""
//   std::optional<std::string> reason = TakeQuoted(line, &at);   // a "b"

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

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

}  // namespace assay::policy
