// SPDX-License-Identifier: Apache-2.0
//
// The roofs of this process' machine, and their rows.
//
//   roofs::Roofs& roofs = RoofsHere();
//   MeasureAt(worker::CasePlace(), &roofs);
//   AddRoofs(&roofs, &of_case);

#pragma once

#include "framework/testing/record/record.h"
#include "framework/testing/worker/batch_place.h"
#include "perf/roofs/roofs.h"

namespace assay::times {

/// One for all cases of the process.
roofs::Roofs& RoofsHere();

/// Measures all roofs again behind the middle and the last one of several
/// cases.
void MeasureAt(const worker::BatchPlace& place, roofs::Roofs* roofs);

/// A row of the table roofs for each that was measured since the last time.
void AddRoofs(roofs::Roofs* roofs, record::Record* record);

}  // namespace assay::times
