// SPDX-License-Identifier: Apache-2.0
//
// Judge: one promise, tried on a backend.
//
//   ASSAY_ASSIGN_OR_RETURN(const PlannedCase planned, CaseOf(row));
//   record->result.outcome = Judge(planned, backend).outcome;

#pragma once

#include "conformance/contract/case.h"
#include "framework/backend/backend.h"
#include "framework/testing/measure/measure.h"

namespace assay::contract {

measure::Judgement Judge(const PlannedCase& planned, Backend& backend);

}  // namespace assay::contract
