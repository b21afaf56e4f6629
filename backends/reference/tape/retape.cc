// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/tape/retape.h"

#include <vector>

#include "backends/reference/scalar/codec.h"
#include "backends/reference/tape/passes.h"
#include "backends/reference/tape/trace.h"

namespace assay::reference {
namespace {

bool IsVars(const Tensor* tensor) {
  return tensor != nullptr && tensor->dtype() == kDTypeOf<Var>;
}

// What the network gave the node. Wanted ones are copies: a trace knows values
// by where they lie, and two may lie in one place.
Result<std::vector<Value>> GivenTo(const NodeNetwork& node,
                                   const GradientContext& run) {
  std::vector<Value> given;
  for (const Input input : node.inputs) {
    Value& value = given.emplace_back(run.value(input));
    if (!run.wanted(input)) continue;
    ASSAY_ASSIGN_OR_RETURN(Tensor copy, value.tensor()->Clone());
    value = Value(std::move(copy));
  }
  return given;
}

Result<std::vector<Value>> RunOn(Trace& trace, Network& network,
                                 std::span<const Value> inputs) {
  ASSAY_ASSIGN_OR_RETURN(const auto binding, network.Bind(inputs, {}));
  const Trace::Scope running(&trace);
  ASSAY_RETURN_IF_ERROR(network.Forward(*binding));
  return std::vector<Value>(binding->outputs().begin(),
                            binding->outputs().end());
}

std::vector<double> NumbersOf(const Tensor& tensor) {
  std::vector<double> numbers(static_cast<size_t>(tensor.num_elements()));
  Decode(tensor, numbers.data());
  return numbers;
}

Status AddSeeds(const Tensor& cotangent, const Tensor& vars,
                std::vector<double>& adjoints) {
  if (cotangent.shape() != vars.shape()) {
    return FailedPrecondition("run again, the node gives ",
                              vars.shape().ToString(), ", in the run it gave ",
                              cotangent.shape().ToString());
  }
  const std::vector<double> numbers = NumbersOf(cotangent);
  for (size_t i = 0; i < numbers.size(); ++i) {
    adjoints[vars.elements<Var>()[i].node()] += numbers[i];
  }
  return OkStatus();
}

void Gather(const Tensor& vars, const std::vector<double>& adjoints,
            Tensor& gradient) {
  std::vector<double> numbers;
  for (const Var& var : vars.elements<Var>()) {
    numbers.push_back(adjoints[var.node()]);
  }
  Encode(numbers.data(), gradient);
}

}  // namespace

Status Retape(const NodeNetwork& node, GradientContext& run) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Value> inputs, GivenTo(node, run));
  Trace trace(Ties::kFalse, Trace::Between::kRounded);
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Value> outputs,
                         RunOn(trace, *node.network, inputs));
  std::vector<double> adjoints(trace.tape().size(), 0.0);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor* const cotangent = run.cotangent(node.outputs[i]);
    if (cotangent == nullptr || !IsVars(outputs[i].tensor())) continue;
    ASSAY_RETURN_IF_ERROR(AddSeeds(*cotangent, *outputs[i].tensor(), adjoints));
  }
  Reverse(trace.tape(), trace.tape().values(), adjoints);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!run.wanted(node.inputs[i])) continue;
    const Tensor* const vars = trace.Find(*inputs[i].tensor());
    if (vars == nullptr) continue;  // the node did not read it
    ASSAY_ASSIGN_OR_RETURN(Tensor* const gradient,
                           run.Gradient(node.inputs[i]));
    Gather(*vars, adjoints, *gradient);
  }
  return OkStatus();
}

}  // namespace assay::reference
