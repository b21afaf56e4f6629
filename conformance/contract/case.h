// SPDX-License-Identifier: Apache-2.0
//
// The promises as cases of a plan, and back: a planned case is made of the
// plan's row where the suite is called (suite.cc), and handed down.
//
//   ASSAY_ASSIGN_OR_RETURN(const PlannedCase planned, CaseOf(row));
//   const Status kept =
//       TryContract(planned.contract_case, backend, planned.probes);

#pragma once

#include <span>
#include <string>
#include <vector>

#include "conformance/contract/contract.h"
#include "framework/testing/case/corpus.h"
#include "framework/testing/case/test_case.h"
#include "framework/testing/record/rows.h"

namespace assay::contract {

struct PlannedCase {
  const ContractCase& contract_case;
  /// Operators without their domain, of which the first that loads is taken.
  std::vector<std::string> probes;
};

/// Not found, reason reader, for a test_id that is none of this suite's.
Result<PlannedCase> CaseOf(const record::PlanRow& row);

/// A case for each promise, under the test_id contract/NAME. It needs no
/// corpora.
std::vector<cases::TestCase> PlannedCases(
    std::span<const cases::Corpus> corpora);

}  // namespace assay::contract
