// SPDX-License-Identifier: Apache-2.0
//
// The suite optimizer: every optimizer trains small networks of a backend, and
// every tensor of every step is held against a judge's.

#pragma once

#include "framework/testing/suite/suite.h"

namespace assay::optimizer {

suite::Suite OptimizerSuite();

}  // namespace assay::optimizer
