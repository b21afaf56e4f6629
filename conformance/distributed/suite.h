// SPDX-License-Identifier: Apache-2.0
//
// The suite `distributed`, of libraries that carry messages between ranks.
//
//   const suite::Suite suite = DistributedSuite();

#pragma once

#include "framework/testing/suite/suite.h"

namespace assay::distributed {

suite::Suite DistributedSuite();

}  // namespace assay::distributed
