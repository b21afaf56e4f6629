// SPDX-License-Identifier: Apache-2.0
//
// Text pieces joined into one string, for messages that carry values; and parts
// taken off a text.
//
//   return InvalidArgument("axis ", axis, " is outside [", -rank, ", ", rank,
//                          ")");

#pragma once

#include <algorithm>
#include <concepts>
#include <functional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

namespace assay::inline v1 {

/// Joins the printed forms of its arguments; booleans print as true or false.
template <class... Parts>
std::string StrCat(const Parts&... parts) {
  if constexpr ((std::convertible_to<Parts, std::string_view> && ...)) {
    std::string joined;
    (joined.append(static_cast<std::string_view>(parts)), ...);
    return joined;
  } else {
    std::ostringstream out;
    out << std::boolalpha;
    (out << ... << parts);
    return std::move(out).str();
  }
}

/// "a, b": the items, or text_of(item) of each, with a separator between them.
template <class Items, class TextOf = std::identity>
std::string Joined(const Items& items, std::string_view separator = ", ",
                   const TextOf& text_of = {}) {
  std::string text;
  for (std::string_view before; const auto& item : items) {
    text += StrCat(before, std::invoke(text_of, item));
    before = separator;
  }
  return text;
}

/// Takes what is before the separator, by default a line, and the separator off
/// the text; all of it where there is none.
inline std::string_view CutFront(std::string_view* text,
                                 std::string_view separator = "\n") {
  const std::string_view front = text->substr(0, text->find(separator));
  text->remove_prefix(std::min(front.size() + separator.size(), text->size()));
  return front;
}

}  // namespace assay::inline v1
