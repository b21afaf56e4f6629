// SPDX-License-Identifier: Apache-2.0

#include "conformance/contract/suite.h"

#include "conformance/contract/case.h"
#include "conformance/contract/judge.h"

namespace assay::contract {
namespace {

// The plan's row becomes a case here, and nowhere else.

measure::Judgement Run(const record::PlanRow& row, Backend& backend,
                       const record::RunFacts&, record::Record*) {
  const auto planned = CaseOf(row);
  if (planned.ok()) return Judge(*planned, backend);
  const Status& status = planned.status();
  return {suite::OutcomeOf(status), status.reason(), status.message()};
}

const bool kContractRegistered = suite::AddSuite(ContractSuite());

}  // namespace

suite::Suite ContractSuite() {
  return {.name = "contract",
          .cases = &PlannedCases,
          .derives = false,
          .run = &Run};
}

}  // namespace assay::contract
