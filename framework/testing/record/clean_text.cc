// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/record/clean_text.h"

#include <algorithm>
#include <cstdint>

#include "framework/core/text.h"

namespace assay::record {
namespace {

bool IsPlain(char c) {
  return (c >= ' ' && c <= '~') || c == '\n' || c == '\t';
}

/// Bytes of the character that `text` begins with; 0 when it is none that XML
/// can hold: The Unicode Standard, table 3-7; XML 1.0, production 2.
size_t CharacterLength(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) return IsPlain(text.front()) ? 1 : 0;
  size_t length = 0;
  if (first >= 0xC2 && first <= 0xDF) length = 2;
  if (first >= 0xE0 && first <= 0xEF) length = 3;
  if (first >= 0xF0 && first <= 0xF4) length = 4;
  if (length == 0 || text.size() < length) return 0;
  uint32_t code = first & (0xFFU >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0U) != 0x80U) return 0;
    code = code << 6U | (byte & 0x3FU);
  }
  const bool overlong = (length == 3 && code < 0x800) ||
                        (length == 4 && (code < 0x10000 || code > 0x10FFFF));
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return overlong || surrogate || code == 0xFFFE || code == 0xFFFF ? 0 : length;
}

}  // namespace

std::string CleanText(std::string_view text) {
  if (text.size() <= kMostText && std::ranges::all_of(text, IsPlain)) {
    return std::string(text);
  }
  const std::string note = text.size() > kMostText
                               ? StrCat(" [cut, of ", text.size(), " bytes]")
                               : std::string();
  std::string clean;
  for (size_t at = 0; at < text.size();) {
    const size_t length = CharacterLength(text.substr(at, 4));
    const size_t added = std::max<size_t>(length, 1);
    if (clean.size() + added > kMostText - note.size()) break;
    clean += length == 0 ? "?" : text.substr(at, length);
    at += added;
  }
  return clean + note;
}

Status CheckPath(const std::filesystem::path& path) {
  const std::string clean = CleanText(path.native());
  if (clean == path.native()) return OkStatus();
  return InvalidArgument("found the path '", clean,
                         "' with a '?' for each byte that is no text in UTF-8:"
                         " give it another name");
}

}  // namespace assay::record
