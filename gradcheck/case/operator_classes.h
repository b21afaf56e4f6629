// SPDX-License-Identifier: Apache-2.0
//
// Which operators have cases of the classes exact and kinks.
//
//   if (IsExact(op)) ...   // gradients of integers are integers

#pragma once

#include "framework/graph/operator.h"

namespace assay::gradcheck {

/// True where outputs and gradients are sums of products of inputs, so that
/// small integers make integers that every order of summation gives exactly.
bool IsExact(OperatorId op);

/// True where the operator compares numbers, or takes an absolute value or a
/// piece of a function: where a gradient has a kink or a tie.
bool HasKinks(OperatorId op);

/// True where the operator compares its inputs with each other, element by
/// element.
bool ComparesInputs(OperatorId op);

/// True where the operator's definition computes something in float32 whatever
/// its type is: in another type its gradients are no better, or its subgraphs
/// are of two types.
bool ComputesInFloat32(OperatorId op);

}  // namespace assay::gradcheck
