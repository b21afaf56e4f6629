// SPDX-License-Identifier: Apache-2.0
//
// Native calls: a case of cases.h by a library alone, over the memory of a
// bound network, everything made beforehand: the cheapest call that the library
// has.
//
//   ASSAY_ASSIGN_OR_RETURN(const overhead::Calls native,
//                          overhead::NativeOf("onnxruntime", each, *bound));
//
// To add a library: a file NAME_native.cc with its function, its line in
// natives.cc, and its lines in CMakeLists.txt.

#pragma once

#include <string_view>

#include "framework/core/status.h"
#include "perf/overhead/cases.h"
#include "perf/overhead/pair.h"

namespace assay::overhead {

/// The calls of dnnl or onnxruntime, on which the backend stands. Unsupported
/// for an operator that is not called here; unavailable where no module has
/// opened the library; invalid argument for another one.
Result<Calls> NativeOf(std::string_view library, const Case& of,
                       const Bound& bound);

/// By oneDNN's primitives, with the layouts and the scratch memory that the
/// backend gives them.
Result<Calls> OneDnnCalls(const Case& of, const Bound& bound);

/// By Run of a session of ONNX Runtime, on one thread, whose inputs and output
/// are values over the memory.
Result<Calls> OnnxRuntimeCalls(const Case& of, const Bound& bound);

/// By Eigen, where it has the computation: MatMul, and Conv as a product with
/// the columns of the image. Its output is its own; checked against the
/// bound one, which a call has written. None for other operators.
Result<Calls> EigenCalls(const Case& of, const Bound& bound);

}  // namespace assay::overhead
