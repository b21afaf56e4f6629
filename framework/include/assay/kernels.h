// SPDX-License-Identifier: Apache-2.0
//
// ONNX's rules for axes, broadcasting, reshapes, slices and windows, for a
// backend that writes kernels and has no such functions of its own.
//
//   ASSAY_ASSIGN_OR_RETURN(const auto axes,
//                          kernels::BroadcastShapes(a.shape(), b.shape()));

#pragma once

#include "framework/kernels/axis.h"       // IWYU pragma: export
#include "framework/kernels/broadcast.h"  // IWYU pragma: export
#include "framework/kernels/reshape.h"    // IWYU pragma: export
#include "framework/kernels/slice.h"      // IWYU pragma: export
#include "framework/kernels/window.h"     // IWYU pragma: export
