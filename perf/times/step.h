// SPDX-License-Identifier: Apache-2.0
//
// The cases of steps, which are those of the suite optimizer. A step is
// forward, backward and update: the backend's calls in its host, the messages
// to it, and the rule here. The judge's own clock times it, so that there is
// nothing to forge but the work: steps are drawn, look like any other, and are
// judged as that suite does.
//
//   row.test_id = "time/adam/paper.mlp#locked.float32";
//   ASSAY_ASSIGN_OR_RETURN(const Taken taken,
//                          TimeSteps(row, backend, facts));

#pragma once

#include "framework/backend/backend.h"
#include "framework/core/status.h"
#include "framework/testing/record/record.h"
#include "framework/testing/record/rows.h"
#include "perf/times/subject.h"

namespace assay::times {

/// The phase step. The oracle of the run (RunFacts::oracle) judges in this
/// process. Declines as the backend does.
Result<Taken> TimeSteps(const record::PlanRow& row, Backend& backend,
                        const record::RunFacts& facts);

}  // namespace assay::times
