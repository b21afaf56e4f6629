// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/families.h"

#include <utility>

#include "backends/reference/simd.h"

namespace assay::reference {

std::vector<Family> ReferenceFamilies() {
  using Make = Family (*)();
  constexpr Make kFamilies[] = {
      ElementwiseFamily, ActivationFamily,    BinaryFamily,
      LogicFamily,       MatMulFamily,        LinearAlgebraFamily,
      EinsumFamily,      ConvFamily,          TransposedConvFamily,
      PoolingFamily,     SoftmaxFamily,       ReductionFamily,
      SelectionFamily,   UniqueFamily,        ShapeFamily,
      MovementFamily,    RearrangementFamily, PaddingFamily,
      IndexingFamily,    ResizeFamily,        GridSampleFamily,
      DetectionFamily,   GenerationFamily,    NormalizationFamily,
      RecurrentFamily,   QuantizationFamily,  ControlFamily,
      SequenceFamily,    StringFamily,        CastFamily,
      RandomFamily};
  std::vector<Family> families;
  for (const Make make : kFamilies) families.push_back(make());
  return families;
}

void AddReferenceFamilies(EagerBackend& backend) {
  for (Family& family : ReferenceFamilies()) {
    backend.AddFamily(std::move(family));
  }
}

Result<std::unique_ptr<Network>> ReferenceBackend::Load(
    std::shared_ptr<const Model> model, const LoadOptions& options) {
  ASSAY_RETURN_IF_ERROR(IsaOf(options).status());
  return EagerBackend::Load(std::move(model), options);
}

}  // namespace assay::reference
