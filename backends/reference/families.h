// SPDX-License-Identifier: Apache-2.0
//
// The operator families of the reference backend, one table of rows each, as
// operator_visitor.h has them. Other rows than these: typed_rows.h.
//
//   Family ExampleFamily() {
//     return FamilyOf(
//         On<op::Abs>(Map(kNumbers, [](auto x) { return abs(x); })),
//         StringConcat, MakeRoiAlign);
//   }

#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/backend/eager/eager.h"

namespace assay::reference {

using assay::FamilyOf;
using assay::On;
using Family = std::unique_ptr<OperatorVisitor>;

/// Which of these words an attribute has; invalid argument, which names them,
/// for another.
Result<size_t> WordOf(std::string_view attribute, std::string_view word,
                      std::initializer_list<std::string_view> words);

Family ElementwiseFamily();    // Abs, Clip, Relu, Elu, ...
Family BinaryFamily();         // Add, Pow, Max, ...
Family LogicFamily();          // Equal, And, ...
Family MatMulFamily();         // MatMul, Gemm
Family LinearAlgebraFamily();  // Det, DFT
Family EinsumFamily();         // Einsum
Family ConvFamily();           // Conv, ConvTranspose, Col2Im
Family PoolingFamily();        // MaxPool, ...
Family SoftmaxFamily();        // Softmax, Hardmax, ...
Family AttentionFamily();      // Attention, RotaryEmbedding
Family StateSpaceFamily();     // LinearAttention, ...
Family LossFamily();           // SoftmaxCrossEntropyLoss, ...
Family ReductionFamily();      // ReduceSum, ...
Family SelectionFamily();      // ArgMax, TopK, ...
Family UniqueFamily();         // Unique
Family ShapeFamily();          // Reshape, Shape, ...
Family MovementFamily();       // Transpose, Slice, ...
Family RearrangementFamily();  // BitCast, Pad, ...
Family IndexingFamily();       // Gather, Scatter, ...
Family ResizeFamily();         // Resize
Family GridSampleFamily();     // GridSample
Family DetectionFamily();      // NonMaxSuppression, RoiAlign, ...
Family GenerationFamily();     // Constant, Range, ...
Family RandomFamily();         // Bernoulli, Dropout, ...
Family NormalizationFamily();  // BatchNormalization, ...
Family RecurrentFamily();      // RNN, GRU, LSTM
Family QuantizationFamily();   // QuantizeLinear, ...
Family ControlFamily();        // If, Loop, Scan
Family SequenceFamily();       // SequenceAt, Optional, ...
Family StringFamily();         // StringConcat, TfIdfVectorizer, ...
Family CastFamily();           // Cast, CastLike
Family SpectrumFamily();       // STFT, MelWeightMatrix, HannWindow, ...
Family DeformConvFamily();     // DeformConv
Family ImageDecoderFamily();   // ImageDecoder
Family TrainingFamily();       // Adagrad, Adam, Momentum
// Families of ai.onnx.ml:
Family FeatureFamily();        // Scaler, Imputer, ...
Family LabelFamily();          // LabelEncoder, OneHotEncoder, ...
Family DictionaryFamily();     // CastMap, DictVectorizer, ZipMap
Family LinearModelFamily();    // LinearClassifier, LinearRegressor
Family SupportVectorFamily();  // SVMClassifier, SVMRegressor
Family TreeEnsembleFamily();   // TreeEnsemble, ...

/// All of them, in the order in which they are asked.
std::vector<Family> ReferenceFamilies();
void AddReferenceFamilies(EagerBackend& backend);

/// A backend of all of them, which has the settings `isa` (simd.h) and
/// `backward`: `own`, or `tape` for gradients without the backward of kernels.
class ReferenceBackend : public EagerBackend {
 public:
  /// `first`, where there is one, is asked before the reference's families.
  explicit ReferenceBackend(std::unique_ptr<OperatorVisitor> first = nullptr) {
    if (first != nullptr) AddFamily(std::move(first));
    AddReferenceFamilies(*this);
  }

  Result<std::unique_ptr<Network>> Load(std::shared_ptr<const Model> model,
                                        const LoadOptions& options) override;

 protected:
  std::vector<std::string> Settings() const override {
    return {"isa", "backward"};
  }
  Result<Kernel> Around(Kernel kernel, const LoadContext& load) const override;
  Result<BackwardFunction> MakeBackward(LoadContext& load) override;
  DifferentiateFunction MakeDifferentiate(const LoadOptions& options) override;
};

}  // namespace assay::reference
