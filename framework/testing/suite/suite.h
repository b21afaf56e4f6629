// SPDX-License-Identifier: Apache-2.0
//
// Suite: cases that are made by code rather than read from files. A suite
// registers itself in the supervisor, which plans its cases, and in the worker,
// which runs them; to a run it is a corpus of its name.
//
//   const bool kRegistered = AddSuite({"contract", &Cases, &Judge});
//
// A suite either judges its cases itself, or gives each one's model, inputs and
// expected outputs and has them judged as cases of files are.

#ifndef ASSAY_TESTING_SUITE_SUITE_H_
#define ASSAY_TESTING_SUITE_SUITE_H_

#include <string>
#include <string_view>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/testing/case/test_case.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/rows.h"

namespace assay::inline v1 {

struct Suite {
  std::string name;
  std::vector<TestCase> (*cases)();
  /// The raw outcome of one planned case. May throw.
  Judgement (*judge)(const PlanRow& row, Backend& backend) = nullptr;
  /// Where there is no `judge`: what ReadCaseData gives for a case of files.
  Result<CaseData> (*data)(std::string_view test_id) = nullptr;
};

/// Always true, so that a static initialiser can call it.
bool AddSuite(Suite suite);

/// Null when there is none of that name.
const Suite* FindSuite(std::string_view name);

}  // namespace assay::inline v1

#endif  // ASSAY_TESTING_SUITE_SUITE_H_
