// SPDX-License-Identifier: Apache-2.0
//
// Text pieces joined into one string, for messages that carry values.
//
//   return InvalidArgument("axis ", axis, " is outside [", -rank, ", ", rank,
//                          ")");

#ifndef ASSAY_CORE_TEXT_H_
#define ASSAY_CORE_TEXT_H_

#include <concepts>
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

}  // namespace assay::inline v1

#endif  // ASSAY_CORE_TEXT_H_
