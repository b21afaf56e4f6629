// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/tape/trace.h"

#include <algorithm>
#include <utility>

#include "backends/reference/scalar/codec.h"
#include "backends/reference/tape/charged.h"
#include "framework/core/value_walk.h"

namespace assay::reference {
namespace {

thread_local Trace* current = nullptr;

constexpr DType kVar = kDTypeOf<Var>;

// The context of a kernel of a traced network: Vars in, Vars out.
class TracedContext final : public KernelContext {
 public:
  TracedContext(KernelContext& run, Trace& trace) : run_(run), trace_(trace) {
    SharePrepared(run);
  }

  Status TakeInputs() {
    values_.reserve(static_cast<size_t>(run_.input_count()));
    for (int i = 0; i < run_.input_count(); ++i) {
      ASSAY_ASSIGN_OR_RETURN(values_.emplace_back(),
                             trace_.Traced(run_.value(Input{i, false})));
    }
    for (const Value& value : values_) inputs_.push_back(&value);
    return OkStatus();
  }

  Result<Tensor*> Output(assay::Output output, DType dtype,
                         const Shape& shape) override {
    return run_.Output(output, IsFloatingPoint(dtype) ? kVar : dtype, shape);
  }
  Status SetOutput(assay::Output output, Value value) override {
    ASSAY_ASSIGN_OR_RETURN(Value traced, trace_.Traced(value));
    return run_.SetOutput(output, std::move(traced));
  }
  Result<std::vector<Value>> Run(std::string_view attribute,
                                 std::span<const Value> inputs) override {
    std::vector<Value> traced(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      ASSAY_ASSIGN_OR_RETURN(traced[i], trace_.Traced(inputs[i]));
    }
    return run_.Run(attribute, traced);
  }
  Result<std::vector<Value>> Differentiate(std::span<const Value>) override {
    return FailedPrecondition("a traced kernel has no part to differentiate");
  }
  void Save(Value value) override { run_.Save(std::move(value)); }

 private:
  KernelContext& run_;
  Trace& trace_;
  std::vector<Value> values_;
};

}  // namespace

Trace::Scope::Scope(Trace* trace) : outer_(current), tape_(&trace->tape_) {
  current = trace;
}

Trace::Scope::~Scope() { current = outer_; }

Trace* Trace::Current() { return current; }

const Tensor* Trace::Find(const Tensor& tensor) const {
  const auto found = read_.find(tensor.data());
  return found == read_.end() ? nullptr : &found->second.vars;
}

Result<Tensor> Trace::TracedTensor(const Tensor& tensor) {
  if (const Tensor* const known = Find(tensor)) {
    return known->Reshape(tensor.shape());
  }
  ASSAY_ASSIGN_OR_RETURN(Tensor vars, Tensor::Allocate(kVar, tensor.shape()));
  std::vector<double> numbers(static_cast<size_t>(tensor.num_elements()));
  Decode(tensor, numbers.data());
  const auto shift = offsets_.find(tensor.data());
  for (size_t i = 0; i < numbers.size(); ++i) {
    const double x = numbers[i];
    const double by = shift == offsets_.end() ? 0 : shift->second[i];
    const Var var = tape_.Input(x + by);
    vars.mutable_elements<Var>()[i] = var;
    if (!IsExact(Primitive::kAdd, x, by, var.value())) {
      rounded_.insert(var.node());
    }
  }
  if (!numbers.empty()) read_.emplace(tensor.data(), Read{tensor, vars});
  return vars;
}

Result<Value> Trace::Traced(const Value& value) {
  const auto traced = [this](const Tensor& tensor) -> Result<Tensor> {
    if (!tensor.defined() || !IsFloatingPoint(tensor.dtype())) return tensor;
    return TracedTensor(tensor);
  };
  if (value.sparse() != nullptr) return value;
  return MapTensors(value, traced, [](DType dtype) {
    return IsFloatingPoint(dtype) ? kVar : dtype;
  });
}

Kernel Traced(Kernel kernel) {
  return {.forward = [forward = std::move(kernel.forward)](
                         KernelContext& run) -> Status {
    Trace* const trace = Trace::Current();
    if (trace == nullptr) {
      return FailedPrecondition("a traced kernel runs without a trace");
    }
    TracedContext context(run, *trace);
    ASSAY_RETURN_IF_ERROR(context.TakeInputs());
    ASSAY_RETURN_IF_ERROR(forward(context));
    if (trace->tape().full()) {
      return ResourceExhausted(
          "the tape is full: the computation has more "
          "than ",
          trace->tape().size(), " steps");
    }
    return OkStatus();
  }};
}

}  // namespace assay::reference
