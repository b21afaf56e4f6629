// SPDX-License-Identifier: Apache-2.0
//
// JUnit, for build servers. A document has the cases of one suite on one
// backend; one more a backend, run.BACKEND.xml, has a single case that fails
// where something is unexpected of the backend as a whole: a library that is
// missing, a line of its policy, a crash of no case. Red is the list of the
// run (unexpected.h), so a lost floor is a failure and an expected fail is
// none. junit_rules_fixture.h has the rules of those who read it.

#pragma once

#include <functional>
#include <string>

#include "framework/core/status.h"
#include "framework/testing/plan/plan.h"
#include "framework/testing/record/rows.h"
#include "framework/testing/verdict/verdict.h"

namespace assay::run {

/// Calls write(name of the file, document) for each; its failure ends it.
Status ForEachJUnit(
    const record::RunRow& run, const plan::Plan& plan,
    const verdict::Verdicts& verdicts,
    const std::function<Status(const std::string&, const std::string&)>& write);

}  // namespace assay::run
