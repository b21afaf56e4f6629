// SPDX-License-Identifier: Apache-2.0

#include "backends/onednn/primitive/tensor_view.h"

#include <algorithm>
#include <utility>

namespace assay::onednn {

std::optional<memory::data_type> DataType(DType type) {
  using Type = memory::data_type;
  static constexpr std::pair<DType, Type> kTypes[] = {
      {DType::kFloat32, Type::f32}, {DType::kBFloat16, Type::bf16},
      {DType::kFloat16, Type::f16}, {DType::kInt32, Type::s32},
      {DType::kInt8, Type::s8},     {DType::kUint8, Type::u8},
      {DType::kBool, Type::u8}};
  for (const auto& [ours, theirs] : kTypes) {
    if (ours == type) return theirs;
  }
  return std::nullopt;
}

memory::desc StridedDesc(const memory::dims& dims, memory::data_type type,
                         memory::dims strides) {
  int64_t packed = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    if (dims[i] == 1) strides[i] = packed;
    packed = strides[i] * std::max<int64_t>(dims[i], 1);
  }
  return {dims, type, strides};
}

memory::desc AnyLayout(const memory::desc& given) {
  return {given.get_dims(), given.get_data_type(), memory::format_tag::any};
}

memory::desc TensorView::Desc() const {
  return As(shape.rank() == 0 ? memory::dims{1} : shape.dims());
}

memory::desc TensorView::As(const memory::dims& dims) const {
  return StridedDesc(dims, type, RowMajorStrides(dims));
}

TensorView MakeView(DType dtype, memory::data_type type, Shape shape) {
  const int64_t count = Product(shape.dims());
  return {dtype, type, std::move(shape), count};
}

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
