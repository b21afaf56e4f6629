// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/exact/recording.h"

namespace assay::reference {
namespace {

constexpr double kMostInQuad = 0x1p28;
constexpr double kMostInPairs = 0x1p35;
constexpr double kMostInMpfr = 0x1p26;
constexpr size_t kMostNodesInMpfr = size_t{1} << 23;

}  // namespace

Result<const double*> DirectionOf(const v1::Value& direction,
                                  const Shape& shape, std::string_view name) {
  if (!direction.present()) return static_cast<const double*>(nullptr);
  const Tensor* const tensor = direction.tensor();
  if (tensor == nullptr || tensor->dtype() != DType::kFloat64 ||
      tensor->shape() != shape) {
    return InvalidArgument("the direction of '", name, "' is ",
                           direction.Type().ToString(), ", wanted float64",
                           shape.ToString());
  }
  return tensor->elements<double>().data();
}

Status CheckCount(size_t found, size_t wanted, std::string_view what) {
  if (found == wanted) return OkStatus();
  return InvalidArgument("found ", found, " ", what, ", wanted ", wanted);
}

Status Recording::Fill(Network& network, std::span<const v1::Value> inputs,
                       std::span<const Target> moved,
                       const Directions& directions, double step) {
  targets.resize(moved.size());
  for (size_t i = 0; i < moved.size(); ++i) {
    const Tensor& tensor = *moved[i].value.tensor();
    std::vector<double> offsets;
    if (directions[i] != nullptr) {
      offsets.assign(directions[i], directions[i] + tensor.num_elements());
      for (double& offset : offsets) offset *= step;
    }
    ASSAY_ASSIGN_OR_RETURN(
        targets[i],
        trace.AddTarget(tensor,
                        directions[i] == nullptr ? nullptr : offsets.data()));
  }
  ASSAY_ASSIGN_OR_RETURN(binding, network.Bind(inputs, {}));
  const Trace::Scope running(&trace);
  ASSAY_RETURN_IF_ERROR(network.Forward(*binding));
  for (const v1::Value& output : binding->outputs()) {
    ASSAY_ASSIGN_OR_RETURN(outputs.emplace_back(), trace.Traced(output));
  }
  for (const auto& output : network.outputs()) names.push_back(output.name);
  trace.Keep(outputs);
  return OkStatus();
}

Status CheckSteps(const Trace& trace, Precision precision, PassKind kind) {
  if (precision == Precision::kDouble) return OkStatus();
  const bool in_quad = precision == Precision::kQuad;
  const auto check = [&](double found, double most) {
    if (found <= most) return OkStatus();
    return ResourceExhausted("found ", found, " steps, wanted ", most,
                             " at most in ", in_quad ? "quad" : "MPFR");
  };
  double steps = trace.operation_count();
  if (in_quad && kind == PassKind::kValues) {
    ASSAY_RETURN_IF_ERROR(check(trace.pair_count(), kMostInPairs));
    steps -= trace.pair_count();
  }
  ASSAY_RETURN_IF_ERROR(check(steps, in_quad ? kMostInQuad : kMostInMpfr));
  if (!in_quad && trace.most_nodes() > kMostNodesInMpfr) {
    return ResourceExhausted("found ", trace.most_nodes(), " nodes, wanted ",
                             kMostNodesInMpfr, " at most in MPFR");
  }
  return OkStatus();
}

}  // namespace assay::reference
