// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/families.h"

#include <utility>

#include "backends/reference/simd.h"

namespace assay::reference {

void AddReferenceFamilies(EagerBackend& backend) {
  backend.AddFamily(ElementwiseFamily());
  backend.AddFamily(ActivationFamily());
  backend.AddFamily(BinaryFamily());
  backend.AddFamily(LogicFamily());
  backend.AddFamily(MatMulFamily());
  backend.AddFamily(LinearAlgebraFamily());
  backend.AddFamily(EinsumFamily());
  backend.AddFamily(ConvFamily());
  backend.AddFamily(TransposedConvFamily());
  backend.AddFamily(PoolingFamily());
  backend.AddFamily(SoftmaxFamily());
  backend.AddFamily(ReductionFamily());
  backend.AddFamily(SelectionFamily());
  backend.AddFamily(UniqueFamily());
  backend.AddFamily(ShapeFamily());
  backend.AddFamily(MovementFamily());
  backend.AddFamily(RearrangementFamily());
  backend.AddFamily(PaddingFamily());
  backend.AddFamily(IndexingFamily());
  backend.AddFamily(ResizeFamily());
  backend.AddFamily(GridSampleFamily());
  backend.AddFamily(DetectionFamily());
  backend.AddFamily(GenerationFamily());
  backend.AddFamily(NormalizationFamily());
  backend.AddFamily(RecurrentFamily());
  backend.AddFamily(QuantizationFamily());
  backend.AddFamily(ControlFamily());
  backend.AddFamily(SequenceFamily());
  backend.AddFamily(StringFamily());
  backend.AddFamily(CastFamily());
  backend.AddFamily(RandomFamily());
}

Result<std::unique_ptr<Network>> ReferenceBackend::Load(
    std::shared_ptr<const Model> model, const LoadOptions& options) {
  ASSAY_RETURN_IF_ERROR(IsaOf(options).status());
  return EagerBackend::Load(std::move(model), options);
}

}  // namespace assay::reference
