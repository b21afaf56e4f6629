// SPDX-License-Identifier: Apache-2.0
//
// A family of operators as a table of rows: a row is the operator and what
// makes its kernel when a model is loaded. Others than these: typed_rows.h.
//
//   Family ExampleFamily() {
//     return FamilyOf(
//         On<op::Abs>(Map(kNumbers, [](auto x) { return abs(x); })),
//         StringConcat,      // Status(const op::StringConcat&, KernelContext&)
//         MakeRoiAlign);     // Result<Kernel>(const op::RoiAlign&,
//   }                        //                LoadContext&)

#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "framework/backend/eager/eager.h"

namespace assay::reference {

using Family = std::unique_ptr<OperatorVisitor>;

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
Family FamilyOf(const Rows&... rows) {
  return std::make_unique<OperatorTable<decltype(RowOf(rows))...>>(
      RowOf(rows)...);
}

}  // namespace assay::reference
