// SPDX-License-Identifier: Apache-2.0
//
// The extents of ONNX's matrix product, as oneDNN's matmul takes them; shared
// by the products of floats and of integers.
//
//   ASSAY_ASSIGN_OR_RETURN(MatrixProduct product, ReadProduct(a, b));

#pragma once

#include "backends/onednn/primitive/tensor_view.h"

namespace assay::onednn {

/// The operands of a product as oneDNN takes them: equal ranks, extents of 1
/// where a batch axis repeats.
struct MatrixProduct {
  memory::dims a, b, y;
  Shape shape;  // of Y in ONNX, without the axes that a vector lacks
};

/// Invalid argument where the shapes have no product. One matrix for all
/// batches makes their rows the rows of one product.
Result<MatrixProduct> ReadProduct(const Shape& a, const Shape& b);

}  // namespace assay::onednn
