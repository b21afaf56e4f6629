// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/record/clean_text.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "framework/core/text.h"

namespace assay::record {
namespace {

bool IsPlain(char c) {
  return (c >= ' ' && c <= '~') || c == '\n' || c == '\t';
}

/// The first codes that need two, three and four bytes.
constexpr auto kLeastCodes = std::to_array<uint32_t>({0x80, 0x800, 0x10000});

/// Bytes of the character that `text` begins with; 0 when it is none that XML
/// can hold: The Unicode Standard, table 3-7; XML 1.0, production 2.
size_t CharacterLength(std::string_view text) {
  if (IsPlain(text.front())) return 1;
  const auto first = static_cast<unsigned char>(text.front());
  const auto length = static_cast<size_t>(std::countl_one(first));
  if (length < 2 || length > 4 || text.size() < length) return 0;
  uint32_t code = first & (0xFFU >> length);
  for (size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0U) != 0x80U) return 0;
    code = code << 6U | (byte & 0x3FU);
  }
  const bool overlong = code < kLeastCodes.at(length - 2);
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  const bool in_xml = code != 0xFFFE && code != 0xFFFF && code <= 0x10FFFF;
  const bool control = code < 0xA0;  // as CSI, which steers terminals
  return !overlong && !surrogate && in_xml && !control ? length : 0;
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
    const size_t length = CharacterLength(text.substr(at));
    const size_t added = std::max<size_t>(length, 1);
    if (clean.size() + added > kMostText - note.size()) break;
    clean += length == 0 ? "?" : text.substr(at, length);
    at += added;
  }
  return clean + note;
}

std::string OneLine(std::string_view text, size_t most) {
  std::string line(text);
  std::ranges::replace_if(
      line, [](char c) { return c == '\n' || c == '\t'; }, ' ');
  if (line.size() <= most) return line;
  // As long as the longest note that there may be.
  const size_t note = StrCat(" [", line.size(), " bytes left out]").size();
  size_t end = most > note ? most - note : 0;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0U) == 0x80U) {
    --end;
  }
  return StrCat(line.substr(0, end), " [", line.size() - end,
                " bytes left out]");
}

Status CheckPath(const std::filesystem::path& path) {
  const std::string clean = CleanText(path.native());
  if (clean == path.native()) return OkStatus();
  return InvalidArgument("found the path '", clean,
                         "' with a '?' for each byte that is no text in UTF-8:"
                         " give it another name");
}

}  // namespace assay::record
