// SPDX-License-Identifier: Apache-2.0
//
// OperatorVisitor: a family of an eager backend's operators.
//
//   class Activations : public OperatorVisitor {
//     using OperatorVisitor::Visit;
//     Result<Kernel> Visit(const op::Relu& op, LoadContext& load) override;
//   };
//
// FamilyOf makes one of rows, each an operator and what makes its kernel when a
// model is loaded:
//
//   Status StringConcat(const op::StringConcat& op, KernelContext& context) {
//     ...  // the forward of the kernel
//   }
//   Result<Kernel> MakeRoiAlign(const op::RoiAlign& op, LoadContext& load);
//   const auto family = FamilyOf(StringConcat, MakeRoiAlign,
//                                On<op::Abs>(make));  // the same with any make

#pragma once

#include <functional>
#include <memory>
#include <utility>

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

/// make(op, load) is the kernel of a node of type Op.
template <class Op, class Make>
struct OperatorRow {
  Make make;
};

template <class Op, class Make>
OperatorRow<Op, Make> On(Make make) {
  return {std::move(make)};
}

template <class Op, class Make>
OperatorRow<Op, Make> RowOf(OperatorRow<Op, Make> row) {
  return row;
}
template <class Op>
auto RowOf(Result<Kernel> (*make)(const Op&, LoadContext&)) {
  return On<Op>(make);
}
template <class Op>
auto RowOf(Status (*forward)(const Op&, KernelContext&)) {
  return On<Op>([forward](const Op& op, LoadContext&) -> Result<Kernel> {
    return Kernel{.forward = std::bind_front(forward, op)};
  });
}

template <class... Rows>
class OperatorTable : public OperatorVisitor {};

template <class Op, class Make, class... Rest>
class OperatorTable<OperatorRow<Op, Make>, Rest...>
    : public OperatorTable<Rest...> {
 public:
  explicit OperatorTable(OperatorRow<Op, Make> row, Rest... rest)
      : OperatorTable<Rest...>(std::move(rest)...), row_(std::move(row)) {}

  using OperatorTable<Rest...>::Visit;
  Result<Kernel> Visit(const Op& op, LoadContext& load) override {
    return row_.make(op, load);
  }

 private:
  OperatorRow<Op, Make> row_;
};

template <class... Rows>
std::unique_ptr<OperatorVisitor> FamilyOf(const Rows&... rows) {
  return std::make_unique<OperatorTable<decltype(RowOf(rows))...>>(
      RowOf(rows)...);
}

}  // namespace assay::inline v1
