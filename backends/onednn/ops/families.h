// SPDX-License-Identifier: Apache-2.0
//
// The families of operators that oneDNN runs, one per source file. An operator
// that no family visits is `unsupported`, reason operator: nothing that oneDNN
// lacks is computed by code of our own.
//
//   for (auto& family : MakeFamilies(device)) AddFamily(std::move(family));

#ifndef ASSAY_BACKENDS_ONEDNN_OPS_FAMILIES_H_
#define ASSAY_BACKENDS_ONEDNN_OPS_FAMILIES_H_

#include <memory>
#include <utility>

#include "backends/onednn/primitive/build_kernel.h"
#include "backends/onednn/primitive/device.h"
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

using FamilyPointer = std::unique_ptr<OperatorVisitor>;

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
FamilyPointer MakeSoftmax(std::shared_ptr<const Device> device);

/// Float32 or bfloat16, where the rest would be computed in float32 and
/// rounded or saturated in ways that are not the operator's.
Status CheckFloat(const TensorView& view);

/// Everything but int32: integers of 8 bits are exact in float32, in which
/// oneDNN computes, those of 32 bits are not.
Status CheckExact(const TensorView& view);

/// Float32 only: for chains, whose intermediate values bfloat16 would round.
Status CheckFloat32(const TensorView& view);

}  // namespace assay::onednn

#endif  // ASSAY_BACKENDS_ONEDNN_OPS_FAMILIES_H_
