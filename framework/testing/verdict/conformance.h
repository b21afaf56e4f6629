// SPDX-License-Identifier: Apache-2.0
//
// The verdict on a backend's claims: conformant, conformant with waivers, or
// not. It is printed and stored; it never changes an exit code.
//
//   for (const plan::BackendUse& backend : plan.backends) {
//     words.push_back(ConformanceOf(
//         plan, backend, {final, unexpected, kills, complete}));
//   }

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "framework/testing/plan/plan.h"
#include "framework/testing/record/record.h"
#include "framework/testing/verdict/mutants_table.h"
#include "framework/testing/verdict/unexpected.h"

namespace assay::verdict {

struct Conformance {
  std::string backend;
  // conformant, conformant with waivers, not conformant, or partial
  std::string verdict;
  std::string reason;
  int64_t n_planned = 0;
  int64_t n_claimed = 0;
  std::vector<std::string> waived;  // test_ids inside the claims
};

/// What a run found, of all backends.
struct Findings {
  const std::vector<record::Record>& final;  // verdicts
  const std::vector<Unexpected>& unexpected;
  const MutantKills& kills;
  bool complete = false;  // every planned case has a verdict
};

/// Partial: the plan left something out. Conformant: there are claims, every
/// case inside them passes, not all of them are vacuous, the inputs of some are
/// drawn for the run, so that their answers cannot be looked up, a backend that
/// claims to be deterministic gave one result, nothing of the backend was
/// unexpected, outside its claims either, and no mutant of this build's harness
/// survived. The reason says over how many cases and operators, and when the
/// harness is not assessed.
Conformance ConformanceOf(const plan::Plan& plan,
                          const plan::BackendUse& backend,
                          const Findings& findings);

}  // namespace assay::verdict
