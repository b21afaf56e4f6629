// SPDX-License-Identifier: Apache-2.0
//
// OperatorDefect: what is wrong with some operators, wherever they occur, as a
// family that is asked before the reference's. Everything else stays right,
// because the reference's kernel does the work.
//
// Rewritten changes the operator's attributes at Load, Fed what a kernel reads,
// as do Changed and Dropped, Spoiled what it wrote, Between both, Replaced the
// kernel.

#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "backends/faulty/numbers.h"
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

/// make(op, load, right) gives the kernel of each of the operators.
template <class... Op, class Make>
OperatorDefect Replaced(Ops<Op...>, Make make) {
  return {[make] {
            const auto wrong = [make, right = std::make_shared<Right>()](
                                   const auto& op, LoadContext& load) {
              return make(op, load, *right);
            };
            return reference::FamilyOf(reference::On<Op>(wrong)...);
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

/// One attribute, which is named for each of the operators, has the value.
template <class V, class T, class... Op>
OperatorDefect Set(V value, T Op::*... members) {
  const auto names = std::tuple(members...);
  return Rewritten(Ops<Op...>(), [=]<class Any>(Any& op) {
    op.*std::get<T Any::*>(names) = value;
  });
}

/// Stands for a change where there is none.
inline constexpr std::nullptr_t kNone = nullptr;

template <class Op, class Change>
Feeding FeedingOf(const Op& op, const Change& change) {
  if constexpr (std::is_null_pointer_v<Change>) {
    return {};
  } else if constexpr (std::is_invocable_v<const Change&, Values&>) {
    return change;
  } else {
    return std::bind_front(change, op);
  }
}

template <class Op, class Change>
Spoiling SpoilingOf(const Op& op, const Change& change) {
  if constexpr (std::is_null_pointer_v<Change>) {
    return {};
  } else if constexpr (std::is_invocable_v<const Change&, Values&>) {
    return [change](const Values&, Values& outputs) { return change(outputs); };
  } else if constexpr (std::is_invocable_v<const Change&, const Values&,
                                           Values&>) {
    return change;
  } else {
    return std::bind_front(change, op);
  }
}

/// feed(op, inputs), or feed(inputs), alters what the kernel reads, and
/// spoil(op, inputs, outputs), spoil(inputs, outputs) or spoil(outputs) what it
/// wrote.
template <class... Op, class Feed, class Spoil>
OperatorDefect Between(Ops<Op...> ops, Feed feed, Spoil spoil) {
  return Replaced(ops,
                  [=](const auto& op, LoadContext& load,
                      const Right& right) -> Result<Kernel> {
                    ASSAY_ASSIGN_OR_RETURN(Kernel kernel, right(op, load));
                    return Around(std::move(kernel), load.node(),
                                  FeedingOf(op, feed), SpoilingOf(op, spoil));
                  });
}

template <class... Op, class Change>
OperatorDefect Fed(Ops<Op...> ops, Change change) {
  return Between(ops, change, kNone);
}
template <class... Op, class Change>
OperatorDefect Spoiled(Ops<Op...> ops, Change change) {
  return Between(ops, kNone, change);
}

/// change(tensor) is read in place of one input, which is named for each of the
/// operators, where the node has it.
template <class Change, class... Op>
OperatorDefect Changed(Change change, Input Op::*... members) {
  const auto names = std::tuple(members...);
  return Fed(Ops<Op...>(),
             [=]<class Any>(const Any& op, Values& inputs) -> Status {
               const Input input = op.*std::get<Input Any::*>(names);
               const auto at = static_cast<size_t>(input.position);
               return at < inputs.size() ? ChangeTensor(inputs[at], change)
                                         : OkStatus();
             });
}

/// change(x) in place of each number x of it.
template <class... Op>
OperatorDefect ChangedNumbers(double (*change)(double x),
                              Input Op::*... members) {
  return Changed(
      [=](const Tensor& tensor) {
        return WithNumbers(tensor,
                           [=](int64_t, double x) { return change(x); });
      },
      members...);
}

/// All its elements are the number.
template <class... Op>
OperatorDefect Filled(double number, Input Op::*... members) {
  return Changed(
      [=](const Tensor& tensor) {
        return WithNumbers(tensor, [=](int64_t, double) { return number; });
      },
      members...);
}

/// It is omitted.
template <class... Op>
OperatorDefect Dropped(Input Op::*... members) {
  const auto names = std::tuple(members...);
  return Fed(Ops<Op...>(),
             [=]<class Any>(const Any& op, Values& inputs) -> Status {
               const Input input = op.*std::get<Input Any::*>(names);
               const auto at = static_cast<size_t>(input.position);
               if (at < inputs.size()) inputs[at] = Value();
               return OkStatus();
             });
}

}  // namespace assay::faulty
