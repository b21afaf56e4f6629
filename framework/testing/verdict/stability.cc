// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/verdict/stability.h"

#include <algorithm>

#include "framework/core/status.h"

namespace assay::verdict {

Stability StabilityOf(record::Outcome first,
                      std::span<const record::ResultRow> repeats) {
  if (repeats.empty()) return {};
  int alone = 0;
  int passed_alone = 0;
  int passed = 0;
  int crashed_alone = 0;
  const record::ResultRow* last_alone = nullptr;
  const record::ResultRow* spoiled = nullptr;
  for (const record::ResultRow& row : repeats) {
    const bool passes = row.outcome == record::Outcome::kPass;
    passed += passes ? 1 : 0;
    if (row.after.empty()) {
      ++alone;
      passed_alone += passes ? 1 : 0;
      crashed_alone += row.outcome == record::Outcome::kCrash ? 1 : 0;
      last_alone = &row;
    } else if (!passes) {
      spoiled = &row;
    }
  }
  if (passed == 0 && first == record::Outcome::kCrash && crashed_alone == 0 &&
      last_alone != nullptr) {
    const auto same = std::ranges::count_if(repeats, [&](const auto& row) {
      return row.after.empty() && row.outcome == last_alone->outcome;
    });
    return {Stability::Kind::kCrashesBehind,
            StrCat("crashes behind other cases only: alone ",
                   last_alone->outcome, " ", same, " of ", alone, " times",
                   spoiled != nullptr && spoiled->outcome == first
                       ? StrCat(", crash after ", spoiled->after)
                       : std::string()),
            last_alone};
  }
  if (passed == 0) {
    return {Stability::Kind::kDeterministic,
            StrCat("no pass in ", alone + 1, " attempts")};
  }
  if (spoiled != nullptr && passed_alone == alone) {
    return {
        Stability::Kind::kOrderDependent,
        StrCat("order-dependent: passes alone ", passed_alone, " of ", alone,
               " times, ", spoiled->outcome, " after ", spoiled->after)};
  }
  return {Stability::Kind::kFlaky, StrCat("flaky: passes ", passed, " of ",
                                          repeats.size() + 1, " times")};
}

}  // namespace assay::verdict
