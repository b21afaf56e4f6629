// SPDX-License-Identifier: Apache-2.0
//
// The suite redrawn. It registers itself in whatever program it is linked into.
//
//   const suite::Suite suite = RedrawnSuite();

#pragma once

#include "framework/testing/suite/suite.h"

namespace assay::redrawn {

/// Its cases are those of the suites node and model, with inputs drawn for the
/// run, and are judged by the answers of an oracle.
suite::Suite RedrawnSuite();

}  // namespace assay::redrawn
