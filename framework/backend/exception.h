// SPDX-License-Identifier: Apache-2.0
//
// The boundary at which exceptions of vendor code become Statuses. Nothing
// that a kernel, a visitor or a factory throws passes it.
//
//   try {
//     return kernel.forward(context);
//   } catch (...) {
//     return StatusOfException("Relu 'a'");
//   }

#pragma once

#include <string_view>

#include "framework/core/status.h"

namespace assay::backend {

/// The exception being handled, which `where` threw: resource exhausted for
/// bad_alloc, else internal with its what(). To be called in a handler only.
Status StatusOfException(std::string_view where);

}  // namespace assay::backend
