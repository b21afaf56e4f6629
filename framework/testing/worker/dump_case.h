// SPDX-License-Identifier: Apache-2.0
//
// What a backend answers to a case, as files: nothing is compared. For the
// outputs in a capsule, and for the reference's answers to new cases.
//
//   const Record record = DumpCase(backend, row, facts, "candidates");
//   // candidates/<test_id>/test_data_set_0/output_0.pb
//
// The case needs a model and inputs only; where its expected outputs would lie
// is where its answers may go.

#ifndef ASSAY_TESTING_WORKER_DUMP_CASE_H_
#define ASSAY_TESTING_WORKER_DUMP_CASE_H_

#include <filesystem>

#include "framework/backend/backend.h"
#include "framework/testing/record/record.h"
#include "framework/testing/worker/case_runner.h"

namespace assay::inline v1 {

/// Writes DIRECTORY/<test_id>/test_data_set_N/output_K.pb. Never fails: the
/// outcome of the record is pass when every output was written, else what a
/// judged run would call it: unsupported, unavailable or error.
Record DumpCase(Backend& backend, const PlanRow& row, const RunFacts& facts,
                const std::filesystem::path& directory);

/// The case with its inputs alone, from its suite or its files. Unsupported,
/// reason reader, for a case that is a program.
Result<CaseData> CaseInputs(const PlanRow& row);

}  // namespace assay::inline v1

#endif  // ASSAY_TESTING_WORKER_DUMP_CASE_H_
