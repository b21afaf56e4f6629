// SPDX-License-Identifier: Apache-2.0
//
// The families of operators that oneDNN runs, one per source file. An operator
// that no family visits is `unsupported`, reason operator: nothing that oneDNN
// lacks is computed by code of our own.
//
//   FamilyPointer MakeSlicing(std::shared_ptr<const Device> device) {
//     return FamilyOf(std::move(device), On<op::Slice>(...));
//   }

#pragma once

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "backends/onednn/primitive/device.h"
#include "backends/onednn/reverse/build_kernel.h"
#include "framework/backend/eager/eager.h"

namespace assay::onednn {

class Family : public OperatorVisitor {
 public:
  explicit Family(std::shared_ptr<const Device> device)
      : device_(std::move(device)) {}

 protected:
  Result<Kernel> Build(LoadContext& load, Fill fill) const {
    return BuildKernel(device_->engine(), load, std::move(fill));
  }

 private:
  std::shared_ptr<const Device> device_;
};

/// How the kernel of an operator is made: make(op, chain) appends its
/// primitives, or make(op, load) gives the Fill that will, or declines at Load.
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
auto RowOf(Status (*add)(const Op&, ChainBuilder&)) {
  return On<Op>(add);
}
template <class Op>
auto RowOf(Result<Fill> (*make)(const Op&, LoadContext&)) {
  return On<Op>(make);
}

/// A family by rows, which FamilyOf takes.
template <class... Rows>
class OperatorTable : public Family {
 public:
  using Family::Family;
};

template <class Op, class Make, class... Rest>
class OperatorTable<OperatorRow<Op, Make>, Rest...>
    : public OperatorTable<Rest...> {
 public:
  OperatorTable(std::shared_ptr<const Device> device, OperatorRow<Op, Make> row,
                Rest... rest)
      : OperatorTable<Rest...>(std::move(device), std::move(rest)...),
        row_(std::move(row)) {}

  using OperatorTable<Rest...>::Visit;
  Result<Kernel> Visit(const Op& op, LoadContext& load) override {
    if constexpr (std::is_invocable_v<Make&, const Op&, ChainBuilder&>) {
      return this->Build(load, std::bind_front(row_.make, op));
    } else {
      ASSAY_ASSIGN_OR_RETURN(Fill fill, row_.make(op, load));
      return this->Build(load, std::move(fill));
    }
  }

 private:
  OperatorRow<Op, Make> row_;
};

using FamilyPointer = std::unique_ptr<OperatorVisitor>;

template <class... Rows>
FamilyPointer FamilyOf(std::shared_ptr<const Device> device,
                       const Rows&... rows) {
  return std::make_unique<OperatorTable<decltype(RowOf(rows))...>>(
      std::move(device), RowOf(rows)...);
}

FamilyPointer MakeAdapter();
FamilyPointer MakeBinary(std::shared_ptr<const Device> device);
FamilyPointer MakeConvolution(std::shared_ptr<const Device> device);
FamilyPointer MakeEltwise(std::shared_ptr<const Device> device);
FamilyPointer MakeInteger(std::shared_ptr<const Device> device);
FamilyPointer MakeMatMul(std::shared_ptr<const Device> device);
FamilyPointer MakeMovement(std::shared_ptr<const Device> device);
FamilyPointer MakeNormalization(std::shared_ptr<const Device> device);
FamilyPointer MakePooling(std::shared_ptr<const Device> device);
FamilyPointer MakeQuantization(std::shared_ptr<const Device> device);
FamilyPointer MakeReduction(std::shared_ptr<const Device> device);
FamilyPointer MakeResampling(std::shared_ptr<const Device> device);
FamilyPointer MakeRnn(std::shared_ptr<const Device> device);
FamilyPointer MakeSlicing(std::shared_ptr<const Device> device);

}  // namespace assay::onednn
