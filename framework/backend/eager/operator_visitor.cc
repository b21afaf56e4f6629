// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/eager/operator_visitor.h"

#include <vector>

namespace assay::inline v1 {

template class Visitor<Result<Kernel>, LoadContext>;

Result<Kernel> OperatorVisitor::VisitCustom(const Node& node, LoadContext&) {
  return Unsupported(Reason::kOperator, "operator ", node.domain, ".",
                     node.op_type, " is not offered");
}

Result<Kernel> OperatorVisitor::Decline(OperatorId id, LoadContext&) {
  // Most families decline most operators: the words are put together once.
  static const auto* const declined = [] {
    auto* all = new std::vector<Status>();
    for (const OperatorInfo& info : Operators()) {
      all->push_back(Unsupported(Reason::kOperator, "operator ", info.name,
                                 " is not offered"));
    }
    return all;
  }();
  return (*declined)[static_cast<size_t>(id)];
}

}  // namespace assay::inline v1
