// SPDX-License-Identifier: Apache-2.0
//
// The word over a backend's claims: conformant, conformant with waivers, or
// not. It is printed and stored; it never changes an exit code.
//
//   for (const BackendUse& backend : plan.backends) {
//     words.push_back(ConformanceOf(plan, backend, final, complete));
//   }

#ifndef ASSAY_TESTING_CONFORMANCE_H_
#define ASSAY_TESTING_CONFORMANCE_H_

#include <string>
#include <vector>

#include "framework/testing/plan.h"
#include "framework/testing/record.h"

namespace assay::inline v1 {

/// The word over a backend's claims.
struct Conformance {
  std::string backend;
  std::string verdict;  // conformant, conformant with waivers, not conformant
  std::string reason;
};

/// `final` holds the final verdicts of all backends; `complete` says that every
/// planned case has one.
Conformance ConformanceOf(const Plan& plan, const BackendUse& backend,
                          const std::vector<Record>& final, bool complete);

}  // namespace assay::inline v1

#endif  // ASSAY_TESTING_CONFORMANCE_H_
