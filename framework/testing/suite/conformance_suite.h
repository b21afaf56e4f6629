// SPDX-License-Identifier: Apache-2.0
//
// The suite conformance: it runs a case with a model, inputs and expected
// outputs, and holds what the backend gives against those. The suites of the
// corpora (node, model, ...) are cases of it.
//
//   AddSuite(ConformanceSuite());
//
// A case that passes is run again before it counts (recheck.h); outputs drawn
// at random are judged by their distribution (distribution.h); where there are
// exact answers, distances from these are measured, too. Each output is a row
// of the table accuracy.

#pragma once

#include "framework/testing/suite/suite.h"

namespace assay::suite {

/// It has no cases of its own. What the reader does not read yet is declined,
/// broken files are errors.
Suite ConformanceSuite();

}  // namespace assay::suite
