// SPDX-License-Identifier: Apache-2.0

#include "conformance/contract/judge.h"

#include "framework/core/text.h"

namespace assay::contract {

measure::Judgement Judge(const PlannedCase& planned, Backend& backend) {
  const Status kept =
      TryContract(planned.contract_case, backend, planned.probes);
  if (kept.ok()) return {record::Outcome::kPass, Reason::kNone, ""};
  const bool declined = kept.code() == StatusCode::kUnsupported;
  return {declined ? record::Outcome::kUnsupported : record::Outcome::kFail,
          declined ? kept.reason() : Reason::kValue,
          StrCat(planned.contract_case.promise, ": ", kept.message())};
}

}  // namespace assay::contract
