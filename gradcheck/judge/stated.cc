// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/judge/stated.h"

#include "framework/core/text.h"
#include "gradcheck/draw/draw.h"

namespace assay::gradcheck {
namespace {

/// Of one output or gradient.
std::string FaultOf(const std::string& what, const Value& got,
                    const Value& want) {
  const Tensor* const tensor = got.tensor();
  const Tensor& stated = *want.tensor();
  if (tensor == nullptr || !Carries(tensor->dtype()) ||
      tensor->shape() != stated.shape()) {
    return StrCat(
        what, " is ", tensor == nullptr ? "no tensor" : tensor->Signature(),
        ", wanted ", stated.shape().ToString(), " as the case states");
  }
  const std::vector<double> numbers = NumbersOf(*tensor);
  const std::vector<double> wanted = NumbersOf(stated);
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] == wanted[i]) continue;
    return StrCat(what, " is ", numbers[i], " at element ", i, ", wanted ",
                  wanted[i], " as the case states");
  }
  return "";
}

}  // namespace

std::string FaultOfStated(const cases::Stated& stated,
                          const std::vector<std::string>& targets,
                          std::span<const Value> outputs,
                          std::span<const Value> gradients) {
  for (size_t i = 0; i < stated.outputs.size(); ++i) {
    std::string fault =
        FaultOf(StrCat("output ", i), outputs[i], stated.outputs[i]);
    if (!fault.empty()) return fault;
  }
  for (size_t t = 0; t < targets.size(); ++t) {
    const auto want = stated.gradients.find(targets[t]);
    if (want == stated.gradients.end()) continue;
    std::string fault = FaultOf(StrCat("the gradient of '", targets[t], "'"),
                                gradients[t], want->second);
    if (!fault.empty()) return fault;
  }
  return "";
}

}  // namespace assay::gradcheck
