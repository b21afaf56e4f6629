// SPDX-License-Identifier: Apache-2.0
//
// OperatorVisitor: a family of an eager backend's operators.
//
//   class Activations : public OperatorVisitor {
//     using OperatorVisitor::Visit;
//     Result<Kernel> Visit(const op::Relu& op, LoadContext& load) override;
//   };

#pragma once

#include "framework/backend/eager/kernel.h"
#include "framework/graph/generated/visitor.h"

namespace assay::inline v1 {

// Made once, in the core, instead of in every file with a family.
extern template class Visitor<Result<Kernel>, LoadContext>;

/// Visit(const op::X&, LoadContext&) for every operator X, each declining as
/// `unsupported`, reason operator, unless overridden.
class OperatorVisitor : public Visitor<Result<Kernel>, LoadContext> {
 public:
  /// A node of a domain that is not ONNX's.
  virtual Result<Kernel> VisitCustom(const Node& node, LoadContext& load);

 protected:
  Result<Kernel> Decline(OperatorId id, LoadContext& load) final;
};

}  // namespace assay::inline v1
