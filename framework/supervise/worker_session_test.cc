// SPDX-License-Identifier: Apache-2.0

#include "framework/supervise/worker_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "framework/core/text.h"
#include "framework/file/scratch_folder.h"
#include "framework/supervise/crew.h"

namespace assay::supervise {
namespace {

using testing::HasSubstr;

plan::BackendUse Reference() {
  plan::BackendUse backend;
  backend.instance = backend.name = "reference";
  backend.module = ASSAY_REFERENCE;
  return backend;
}

/// Cases that any backend has, by number.
record::PlanRow CaseOf(const plan::BackendUse& backend, int number) {
  record::PlanRow row;
  row.test_id = StrCat("suite/Op/case_", number);
  row.backend = backend.instance;
  return row;
}

// Kills: a test that fails in a worker and is nobody's; a run that goes on without end,
// since the case is begun each time and never judged.
TEST(WorkerSessionTest, ATestThatFailsAndIsNoVerdictEndsTheRun) {
  const plan::BackendUse backend = Reference();
  const record::PlanRow rows[] = {CaseOf(backend, 1), CaseOf(backend, 2)};
  for (const bool in_process : {false, true}) {
    const file::ScratchFolder folder;
    SuperviseOptions options;
    options.worker = ASSAY_BROKEN_WORKER;
    options.directory = folder.path();
    options.in_process = in_process;
    verdict::RawRecords raw;
    const Status status = RunRows(backend, {&rows[0], &rows[1]}, options, &raw);
    EXPECT_EQ(status.code(), StatusCode::kInternal) << status.ToString();
    EXPECT_THAT(status.message(),
                HasSubstr("reference.1.journal: the worker of reference is "
                          "broken: Worker.IsBroken: "));
    EXPECT_THAT(status.message(), HasSubstr("as it is to be"));
  }
}

}  // namespace
}  // namespace assay::supervise
