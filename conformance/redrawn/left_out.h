// SPDX-License-Identifier: Apache-2.0
//
// Cases and operators that are left out for a reason that their facts do not
// show.
//
//   const std::string why = LeftOut(test_case);  // empty: it is not left out

#pragma once

#include <string>

#include "framework/testing/case/test_case.h"

namespace assay::redrawn {

std::string LeftOut(const cases::TestCase& test_case);

}  // namespace assay::redrawn
