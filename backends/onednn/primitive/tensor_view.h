// SPDX-License-Identifier: Apache-2.0
//
// TensorView: what is known of a tensor of a node when the model is loaded, in
// ONNX's words and in oneDNN's, and the memory descriptors made from it.
//
// ONNX tensors are row-major; a descriptor always spells out its strides, and
// StridedDesc makes those of all others.

#pragma once

#include <optional>

#include "dnnl.hpp"
#include "framework/core/dtype.h"
#include "framework/core/shape.h"
#include "framework/core/status.h"
#include "framework/kernels/axis.h"
#include "framework/kernels/broadcast.h"

namespace assay::onednn {

using dnnl::memory;
using kernels::Broadcast;
using kernels::BroadcastShapes;
using kernels::BroadcastsTo;
using kernels::NormalizeAxis;
using kernels::Product;
using kernels::RowMajorStrides;

/// The oneDNN type that holds a DType's elements bit for bit; bool travels as
/// u8. None for float64, which oneDNN 3 has on GPUs only, for 64-bit integers
/// and for all others that oneDNN lacks.
std::optional<memory::data_type> DataType(DType type);

/// Elements `strides` apart. The stride of an axis of extent 1 places nothing,
/// and is always the one it has behind packed axes: oneDNN takes descriptors
/// that differ in it as equal, and gives from its cache the implementation that
/// it chose for the first of them.
memory::desc StridedDesc(const memory::dims& dims, memory::data_type type,
                         memory::dims strides);

/// The descriptor with its layout left to the library.
memory::desc AnyLayout(const memory::desc& given);

struct TensorView {
  DType dtype = DType::kUndefined;
  memory::data_type type = memory::data_type::undef;
  Shape shape;
  int64_t count = 0;  // elements

  /// Row-major over the tensor's own extents; a scalar has extents {1}.
  memory::desc Desc() const;
  /// Row-major over other extents with as many elements.
  memory::desc As(const memory::dims& dims) const;
};

/// Extents that multiply without overflow are assumed, as View checked them.
TensorView MakeView(DType dtype, memory::data_type type, Shape shape);

/// Float32 or bfloat16, where the rest would be computed in float32 and
/// rounded or saturated in ways that are not the operator's.
Status CheckFloat(const TensorView& view);

/// Everything but int32: integers of 8 bits are exact in float32, in which
/// oneDNN computes, those of 32 bits are not.
Status CheckExact(const TensorView& view);

/// Float32 only: for chains, whose intermediate values bfloat16 would round.
Status CheckFloat32(const TensorView& view);

}  // namespace assay::onednn
