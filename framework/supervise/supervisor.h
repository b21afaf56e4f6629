// SPDX-License-Identifier: Apache-2.0
//
// Supervise: runs the rows of a plan in workers and leaves their journals. It
// loads no backend itself, so nothing a backend does can reach it.
//
//   verdict::RawRecords raw;
//   ASSAY_RETURN_IF_ERROR(Supervise(plan, rows, options, &raw));
//   // options.directory now holds INSTANCE.1.journal and INSTANCE.1.log
//
// Where there are more workers than backends, the cases of a backend are dealt
// to several; each has a journal of its own. A case that ends its worker, or
// runs over its time limit, is recorded as crash or timeout, and the rest goes
// on in a new worker.

#pragma once

#include <cstddef>
#include <vector>

#include "framework/core/status.h"
#include "framework/supervise/options.h"
#include "framework/testing/plan/plan.h"
#include "framework/testing/verdict/verdict.h"

namespace assay::supervise {

/// Runs the rows that the journals in the directory have no record of, repeats
/// what ended other than expected (repeat.h), and adds all records to `raw`,
/// the earlier ones too. Cancelled after SIGINT or SIGTERM: the journals then
/// hold what was finished. Failed precondition when a journal that is there is
/// of another plan.
Status Supervise(const plan::Plan& plan, const std::vector<size_t>& rows,
                 const SuperviseOptions& given, verdict::RawRecords* raw);

}  // namespace assay::supervise
