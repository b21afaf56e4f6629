// SPDX-License-Identifier: Apache-2.0
//
// The suite gradcheck. It registers itself in whatever program it is linked
// into.
//
//   const suite::Suite suite = GradcheckSuite();

#pragma once

#include "framework/testing/suite/suite.h"

namespace assay::gradcheck {

/// Its cases are derived from those of the node corpus, and it is judged by the
/// answers of an oracle.
suite::Suite GradcheckSuite();

}  // namespace assay::gradcheck
