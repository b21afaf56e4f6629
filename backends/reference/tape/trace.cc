// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/tape/trace.h"

#include <algorithm>
#include <cmath>
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
  TracedContext(KernelContext& run, Trace& trace,
                std::span<const DType> output_types)
      : run_(run), trace_(trace), output_types_(output_types) {
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
    const DType type = IsFloatingPoint(dtype) ? kVar : dtype;
    ASSAY_ASSIGN_OR_RETURN(Tensor* const tensor,
                           run_.Output(output, type, shape));
    if (tensor != nullptr && type == kVar) {
      computed_.push_back({output.position, tensor});
    }
    return tensor;
  }

  Status RoundOutputs() {
    for (const Computed& one : computed_) {
      const DType type = output_types_[static_cast<size_t>(one.position)];
      ASSAY_RETURN_IF_ERROR(trace_.Round(type, *one.tensor));
    }
    return OkStatus();
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
  struct Computed {
    int position;
    Tensor* tensor;
  };

  KernelContext& run_;
  Trace& trace_;
  std::span<const DType> output_types_;
  std::vector<Value> values_;
  std::vector<Computed> computed_;
};

bool HoldsComplex(const ValueType& type) {
  return ClassOf(type.dtype) == DTypeClass::kComplex ||
         (type.element != nullptr && HoldsComplex(*type.element));
}

Status CheckNode(const LoadContext& load) {
  const Node& node = load.node();
  for (int i = 0; std::cmp_less(i, node.inputs.size()); ++i) {
    ASSAY_RETURN_IF_ERROR(
        CheckReal(StrCat("input ", i), load.type(Input{i, true})));
  }
  for (int i = 0; std::cmp_less(i, node.outputs.size()); ++i) {
    ASSAY_RETURN_IF_ERROR(
        CheckReal(StrCat("output ", i), load.type(Output{i, true})));
  }
  return OkStatus();
}

std::vector<DType> OutputTypes(const LoadContext& load) {
  std::vector<DType> types;
  const auto count = static_cast<int>(load.node().outputs.size());
  for (int i = 0; i < count; ++i) types.push_back(load.dtype(Output{i, true}));
  return types;
}

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

Status Trace::Round(DType type, Tensor& vars) {
  if (between_ == Between::kUnrounded || !IsFloatingPoint(type) ||
      type == DType::kFloat64) {
    return OkStatus();
  }
  const std::span<Var> elements = vars.mutable_elements<Var>();
  std::vector<double> numbers;
  for (const Var& x : elements) numbers.push_back(x.value());
  ASSAY_ASSIGN_OR_RETURN(Tensor rounded, Tensor::Allocate(type, vars.shape()));
  Encode(numbers.data(), rounded);
  Decode(rounded, numbers.data());
  for (size_t i = 0; i < numbers.size(); ++i) {
    const double by = numbers[i] - elements[i].value();
    // Exact, and the sum too: the one is the nearest of its type to the other.
    if (by != 0 && !std::isnan(by)) elements[i] += Var(by);
  }
  return OkStatus();
}

Status CheckReal(std::string_view name, const ValueType& type) {
  if (!HoldsComplex(type)) return OkStatus();
  return Unsupported(Reason::kDType, name, " is ", type.ToString(),
                     ", wanted no complex numbers on a tape");
}

Result<Kernel> Traced(Kernel kernel, const LoadContext& load) {
  ASSAY_RETURN_IF_ERROR(CheckNode(load));
  return Kernel{
      .forward = [forward = std::move(kernel.forward),
                  types = OutputTypes(load)](KernelContext& run) -> Status {
        Trace* const trace = Trace::Current();
        if (trace == nullptr) {
          return FailedPrecondition("a traced kernel runs without a trace");
        }
        TracedContext context(run, *trace, types);
        ASSAY_RETURN_IF_ERROR(context.TakeInputs());
        ASSAY_RETURN_IF_ERROR(forward(context));
        ASSAY_RETURN_IF_ERROR(context.RoundOutputs());
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
