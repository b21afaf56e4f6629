// SPDX-License-Identifier: Apache-2.0
//
// The boundary at which exceptions of vendor code become Statuses. Nothing
// that a kernel, a visitor or a factory throws passes it.

#pragma once

#include <exception>
#include <new>
#include <string_view>

#include "framework/core/status.h"

namespace assay::backend {

/// The exception being handled, which `where` threw: resource exhausted for
/// bad_alloc, else internal with its what(). To be called in a handler only.
inline Status StatusOfException(std::string_view where) {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return ResourceExhausted(where, ": memory ran out");
  } catch (const std::exception& error) {
    return Internal(where, ": an exception was thrown: ", error.what());
  } catch (...) {
    return Internal(where, ": an exception of unknown type was thrown");
  }
}

}  // namespace assay::backend
