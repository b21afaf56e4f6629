// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/tape/retape.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "backends/reference/scalar/codec.h"
#include "backends/reference/scalar/seeds.h"
#include "backends/reference/tape/steps.h"

namespace assay::reference {
namespace {

// A step that is recorded again would draw anew.
constexpr size_t kKeepAllTapes = SIZE_MAX;

bool IsVars(const Tensor* tensor) {
  return tensor != nullptr && tensor->dtype() == kDTypeOf<Var>;
}

// The values that the network gave the node. Wanted ones are copies: a trace
// knows values by where they lie, and two may lie in one place.
Result<std::vector<v1::Value>> GivenTo(const NodeNetwork& node,
                                       const GradientContext& run) {
  std::vector<v1::Value> given;
  for (const Input input : node.inputs) {
    v1::Value& value = given.emplace_back(run.value(input));
    if (!run.wanted(input)) continue;
    ASSAY_ASSIGN_OR_RETURN(Tensor copy, value.tensor()->Clone());
    value = v1::Value(std::move(copy));
  }
  return given;
}

std::vector<double> DecodedNumbers(const Tensor& tensor) {
  std::vector<double> numbers(static_cast<size_t>(tensor.num_elements()));
  Decode(tensor, numbers.data());
  return numbers;
}

Status AddSeeds(const Trace& trace, const Tensor& cotangent, const Tensor& vars,
                Borders<double>* adjoints) {
  if (cotangent.shape() != vars.shape()) {
    return FailedPrecondition("run again, the node gives ",
                              vars.shape().ToString(), ", in the run it gave ",
                              cotangent.shape().ToString());
  }
  const std::vector<double> numbers = DecodedNumbers(cotangent);
  for (size_t i = 0; i < numbers.size(); ++i) {
    const Var& x = vars.elements<Var>()[i];
    AddTo(trace, x.source(), x.node(), numbers[i], adjoints);
  }
  return OkStatus();
}

void Gather(const Tensor& vars, const Borders<double>& adjoints,
            Tensor& gradient) {
  std::vector<double> numbers;
  for (const Var& x : vars.elements<Var>()) numbers.push_back(adjoints.Of(x));
  Encode(numbers.data(), gradient);
}

uint64_t SavedSeed(const GradientContext& run) {
  return run.saved(0).tensor()->elements<uint64_t>()[0];
}

}  // namespace

Kernel Repeatable(Kernel kernel) {
  kernel.forward =
      [forward = std::move(kernel.forward)](KernelContext& run) -> Status {
    std::optional<Seeds> own;
    Seeds* seeds = Seeds::Current();
    if (seeds == nullptr) seeds = &own.emplace(FreshSeed());
    const uint64_t seed = seeds->next();
    ASSAY_ASSIGN_OR_RETURN(Tensor* const saved,
                           run.Workspace(DType::kUint64, {}));
    if (saved != nullptr) saved->mutable_elements<uint64_t>()[0] = seed;
    const Seeds::Scope drawing(seeds);
    return forward(run);
  };
  return kernel;
}

Status Retape(const NodeNetwork& node, Drawn drawn, GradientContext& run) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<v1::Value> inputs,
                         GivenTo(node, run));
  Trace trace(Ties::kFalse, Trace::Between::kRounded, kKeepAllTapes);
  std::vector<Tensor> targets(inputs.size());  // their Vars
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!run.wanted(node.inputs[i])) continue;
    ASSAY_ASSIGN_OR_RETURN(targets[i],
                           trace.AddTarget(*inputs[i].tensor(), nullptr));
  }
  ASSAY_ASSIGN_OR_RETURN(const auto binding, node.network->Bind(inputs, {}));
  const Trace::Scope running(&trace);
  Seeds seeds(drawn == Drawn::kNothing ? 0 : SavedSeed(run));
  const Seeds::Scope drawing(&seeds);
  ASSAY_RETURN_IF_ERROR(node.network->Forward(*binding));
  Borders<double> numbers;
  for (const uint32_t step : trace.steps()) {
    numbers.Put(step, trace.source(step).values);
  }
  Borders<double> adjoints(NothingGiven<double>());
  for (size_t i = 0; i < binding->outputs().size(); ++i) {
    const Tensor* const cotangent = run.cotangent(node.outputs[i]);
    ASSAY_ASSIGN_OR_RETURN(const v1::Value output,
                           trace.Unpacked(binding->outputs()[i]));
    if (cotangent == nullptr || !IsVars(output.tensor())) continue;
    ASSAY_RETURN_IF_ERROR(
        AddSeeds(trace, *cotangent, *output.tensor(), &adjoints));
  }
  ASSAY_RETURN_IF_ERROR(ReverseSteps(trace, numbers, &adjoints));
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!targets[i].defined()) continue;
    ASSAY_ASSIGN_OR_RETURN(Tensor* const gradient,
                           run.GradientToWrite(node.inputs[i]));
    Gather(targets[i], adjoints, *gradient);
  }
  return OkStatus();
}

}  // namespace assay::reference
