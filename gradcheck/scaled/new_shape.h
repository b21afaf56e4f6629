// SPDX-License-Identifier: Apache-2.0
//
// The shapes that a node's weights and output have where its first input has
// shrunk, as ONNX's pages state them. Images are [N,C,D1,...].
//
//   // [1,112,56,56] to [1,4,28,56,56] where 112 channels are now 8, 56 now 7
//   Regrouped({1, 112, 56, 56}, {1, 4, 28, 56, 56}, {1, 8, 7, 7});
//   // [1,4,2,7,7]

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "framework/core/shape.h"
#include "framework/core/status.h"
#include "framework/graph/model.h"

namespace assay::gradcheck {

/// The output shape of Reshape for a new input, given the old shapes of both.
/// Extents of the output that are one extent of the input follow it, those that
/// are a product become the new product; where one extent becomes several, all
/// but the last stay. Unsupported, reason shape, for any other regrouping.
Result<Shape> Regrouped(const Shape& old_input, const Shape& old_output,
                        const Shape& input);

/// The output of a convolution or a pool with such a kernel, of so many
/// channels.
Result<Shape> Windowed(const Node& node, std::vector<int64_t> kernel,
                       const Shape& input, int64_t channels);

/// The integers of an attribute; none where the node does not have it.
std::vector<int64_t> Integers(const Node& node, std::string_view name);

/// The integer of an attribute, or what it is by default.
int64_t Integer(const Node& node, std::string_view name, int64_t by_default);

}  // namespace assay::gradcheck
