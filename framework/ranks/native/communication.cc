// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/native/communication.h"

#include <algorithm>
#include <functional>
#include <span>
#include <string>

#include "framework/core/tensor.h"

namespace assay::ranks {
namespace {

constexpr Input kX{0, true};
constexpr Output kY{0, true};

using Together = std::function<Status(std::span<Tensor>, Endpoint&)>;

/// Nothing for another operator.
Together TogetherOf(const std::string& name, const Travel& travel) {
  if (name == "AllReduceMean") {
    return [travel](std::span<Tensor> tensors, Endpoint& mine) {
      return MeanOfAll(tensors, travel, mine);
    };
  }
  if (name == "MeanAtRoot") {
    return [travel](std::span<Tensor> tensors, Endpoint& mine) {
      return MeanAtRoot(tensors, travel, 0, mine);
    };
  }
  if (name == "FromRoot") {
    return [travel](std::span<Tensor> tensors, Endpoint& mine) {
      return FromRoot(tensors, travel, 0, mine);
    };
  }
  return nullptr;
}

}  // namespace

Result<Kernel> Communication::VisitCustom(const Node& node, LoadContext& load) {
  if (node.domain != kDomain) return OperatorVisitor::VisitCustom(node, load);
  Together together = TogetherOf(node.op_type, travel_);
  if (!together) return OperatorVisitor::VisitCustom(node, load);
  const auto forward = [together = std::move(together),
                        &mine = endpoint_](KernelContext& run) -> Status {
    const Tensor& x = run.input(kX);
    ASSAY_ASSIGN_OR_RETURN(Tensor* const y,
                           run.Output(kY, x.dtype(), x.shape()));
    if (y == nullptr) {
      return InvalidArgument("found no output, wanted one");
    }
    std::ranges::copy(x.bytes(), y->mutable_data());
    return together(std::span(y, 1), mine);
  };
  return Kernel{forward, {}, {}};
}

}  // namespace assay::ranks
