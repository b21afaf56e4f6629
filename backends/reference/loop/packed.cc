// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/loop/packed.h"

#include <utility>

#include "backends/reference/scalar/codec.h"

namespace assay::reference {
namespace {

bool IsPacked(DType type) {
  return type != DType::kUndefined && type != DType::kString &&
         BitsOf(type) < 8;
}

/// The run of a node with its packed tensors one element a byte.
class UnpackedContext final : public KernelContext {
 public:
  /// The element types of the node's outputs.
  UnpackedContext(KernelContext& run, const std::vector<DType>& types)
      : run_(run), types_(types), outputs_(types.size()) {
    SharePrepared(run);
  }

  Status Unpack() {
    const auto count = static_cast<size_t>(run_.input_count());
    values_.resize(count);
    for (size_t i = 0; i < count; ++i) {
      const Value& value = run_.value({static_cast<int>(i), true});
      inputs_.push_back(&value);
      const Tensor* tensor = value.tensor();
      if (tensor == nullptr || !IsPacked(tensor->dtype())) continue;
      ASSAY_ASSIGN_OR_RETURN(values_[i], Unpacked(*tensor));
      inputs_[i] = &values_[i];
    }
    return OkStatus();
  }

  Result<Tensor*> Output(assay::Output output, DType dtype,
                         const Shape& shape) override {
    const auto at = static_cast<size_t>(output.position);
    if (at >= types_.size() || !IsPacked(types_[at])) {
      return run_.Output(output, dtype, shape);
    }
    ASSAY_ASSIGN_OR_RETURN(outputs_[at], Tensor::Allocate(dtype, shape));
    return &outputs_[at];
  }
  Status SetOutput(assay::Output output, Value value) override {
    // Not moved: GCC 12 takes that for a read of what is not initialized.
    return run_.SetOutput(output, value);
  }
  Result<std::vector<Value>> Run(std::string_view attribute,
                                 std::span<const Value> inputs) override {
    return run_.Run(attribute, inputs);
  }
  Result<std::vector<Value>> Differentiate(
      std::span<const Value> inputs) override {
    return run_.Differentiate(inputs);
  }
  void Save(Value value) override { run_.Save(value); }
  Result<Tensor*> Workspace(DType dtype, const Shape& shape) override {
    return run_.Workspace(dtype, shape);
  }

  Status Pack() {
    for (size_t at = 0; at < outputs_.size(); ++at) {
      const Tensor& bytes = outputs_[at];
      if (!bytes.defined()) continue;
      ASSAY_ASSIGN_OR_RETURN(
          Tensor * y,
          run_.Output({static_cast<int>(at), true}, types_[at], bytes.shape()));
      if (y != nullptr) PackCodes(bytes.elements<uint8_t>().data(), *y);
    }
    return OkStatus();
  }

 private:
  KernelContext& run_;
  const std::vector<DType>& types_;
  std::vector<Value> values_;    // of unpacked inputs
  std::vector<Tensor> outputs_;  // to be packed; undefined where not
};

}  // namespace

Result<Tensor> Unpacked(const Tensor& tensor) {
  if (!IsPacked(tensor.dtype())) return tensor;
  ASSAY_ASSIGN_OR_RETURN(Tensor bytes,
                         Tensor::Allocate(DType::kUint8, tensor.shape()));
  UnpackCodes(tensor, bytes.mutable_elements<uint8_t>().data());
  return bytes;
}

Result<Tensor> Repacked(const Tensor& bytes, DType type) {
  if (!IsPacked(type)) return bytes;
  ASSAY_ASSIGN_OR_RETURN(Tensor packed, Tensor::Allocate(type, bytes.shape()));
  PackCodes(bytes.elements<uint8_t>().data(), packed);
  return packed;
}

Result<Kernel> MovingKernel(const LoadContext& load, Input data,
                            std::function<Status(KernelContext&)> forward) {
  if (!IsPacked(load.dtype(data))) {
    ASSAY_RETURN_IF_ERROR(CheckMovable(load, data));
    return Kernel{.forward = std::move(forward)};
  }
  std::vector<DType> types;
  for (int i = 0; i < static_cast<int>(load.node().outputs.size()); ++i) {
    types.push_back(load.dtype(Output{i, true}));
  }
  return Kernel{
      .forward = [forward = std::move(forward),
                  types = std::move(types)](KernelContext& run) -> Status {
        UnpackedContext unpacked(run, types);
        ASSAY_RETURN_IF_ERROR(unpacked.Unpack());
        ASSAY_RETURN_IF_ERROR(forward(unpacked));
        return unpacked.Pack();
      }};
}

}  // namespace assay::reference
