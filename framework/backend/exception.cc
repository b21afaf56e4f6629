// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/exception.h"

#include <exception>
#include <new>

namespace assay::backend {

Status StatusOfException(std::string_view where) {
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
