// SPDX-License-Identifier: Apache-2.0
//
// The cases of gradients: of those of gradcheck with redrawn inputs in float32.
// A call is RunBackward of bound gradients, behind a Forward that does not
// count. Every element of the gradients of a call that is judged is held
// against the oracle's answer, within gradcheck's limit. The other checks of
// gradcheck, as of its outputs and its structure, are left to that suite.
//
//   row.test_id = "time/Relu/test_relu#redrawn.float32";
//   ASSAY_ASSIGN_OR_RETURN(const TimedSubject timed,
//                          OpenGradients(row, facts));

#pragma once

#include "framework/core/status.h"
#include "framework/testing/record/record.h"
#include "framework/testing/record/rows.h"
#include "perf/times/subject.h"

namespace assay::times {

/// The subject of a planned case of gradients. Unsupported where no element of
/// a gradient is known.
Result<TimedSubject> OpenGradients(const record::PlanRow& row,
                                   const record::RunFacts& facts);

}  // namespace assay::times
