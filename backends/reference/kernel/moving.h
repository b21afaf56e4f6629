// SPDX-License-Identifier: Apache-2.0
//
// Kernels that only move elements, for elements of less than a byte too: those
// are moved as bytes, unpacked before and packed again after.
//
// The gradient of such a kernel needs no formula: it moves the numbers of the
// elements in their place, and what flows into an element of the result goes to
// the element that its number names.

#pragma once

#include <functional>

#include "framework/backend/eager/kernel.h"

namespace assay::reference {

/// The tensor with the bits of each element in a byte of its own, of uint8; a
/// tensor that is not packed as it is.
Result<Tensor> Unpacked(const Tensor& tensor);

/// The converse: such bytes as elements of `type`.
Result<Tensor> Repacked(const Tensor& bytes, DType type);

/// Declined where `data` is no tensor of elements. `forward` must move elements
/// and never look at them: it sees packed ones as uint8.
Result<Kernel> MovingKernel(const LoadContext& load, Input data,
                            std::function<Status(KernelContext&)> forward);

/// With the backward of a kernel that moves elements of every input that has
/// the element type of `data`, into outputs of that type, or fills them with
/// zeros; as it is where that type has no gradients.
Result<Kernel> WithMovedGradient(const LoadContext& load, Input data,
                                 Result<Kernel> kernel);

}  // namespace assay::reference
