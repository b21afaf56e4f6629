// SPDX-License-Identifier: Apache-2.0
//
// The suite interfaces: it asks a backend for the optional interfaces of a
// network of one operator. Nothing runs forward and nothing is compared.
//
//   AddSuite(InterfacesSuite());
//   // message of the one case: "differentiable, placement; by Relu"

#pragma once

#include "framework/testing/suite/suite.h"

namespace assay::suite {

inline constexpr char kInterfacesSuite[] = "interfaces";

/// A case passes when the backend loads one of the suite's models, and its
/// message names what the network offers and the operator. It is unsupported,
/// with the last reason, when the backend declines them all; else an error.
Suite InterfacesSuite();

}  // namespace assay::suite
