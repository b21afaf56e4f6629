// SPDX-License-Identifier: Apache-2.0
#include "backends/onednn/ops/families.h"

namespace assay::onednn {

Status CheckFloat(const TensorView& view) {
  if (IsFloatingPoint(view.dtype)) return OkStatus();
  return Unsupported(Reason::kDType, "oneDNN computes ", view.dtype,
                     " here in float32, which is another operator");
}

Status CheckExact(const TensorView& view) {
  return view.type == memory::data_type::s32 ? CheckFloat(view) : OkStatus();
}

Status CheckFloat32(const TensorView& view) {
  if (view.dtype == DType::kFloat32) return OkStatus();
  return Unsupported(Reason::kDType,
                     "a chain of primitives would round each "
                     "intermediate value to ",
                     view.dtype);
}

}  // namespace assay::onednn
