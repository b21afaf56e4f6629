// SPDX-License-Identifier: Apache-2.0
//
// The operator families of the reference backend, one table of rows each: a row
// is the operator and what makes its kernel when a model is loaded. Others than
// these: typed_rows.h.
//
//   Family ExampleFamily() {
//     return FamilyOf(
//         On<op::Abs>(Map(kNumbers, [](auto x) { return abs(x); })),
//         StringConcat,      // Status(const op::StringConcat&, KernelContext&)
//         MakeRoiAlign);     // Result<Kernel>(const op::RoiAlign&,
//   }                        //                LoadContext&)

#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/backend/eager/eager.h"

namespace assay::reference {

using Family = std::unique_ptr<OperatorVisitor>;

/// Which of these words an attribute has; invalid argument, which names them,
/// for another.
Result<size_t> WordOf(std::string_view attribute, std::string_view word,
                      std::initializer_list<std::string_view> words);

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
