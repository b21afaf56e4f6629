// SPDX-License-Identifier: Apache-2.0
//
// The suite contract as runs plan it. It registers itself in whatever program
// it is linked into.
//
//   const suite::Suite suite = ContractSuite();

#pragma once

#include "framework/testing/suite/suite.h"

namespace assay::contract {

/// A case for each promise, under the test_id contract/NAME.
suite::Suite ContractSuite();

}  // namespace assay::contract
