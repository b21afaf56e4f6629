// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/kernel/moving.h"

#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "backends/reference/kernel/gradient.h"
#include "backends/reference/scalar/codec.h"
#include "framework/backend/eager/flow/flow.h"

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
      const assay::Value& value = run_.value({static_cast<int>(i), true});
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
  Status SetOutput(assay::Output output, assay::Value value) override {
    // Not moved: GCC 12 takes that for a read of what is not initialized.
    return run_.SetOutput(output, value);
  }
  Result<std::vector<assay::Value>> Run(
      std::string_view attribute,
      std::span<const assay::Value> inputs) override {
    return run_.Run(attribute, inputs);
  }
  Result<std::vector<assay::Value>> Differentiate(
      std::span<const assay::Value> inputs) override {
    return run_.Differentiate(inputs);
  }
  void Save(assay::Value value) override { run_.Save(value); }
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
  std::vector<assay::Value> values_;  // of unpacked inputs
  std::vector<Tensor> outputs_;       // to be packed; undefined where not
};

/// The run of a node on the numbers of its elements: from 1 on, in the order of
/// the inputs; 0 is no element.
class NumberedContext final : public BackwardInputs {
 public:
  NumberedContext(const GradientContext& run, DType type, int input_count,
                  int output_count)
      : BackwardInputs(run, input_count),
        run_(run),
        type_(type),
        numbered_(static_cast<size_t>(input_count)),
        outputs_(static_cast<size_t>(output_count)) {}

  Status NumberInputs() {
    int64_t count = 1;
    for (size_t i = 0; i < numbered_.size(); ++i) {
      const Tensor& x = run_.input(InputAt(i));
      if (x.dtype() == type_) count += x.num_elements();
    }
    const bool narrow = count <= std::numeric_limits<uint32_t>::max();
    Number first = 1;
    for (size_t i = 0; i < numbered_.size(); ++i) {
      const Tensor& x = run_.input(InputAt(i));
      if (x.dtype() != type_) continue;
      const Shape shape = x.shape();
      ASSAY_ASSIGN_OR_RETURN(
          auto numbers,
          Tensor::Allocate(narrow ? DType::kUint32 : DType::kUint64, shape));
      if (narrow) {
        const auto all = numbers.mutable_elements<uint32_t>();
        std::iota(all.begin(), all.end(), static_cast<uint32_t>(first));
      } else {
        const auto all = numbers.mutable_elements<Number>();
        std::iota(all.begin(), all.end(), first);
      }
      first += static_cast<Number>(numbers.num_elements());
      numbered_[i] = assay::Value(std::move(numbers));
      inputs_[i] = &numbered_[i];
    }
    flows_.assign(static_cast<size_t>(count), 0);
    return OkStatus();
  }

  /// After the run: adds what flows into the outputs to the elements.
  void Gather() {
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const Loaded<double> dy(
          FlowInto(run_, {static_cast<int>(i), /*present=*/true}));
      if (dy.data() == nullptr || !outputs_[i].defined()) continue;
      if (outputs_[i].dtype() == DType::kUint32) {
        Gather<uint32_t>(dy, outputs_[i]);
      } else {
        Gather<Number>(dy, outputs_[i]);
      }
    }
  }

  Status StoreGradients(GradientContext& run) const {
    const double* next = flows_.data() + 1;
    for (size_t i = 0; i < numbered_.size(); ++i) {
      const Tensor& x = run.input(InputAt(i));
      if (x.dtype() != type_) continue;
      if (run.wanted(InputAt(i))) {
        ASSAY_ASSIGN_OR_RETURN(Tensor * gradient, run.Gradient(InputAt(i)));
        Encode(next, *gradient);
      }
      next += x.num_elements();
    }
    return OkStatus();
  }

  Result<Tensor*> Output(assay::Output output, DType dtype,
                         const Shape& shape) override {
    Tensor& tensor = outputs_[static_cast<size_t>(output.position)];
    ASSAY_ASSIGN_OR_RETURN(tensor, Tensor::Allocate(dtype, shape));
    return &tensor;
  }

 private:
  using Number = uint64_t;

  static Input InputAt(size_t i) { return {static_cast<int>(i), true}; }

  template <class N>
  void Gather(const Loaded<double>& dy, const Tensor& numbers) {
    const auto from = numbers.elements<N>();
    for (size_t i = 0; i < from.size(); ++i) {
      flows_[from[i]] += dy[static_cast<int64_t>(i)];
    }
  }

  const GradientContext& run_;
  DType type_;
  std::vector<assay::Value> numbered_;
  std::vector<Tensor> outputs_;
  std::vector<double> flows_;  // by number
};

}  // namespace

Result<Tensor> Unpacked(const Tensor& tensor) {
  if (!IsPacked(tensor.dtype())) return tensor;
  ASSAY_ASSIGN_OR_RETURN(auto bytes,
                         Tensor::Allocate(DType::kUint8, tensor.shape()));
  UnpackCodes(tensor, bytes.mutable_elements<uint8_t>().data());
  return bytes;
}

Result<Tensor> Repacked(const Tensor& bytes, DType type) {
  if (!IsPacked(type)) return bytes;
  ASSAY_ASSIGN_OR_RETURN(auto packed, Tensor::Allocate(type, bytes.shape()));
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

Result<Kernel> WithMovedGradient(const LoadContext& load, Input data,
                                 Result<Kernel> kernel) {
  const DType type = load.dtype(data);
  if (!kernel.ok() || !flow::IsGradientType(type)) return kernel;
  const auto inputs = static_cast<int>(load.node().inputs.size());
  const auto outputs = static_cast<int>(load.node().outputs.size());
  kernel->backward = [=, forward =
                             kernel->forward](GradientContext& run) -> Status {
    NumberedContext numbered(run, type, inputs, outputs);
    ASSAY_RETURN_IF_ERROR(numbered.NumberInputs());
    ASSAY_RETURN_IF_ERROR(forward(numbered));
    numbered.Gather();
    return numbered.StoreGradients(run);
  };
  return kernel;
}

}  // namespace assay::reference
