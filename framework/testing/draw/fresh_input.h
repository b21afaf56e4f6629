// SPDX-License-Identifier: Apache-2.0
//
// An input for a model of which nobody has any: numbers that its operators can
// take (number_set.h), drawn from nothing but types and shapes.

#pragma once

#include "framework/core/shape.h"
#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/graph/model.h"
#include "framework/testing/draw/draw.h"

namespace assay::draw {

/// Elements for a tensor of the graph, of this shape: numbers of variance 1;
/// integers that are rows of the table that they point into, bytes of a picture
/// of uint8, else 0 and 1, as of a mask; words that the model knows. Where an
/// operator takes certain numbers alone, those (NumberSet). Invalid argument,
/// with the operator, for one that says its own.
Result<Tensor> FreshInput(const Graph& graph, ValueId id, const Shape& shape,
                          Draw& draw);

}  // namespace assay::draw
