// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/verdict/stability.h"

#include <algorithm>

#include "framework/core/status.h"
#include "framework/testing/record/outcome.h"

namespace assay::verdict {

Stability StabilityOf(std::span<const record::ResultRow> repeats) {
  if (repeats.empty()) return {};
  int alone = 0;
  int passed_alone = 0;
  int passed = 0;
  const record::ResultRow* spoiled = nullptr;
  for (const record::ResultRow& row : repeats) {
    const bool passes = row.outcome == record::Outcome::kPass;
    passed += passes ? 1 : 0;
    if (row.after.empty()) {
      ++alone;
      passed_alone += passes ? 1 : 0;
    } else if (!passes) {
      spoiled = &row;
    }
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
