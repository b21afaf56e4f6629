// SPDX-License-Identifier: Apache-2.0

#include "framework/core/shape.h"

namespace assay::inline v1 {

Result<int64_t> Shape::NumElements() const {
  int64_t count = 1;
  bool empty = false;
  for (const int64_t extent : dims_) {
    if (extent < 0) {
      return InvalidArgument("shape ", ToString(), " has a negative extent");
    }
    empty = empty || extent == 0;
  }
  if (empty) return 0;
  for (const int64_t extent : dims_) {
    if (__builtin_mul_overflow(count, extent, &count)) {
      return ResourceExhausted("shape ", ToString(),
                               " has more elements than int64 can count");
    }
  }
  return count;
}

std::string Shape::ToString() const {
  std::string text = "[";
  for (size_t i = 0; i < dims_.size(); ++i) {
    if (i > 0) text += ',';
    text += std::to_string(dims_[i]);
  }
  return text + "]";
}

}  // namespace assay::inline v1
