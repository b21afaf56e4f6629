// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/eager/operator_visitor.h"

namespace assay::inline v1 {

template class Visitor<Result<Kernel>, LoadContext>;

Result<Kernel> OperatorVisitor::VisitCustom(const Node& node, LoadContext&) {
  return Unsupported(Reason::kOperator, "operator ", node.domain, ".",
                     node.op_type, " is not offered");
}

Result<Kernel> OperatorVisitor::Decline(OperatorId id, LoadContext&) {
  const OperatorInfo& info = Operators()[static_cast<size_t>(id)];
  return Unsupported(Reason::kOperator, "operator ", info.name,
                     " is not offered");
}

}  // namespace assay::inline v1
