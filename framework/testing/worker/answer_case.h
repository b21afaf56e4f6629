// SPDX-License-Identifier: Apache-2.0
//
// What an oracle says to a case, as files: the worker's half of `assay run
// --oracle`. Nothing is compared.
//
//   const Record record = AnswerCase(backend, row, facts);
//   // row.oracle + "/set_0.exact", read by ReadAnswers

#ifndef ASSAY_TESTING_WORKER_ANSWER_CASE_H_
#define ASSAY_TESTING_WORKER_ANSWER_CASE_H_

#include "framework/backend/backend.h"
#include "framework/testing/record/record.h"
#include "framework/testing/worker/case_runner.h"

namespace assay::inline v1 {

/// Evaluates each data set in the precision that the case's types ask for and
/// writes the answers below row.oracle. Never fails: the outcome of the record
/// is pass when every answer was written, unsupported or unavailable when the
/// backend declines, at Load or when it is asked, or offers no Exact; else
/// error.
Record AnswerCase(Backend& backend, const PlanRow& row, const RunFacts& facts);

}  // namespace assay::inline v1

#endif  // ASSAY_TESTING_WORKER_ANSWER_CASE_H_
