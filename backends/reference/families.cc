// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/families.h"

#include <algorithm>
#include <functional>
#include <span>
#include <utility>

#include "backends/reference/exact/exact_network.h"
#include "backends/reference/loop/simd.h"
#include "backends/reference/native/native_network.h"
#include "backends/reference/scalar/seeds.h"
#include "backends/reference/tape/differentiate.h"
#include "backends/reference/tape/retape.h"
#include "backends/reference/tape/trace.h"
#include "framework/core/text.h"

namespace assay::reference {

namespace {

/// True when kernels keep their own backward. Invalid argument for a word that
/// the setting does not have.
Result<bool> KeepsBackward(const LoadOptions& options) {
  const auto setting = options.settings.find("backward");
  if (setting == options.settings.end()) return true;
  ASSAY_ASSIGN_OR_RETURN(
      const size_t word,
      WordOf("setting 'backward'", setting->second, {"own", "tape"}));
  return word == 0;
}

}  // namespace

Result<size_t> WordOf(std::string_view attribute, std::string_view word,
                      std::initializer_list<std::string_view> words) {
  const auto* const found = std::ranges::find(words, word);
  if (found != words.end()) return static_cast<size_t>(found - words.begin());
  const std::span<const std::string_view> all(words);
  return InvalidArgument(attribute, " is '", word, "', wanted ",
                         Joined(all.first(all.size() - 1)), " or ", all.back());
}

std::vector<Family> ReferenceFamilies() {
  using Make = Family (*)();
  constexpr Make kFamilies[] = {
      ElementwiseFamily,  BinaryFamily,        LogicFamily,
      MatMulFamily,       LinearAlgebraFamily, EinsumFamily,
      ConvFamily,         PoolingFamily,       SoftmaxFamily,
      ReductionFamily,    SelectionFamily,     UniqueFamily,
      ShapeFamily,        MovementFamily,      RearrangementFamily,
      IndexingFamily,     ResizeFamily,        GridSampleFamily,
      DetectionFamily,    GenerationFamily,    NormalizationFamily,
      RecurrentFamily,    QuantizationFamily,  ControlFamily,
      SequenceFamily,     StringFamily,        CastFamily,
      RandomFamily,       FeatureFamily,       LabelFamily,
      DictionaryFamily,   LinearModelFamily,   SupportVectorFamily,
      TreeEnsembleFamily, SpectrumFamily,      DeformConvFamily,
      ImageDecoderFamily, TrainingFamily,      AttentionFamily,
      LossFamily,         StateSpaceFamily};
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
    return LoadNative(
        *this, model, options,
        [this](std::shared_ptr<const Model> plain,
               const LoadOptions& how) -> Result<std::unique_ptr<Network>> {
          ASSAY_ASSIGN_OR_RETURN(auto loaded,
                                 EagerBackend::Load(std::move(plain), how));
          return WithDraws(std::move(loaded));
        });
  }
  if (!options.exact) return EagerBackend::Load(std::move(model), options);
  LoadOptions plain = options;
  plain.exact = false;
  ASSAY_ASSIGN_OR_RETURN(auto network, EagerBackend::Load(model, plain));
  LoadOptions traced = options;
  traced.gradient_targets.clear();
  ASSAY_ASSIGN_OR_RETURN(auto tracing, EagerBackend::Load(model, traced));
  return MakeExactNetwork(std::move(model), std::move(network),
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
