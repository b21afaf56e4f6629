// SPDX-License-Identifier: Apache-2.0
//
// OperatorDefect: what is wrong with some operators, wherever they occur, as a
// family that is asked before the reference's. Everything else stays right,
// because the reference's kernel does the work.
//
//   Rewritten(Ops<op::LeakyRelu>(), [](auto& op) { op.alpha = 0.01F; });
//   Fed(Ops<op::Conv>(), [](const auto& op, Values& inputs) -> Status {
//     inputs[op.b.position] = Value();
//     return OkStatus();
//   });
//
// Rewritten changes the operator's attributes at Load, Fed what a kernel reads,
// Spoiled what it wrote, Replaced the kernel.

#ifndef ASSAY_BACKENDS_FAULTY_DEFECT_H_
#define ASSAY_BACKENDS_FAULTY_DEFECT_H_

#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/reference/families.h"
#include "framework/backend/eager/eager.h"

namespace assay::faulty {

/// The values of one run of a node, by position; absent where omitted.
using Values = std::vector<Value>;

/// Typed operators, as a tag.
template <class... Op>
struct Ops {};

/// The reference's kernels.
class Right {
 public:
  template <class Op>
  Result<Kernel> operator()(const Op& op, LoadContext& load) const {
    for (const auto& family : families_) {
      Result<Kernel> kernel = family->Visit(op, load);
      if (kernel.ok() || kernel.status().reason() != Reason::kOperator) {
        return kernel;
      }
    }
    return Unsupported(Reason::kOperator, "operator ", Op::kName,
                       " is not offered");
  }

 private:
  std::vector<reference::Family> families_ = reference::ReferenceFamilies();
};

struct OperatorDefect {
  /// The family to be asked first; empty where no operator is wrong.
  std::function<std::unique_ptr<OperatorVisitor>()> family;
  /// The operators that it makes wrong.
  std::vector<std::string_view> operators;
};

/// Tensors among the values are replaced, never written into: their memory is
/// the caller's or that of another node.
using Feeding = std::function<Status(Values& inputs)>;
using Spoiling = std::function<Status(const Values& inputs, Values& outputs)>;

/// The kernel between a change of what it reads and one of what it wrote;
/// either may be empty. Its backward stays as it is.
Kernel Around(Kernel right, const Node& node, Feeding feed, Spoiling spoil);

/// A family with one Visit for each of the operators, which calls
/// make(op, load, right).
template <class Make, class... Op>
class WrongFamily : public OperatorVisitor {
 public:
  explicit WrongFamily(Make make) : make_(std::move(make)) {}

 protected:
  Make make_;
  Right right_;
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverloaded-virtual"

template <class Make, class Op, class... Rest>
class WrongFamily<Make, Op, Rest...> : public WrongFamily<Make, Rest...> {
 public:
  using WrongFamily<Make, Rest...>::WrongFamily;
  using WrongFamily<Make, Rest...>::Visit;

  Result<Kernel> Visit(const Op& op, LoadContext& load) override {
    return this->make_(op, load, this->right_);
  }
};

#pragma GCC diagnostic pop

/// make(op, load, right) gives the kernel of each of the operators.
template <class... Op, class Make>
OperatorDefect Replaced(Ops<Op...>, Make make) {
  return {[make]() -> std::unique_ptr<OperatorVisitor> {
            return std::make_unique<WrongFamily<Make, Op...>>(make);
          },
          {Op::kName...}};
}

/// change(op) alters the typed operator.
template <class... Op, class Change>
OperatorDefect Rewritten(Ops<Op...> ops, Change change) {
  return Replaced(ops,
                  [change](const auto& op, LoadContext& load,
                           const Right& right) -> Result<Kernel> {
                    auto changed = op;
                    change(changed);
                    return right(changed, load);
                  });
}

/// change(op, inputs) alters what the kernel reads.
template <class... Op, class Change>
OperatorDefect Fed(Ops<Op...> ops, Change change) {
  return Replaced(
      ops,
      [change](const auto& op, LoadContext& load,
               const Right& right) -> Result<Kernel> {
        ASSAY_ASSIGN_OR_RETURN(Kernel kernel, right(op, load));
        return Around(
            std::move(kernel), load.node(),
            [op, change](Values& inputs) { return change(op, inputs); }, {});
      });
}

/// change(op, inputs, outputs) alters what the kernel wrote.
template <class... Op, class Change>
OperatorDefect Spoiled(Ops<Op...> ops, Change change) {
  return Replaced(ops,
                  [change](const auto& op, LoadContext& load,
                           const Right& right) -> Result<Kernel> {
                    ASSAY_ASSIGN_OR_RETURN(Kernel kernel, right(op, load));
                    return Around(
                        std::move(kernel), load.node(), {},
                        [op, change](const Values& inputs, Values& outputs) {
                          return change(op, inputs, outputs);
                        });
                  });
}

}  // namespace assay::faulty

#endif  // ASSAY_BACKENDS_FAULTY_DEFECT_H_
