// SPDX-License-Identifier: Apache-2.0

#include "framework/train/data/dropout_mask.h"

#include "framework/core/dtype.h"
#include "framework/core/numbers.h"

namespace assay::train {

uint64_t MaskKey(uint64_t seed, int64_t step, int64_t part,
                 std::string_view name) {
  uint64_t key = core::KeyOf(core::KeyOf(seed, step), part);
  for (const char letter : name) {
    key = core::KeyOf(key, static_cast<unsigned char>(letter));
  }
  return key;
}

Status DrawMask(uint64_t key, double ratio, Tensor* mask) {
  if (!(ratio >= 0 && ratio < 1)) {
    return InvalidArgument("found the ratio ", ratio,
                           " of a mask, wanted a number of [0, 1)");
  }
  core::Numbers numbers(key);
  const bool drawn = VisitType<float, double>(mask->dtype(), [&]<class T>(T) {
    const T kept = static_cast<T>(1 / (1 - ratio));
    for (T& element : mask->mutable_elements<T>()) {
      element = numbers.Share() < ratio ? T(0) : kept;
    }
  });
  if (drawn) return OkStatus();
  return Unsupported(Reason::kDType, "found a mask of ",
                     ToString(mask->dtype()), ", wanted float32 or float64");
}

}  // namespace assay::train
