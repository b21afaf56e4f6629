// SPDX-License-Identifier: Apache-2.0
//
// The cases of collectives: a library's own broadcast, reduce, all-reduce,
// all-gather, reduce-scatter and all-to-all, of blocks of several sizes. All
// ranks come from a barrier to a call; its time is that of the slowest. The
// contents change from call to call, and the bits of all ranks after a drawn
// call are judged as the suite distributed does.
//
//   measure::Judgement verdict =
//       JudgeCollective(row, ranks, nullptr, facts, &record);
//
// Ranks are in one process with their library: its clock is the only one there
// is, and is believed.

#pragma once

#include "framework/backend/backend.h"
#include "framework/backend/communicator.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/record.h"
#include "framework/testing/record/rows.h"

namespace assay::times {

/// Adds the row of the phase warm. Unsupported for a library without the
/// collective. `networks` is not used: ranks train nothing here.
measure::Judgement JudgeCollective(const record::PlanRow& row, Ranks& ranks,
                                   Backend* networks,
                                   const record::RunFacts& facts,
                                   record::Record* record);

}  // namespace assay::times
