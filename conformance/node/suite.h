// SPDX-License-Identifier: Apache-2.0
//
// The suite of the cases that corpora hold in files (node, model, special,
// ...), each with expected outputs. It registers itself in whatever program it
// is linked into, under the name that framework/testing/suite runs such cases
// by.
//
//   const suite::Suite suite = NodeSuite();

#pragma once

#include "framework/testing/suite/suite.h"

namespace assay::node {

/// It lists no cases: those of corpora are read.
suite::Suite NodeSuite();

}  // namespace assay::node
