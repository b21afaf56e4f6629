// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/conformance.h"

#include <map>
#include <set>

#include "framework/testing/outcome.h"

namespace assay::inline v1 {

Conformance ConformanceOf(const Plan& plan, const BackendUse& backend,
                          const std::vector<Record>& final, bool complete) {
  Conformance word{backend.instance, "not conformant", {}};
  std::map<Outcome, int64_t> inside;
  int64_t claimed = 0;
  std::set<std::string> ids;
  for (const PlanRow& row : plan.rows) {
    if (row.backend == backend.instance && row.claimed) ids.insert(row.test_id);
  }
  for (const Record& record : final) {
    if (record.result.backend != backend.instance ||
        ids.count(record.result.test_id) == 0) {
      continue;
    }
    ++claimed;
    ++inside[ParseOutcome(record.result.outcome).value_or(Outcome::kError)];
  }
  const int64_t good = inside[Outcome::kPass] + inside[Outcome::kWaived];
  if (plan.Partial() || !complete) {
    word.verdict = "partial";
    word.reason = "a filtered or unfinished run says nothing on conformance";
  } else if (backend.claims.empty() || claimed == 0) {
    word.reason = "it claims nothing";
  } else if (good < claimed) {
    word.reason = StrCat(claimed - good, " of ", claimed,
                         " cases inside its claims do not pass");
  } else {
    const int64_t waived = inside[Outcome::kWaived];
    word.verdict = waived > 0 ? "conformant with waivers" : "conformant";
    word.reason = StrCat("all ", claimed, " cases inside its claims pass",
                         waived > 0 ? StrCat(", ", waived, " waived") : "",
                         "; the harness is not assessed: no mutants.csv of "
                         "this build");
  }
  return word;
}

}  // namespace assay::inline v1
