// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/families.h"

#include <functional>
#include <utility>

#include "backends/reference/exact/exact_network.h"
#include "backends/reference/loop/simd.h"
#include "backends/reference/native/drawing_network.h"
#include "backends/reference/native/native_network.h"
#include "backends/reference/scalar/seeds.h"
#include "backends/reference/tape/differentiate.h"
#include "backends/reference/tape/retape.h"
#include "backends/reference/tape/trace.h"

namespace assay::reference {

namespace {

/// True when kernels keep their own backward. Invalid argument for a word that
/// the setting does not have.
Result<bool> KeepsBackward(const LoadOptions& options) {
  const auto setting = options.settings.find("backward");
  if (setting == options.settings.end() || setting->second == "own") {
    return true;
  }
  if (setting->second == "tape") return false;
  return InvalidArgument("setting 'backward' is '", setting->second,
                         "', wanted own or tape");
}

}  // namespace

std::vector<Family> ReferenceFamilies() {
  using Make = Family (*)();
  constexpr Make kFamilies[] = {
      ElementwiseFamily,  ActivationFamily,    BinaryFamily,
      LogicFamily,        MatMulFamily,        LinearAlgebraFamily,
      EinsumFamily,       ConvFamily,          TransposedConvFamily,
      PoolingFamily,      SoftmaxFamily,       ReductionFamily,
      SelectionFamily,    UniqueFamily,        ShapeFamily,
      MovementFamily,     RearrangementFamily, PaddingFamily,
      IndexingFamily,     ResizeFamily,        GridSampleFamily,
      DetectionFamily,    GenerationFamily,    NormalizationFamily,
      RecurrentFamily,    QuantizationFamily,  ControlFamily,
      SequenceFamily,     StringFamily,        CastFamily,
      RandomFamily,       NgramFamily,         PatternFamily,
      FeatureFamily,      LabelFamily,         DictionaryFamily,
      LinearModelFamily,  SupportVectorFamily, TreeEnsembleFamily,
      SpectrumFamily,     DeformConvFamily,    RegionPoolingFamily,
      ImageDecoderFamily, TrainingFamily,      AttentionFamily,
      LossFamily,         StateSpaceFamily,    RotaryFamily};
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
  ASSAY_RETURN_IF_ERROR(KeepsBackward(options).status());
  if (!options.exact && options.mode == Mode::kTraining) {
    return NativeNetwork::Load(
        *this, model, options,
        [this](std::shared_ptr<const Model> plain,
               const LoadOptions& how) -> Result<std::unique_ptr<Network>> {
          ASSAY_ASSIGN_OR_RETURN(auto loaded,
                                 EagerBackend::Load(std::move(plain), how));
          return std::unique_ptr<Network>(
              std::make_unique<DrawingNetwork>(std::move(loaded)));
        });
  }
  if (!options.exact) return EagerBackend::Load(std::move(model), options);
  LoadOptions plain = options;
  plain.exact = false;
  ASSAY_ASSIGN_OR_RETURN(auto network, EagerBackend::Load(model, plain));
  LoadOptions traced = options;
  traced.gradient_targets.clear();
  ASSAY_ASSIGN_OR_RETURN(auto tracing, EagerBackend::Load(model, traced));
  return ExactNetwork::Make(std::move(model), std::move(network),
                            std::move(tracing));
}

Result<Kernel> ReferenceBackend::Around(Kernel kernel,
                                        const LoadContext& load) const {
  if (load.options().exact) return Traced(std::move(kernel), load);
  ASSAY_ASSIGN_OR_RETURN(const bool keeps, KeepsBackward(load.options()));
  if (!keeps) kernel.backward = nullptr;
  const bool may_be_retaped = !load.options().gradient_targets.empty();
  if (!may_be_retaped || load.node().Subgraphs().empty()) return kernel;
  return Repeatable(std::move(kernel));
}

Result<BackwardFunction> ReferenceBackend::MakeBackward(LoadContext& load) {
  LoadOptions traced = load.options();
  traced.exact = true;
  traced.gradient_targets.clear();
  traced.extra_outputs.clear();
  const bool has_bodies = !load.node().Subgraphs().empty();
  if (has_bodies) traced = Repeating(std::move(traced));
  ASSAY_ASSIGN_OR_RETURN(NodeNetwork node, LoadNode(load, traced));
  const Drawn drawn = has_bodies ? Drawn::kFromSavedSeed : Drawn::kNothing;
  return std::bind_front(&Retape, std::move(node), drawn);
}

DifferentiateFunction ReferenceBackend::MakeDifferentiate(
    const LoadOptions& options) {
  return options.exact ? &DifferentiateOnTape : DifferentiateFunction();
}

}  // namespace assay::reference
