// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/case/test_id.h"

#include <algorithm>

namespace assay::cases {

bool IsTestId(std::string_view text) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') ||
           std::string_view("_.#+-/").find(c) != std::string_view::npos;
  };
  return std::ranges::all_of(text, allowed) &&
         std::ranges::count(text, '/') == 2 && !text.starts_with('/') &&
         !text.ends_with('/') && text.find("//") == std::string_view::npos;
}

std::string_view CaseOfTwin(std::string_view test_id) {
  constexpr std::string_view kMark = "_expanded";
  return test_id.substr(
      0, test_id.size() - (test_id.ends_with(kMark) ? kMark.size() : 0));
}

}  // namespace assay::cases
