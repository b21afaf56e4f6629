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

using FamilyPointer = std::unique_ptr<OperatorVisitor>;

template <class Op>
auto RowOf(Status (*add)(const Op&, ChainBuilder&)) {
  return On<Op>(add);
}
template <class Op>
auto RowOf(Result<Fill> (*make)(const Op&, LoadContext&)) {
  return On<Op>(make);
}

/// The row that builds the kernel of another: make(op, chain) appends its
/// primitives, or make(op, load) gives the Fill that will, or declines at Load.
template <class Op, class Make>
auto BuildingRow(std::shared_ptr<const Device> device,
                 OperatorRow<Op, Make> row) {
  return On<Op>([device = std::move(device), make = std::move(row.make)](
                    const Op& op, LoadContext& load) -> Result<Kernel> {
    if constexpr (std::is_invocable_v<const Make&, const Op&, ChainBuilder&>) {
      return BuildKernel(device->engine(), load, std::bind_front(make, op));
    } else {
      ASSAY_ASSIGN_OR_RETURN(Fill fill, make(op, load));
      return BuildKernel(device->engine(), load, std::move(fill));
    }
  });
}

template <class... Rows>
FamilyPointer FamilyOf(const std::shared_ptr<const Device>& device,
                       const Rows&... rows) {
  return assay::FamilyOf(BuildingRow(device, RowOf(rows))...);
}

FamilyPointer MakeAdapter();
FamilyPointer MakeBinary(const std::shared_ptr<const Device>& device);
FamilyPointer MakeConvolution(const std::shared_ptr<const Device>& device);
FamilyPointer MakeEltwise(const std::shared_ptr<const Device>& device);
FamilyPointer MakeInteger(const std::shared_ptr<const Device>& device);
FamilyPointer MakeMatMul(const std::shared_ptr<const Device>& device);
FamilyPointer MakeMovement(const std::shared_ptr<const Device>& device);
FamilyPointer MakeNormalization(const std::shared_ptr<const Device>& device);
FamilyPointer MakePooling(const std::shared_ptr<const Device>& device);
FamilyPointer MakeQuantization(const std::shared_ptr<const Device>& device);
FamilyPointer MakeReduction(const std::shared_ptr<const Device>& device);
FamilyPointer MakeResampling(const std::shared_ptr<const Device>& device);
FamilyPointer MakeRnn(const std::shared_ptr<const Device>& device);
FamilyPointer MakeSlicing(const std::shared_ptr<const Device>& device);

}  // namespace assay::onednn
