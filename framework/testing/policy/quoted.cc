// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/policy/quoted.h"

namespace assay::policy {

std::optional<std::string> TakeQuoted(std::string_view text, size_t* position) {
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
