// SPDX-License-Identifier: Apache-2.0
//
// Features of ai.onnx.ml made from features: Binarizer, Scaler, Normalizer,
// Imputer, FeatureVectorizer, ArrayFeatureExtractor.

#include <algorithm>
#include <cmath>
#include <functional>

#include "backends/reference/families.h"
#include "backends/reference/kernel/pointwise.h"
#include "backends/reference/ops/traditionalml/prediction.h"

namespace assay::reference {
namespace {

/// x > threshold; for integers exactly, which no float may be near enough for.
template <class T>
bool Exceeds(T x, float threshold) {
  if constexpr (std::integral<T>) {
    const float whole = std::floor(threshold);
    if (!(whole < 0x1p63F)) return false;  // NaN too
    if (whole < -0x1p63F) return true;
    return static_cast<int64_t>(x) > static_cast<int64_t>(whole);
  } else {
    return Less(T(threshold), x);
  }
}

// ONNX page of Scaler-1: first the offset is subtracted, then the scale
// multiplied by; each is one for all features or one per feature, the last
// axis. A list that is not given changes nothing.
template <class T>
Status Scale(const op::ml::Scaler& op, KernelContext& run) {
  const Tensor& tensor = run.input(op.x);
  const Shape& shape = tensor.shape();
  const int64_t width = shape.rank() == 0 ? 1 : shape[shape.rank() - 1];
  for (const auto* list : {&op.offset, &op.scale}) {
    if (list->size() > 1 && std::ssize(*list) != width) {
      return InvalidArgument(list == &op.offset ? "offset" : "scale", " has ",
                             list->size(), " elements, wanted one or ", width,
                             " for ", tensor.Signature());
    }
  }
  const Loaded<T> x(tensor);
  ASSAY_ASSIGN_OR_RETURN(auto y, Store<T>(run, op.y, DType::kFloat32, shape));
  const auto of = [&](const std::vector<float>& list, int64_t i, float none) {
    if (list.empty()) return T(none);
    return T(list[static_cast<size_t>(list.size() == 1 ? 0 : i % width)]);
  };
  for (int64_t i = 0; i < x.size(); ++i) {
    y[i] = (x[i] - of(op.offset, i, 0)) * of(op.scale, i, 1);
  }
  return OkStatus();
}

enum class Norm : uint8_t { kMax, kL1, kL2 };

// ONNX page of Normalizer-1: X / max(X), X / sum(X) and sqrt(X^2 / sum(X^2)) of
// each row, and X where the divisor is zero. For negative elements the formulas
// are no norms; there this is ONNX's reference implementation, which takes max
// and sum of magnitudes and keeps the sign.
template <class T>
T DivisorOf(Norm norm, const T* row, int64_t count) {
  NormSum<T> sum(norm == Norm::kL2 ? 2 : 1);
  Choose<T> greatest;
  for (int64_t i = 0; i < count; ++i) {
    if (norm == Norm::kMax) {
      greatest.Offer(abs(row[i]), i);
    } else {
      sum.Add(row[i]);
    }
  }
  return norm == Norm::kMax ? greatest.best() : sum.Root();
}

template <class T>
Status Normalize(const op::ml::Normalizer& op, Norm norm, KernelContext& run) {
  const Tensor& tensor = run.input(op.x);
  ASSAY_ASSIGN_OR_RETURN(const auto rows, FeatureRows::Of(tensor));
  const Loaded<T> x(tensor);
  ASSAY_ASSIGN_OR_RETURN(auto y,
                         Store<T>(run, op.y, DType::kFloat32, tensor.shape()));
  for (int64_t n = 0; n < rows.count; ++n) {
    const T* row = x.data() + n * rows.width;
    const T divisor = DivisorOf(norm, row, rows.width);
    const bool vanishes = Equal(divisor, T(0));
    for (int64_t i = 0; i < rows.width; ++i) {
      y[n * rows.width + i] = vanishes ? row[i] : T(row[i] / divisor);
    }
  }
  return OkStatus();
}

// ONNX page of Imputer-1: elements equal to the replaced value, which may be
// NaN, become the imputed value: one for all or one per feature, the last axis.
template <class T, class Given>
Status Impute(Input input, Output output, const std::vector<Given>& imputed,
              Given replaced, KernelContext& run) {
  const Tensor& tensor = run.input(input);
  const Shape& shape = tensor.shape();
  const int64_t width = shape.rank() == 0 ? 1 : shape[shape.rank() - 1];
  if (imputed.size() != 1 && std::ssize(imputed) != width) {
    return InvalidArgument("found ", imputed.size(),
                           " imputed values, wanted one or ", width, " for ",
                           tensor.Signature());
  }
  const Loaded<T> x(tensor);
  ASSAY_ASSIGN_OR_RETURN(auto y, Store<T>(run, output, tensor.dtype(), shape));
  const T wanted(replaced);
  for (int64_t i = 0; i < x.size(); ++i) {
    const bool missing = IsNan(wanted) ? IsNan(x[i]) : Equal(x[i], wanted);
    const auto at = static_cast<size_t>(imputed.size() == 1 ? 0 : i % width);
    y[i] = missing ? T(imputed[at]) : x[i];
  }
  return OkStatus();
}

// ONNX page of FeatureVectorizer-1: inputs of [N, C], or [C] for [1, C], side
// by side. The page does not say what an input dimension other than C means: as
// in ONNX's reference implementation the row is cut, or filled up with 0.
template <class T>
Status VectorizeFeatures(const op::ml::FeatureVectorizer& op,
                         KernelContext& run) {
  int64_t total = 0;
  int64_t count = 0;
  Dims extents;
  for (int k = 0; k < op.x.count; ++k) {
    ASSAY_ASSIGN_OR_RETURN(const auto rows,
                           FeatureRows::Of(run.input(op.x[k])));
    if (k > 0 && rows.count != count) {
      return InvalidArgument("input ", k, " has ", rows.count, " rows, wanted ",
                             count, " as input 0");
    }
    count = rows.count;
    extents.push_back(op.inputdimensions.empty()
                          ? rows.width
                          : op.inputdimensions[static_cast<size_t>(k)]);
    total += extents.back();
  }
  ASSAY_ASSIGN_OR_RETURN(auto y,
                         Store<T>(run, op.y, DType::kFloat32, {count, total}));
  int64_t start = 0;
  for (int k = 0; k < op.x.count; ++k) {
    const Loaded<T> x(run.input(op.x[k]));
    const int64_t width = count == 0 ? 0 : x.size() / count;
    const int64_t extent = extents[static_cast<size_t>(k)];
    for (int64_t n = 0; n < count; ++n) {
      for (int64_t i = 0; i < extent; ++i) {
        y[n * total + start + i] = i < width ? x[n * width + i] : T(0);
      }
    }
    start += extent;
  }
  return OkStatus();
}

// ONNX page of ArrayFeatureExtractor-1: elements of the last axis by index. Of
// a vector the result has shape [1, n], as in ONNX's reference implementation.
Status Extract(const op::ml::ArrayFeatureExtractor& op, KernelContext& run) {
  const Tensor& x = run.input(op.x);
  const Loaded<int64_t> indices(run.input(op.y));
  const Shape& shape = x.shape();
  if (shape.rank() == 0) {
    return InvalidArgument("input 0 is a scalar, wanted at least one axis");
  }
  const int64_t width = shape[shape.rank() - 1];
  for (int64_t i = 0; i < indices.size(); ++i) {
    if (indices[i] < 0 || indices[i] >= width) {
      return InvalidArgument("input 1 has index ", indices[i],
                             ", wanted one in [0, ", width, ")");
    }
  }
  Shape wanted = shape;
  wanted[shape.rank() - 1] = indices.size();
  if (shape.rank() == 1) wanted = {1, indices.size()};
  ASSAY_ASSIGN_OR_RETURN(Tensor * z, run.Output(op.z, x.dtype(), wanted));
  DispatchUnit(x.dtype(), [&]<class Unit>() {
    const Unit* from = Units<Unit>(x);
    Unit* to = MutableUnits<Unit>(*z);
    const int64_t rows = width == 0 ? 0 : x.num_elements() / width;
    for (int64_t n = 0; n < rows; ++n) {
      for (int64_t i = 0; i < indices.size(); ++i) {
        *to++ = from[n * width + indices[i]];
      }
    }
  });
  return OkStatus();
}

/// The one of the two lists that an Imputer of that type takes has elements,
/// which all are of the type.
Status CheckImputer(const op::ml::Imputer& op, DType dtype) {
  const bool floats = IsFloatingPoint(dtype);
  if (op.imputed_value_floats.empty() != op.imputed_value_int64s.empty() &&
      floats != op.imputed_value_floats.empty()) {
    const bool narrow = !floats && BitsOf(dtype) < 64;
    for (const int64_t value : op.imputed_value_int64s) {
      if (narrow && value != static_cast<int32_t>(value)) {
        return InvalidArgument("imputed_value_int64s has ", value,
                               ", wanted an ", dtype);
      }
    }
    return OkStatus();
  }
  return InvalidArgument(
      "found ", op.imputed_value_floats.size(), " imputed_value_floats and ",
      op.imputed_value_int64s.size(), " imputed_value_int64s, wanted only ",
      floats ? "the first" : "the second", " for ", dtype);
}

// ONNX page of Binarizer-1: 1 where X is greater than the threshold, else 0.
Result<Kernel> MakeBinarizer(const op::ml::Binarizer& op, LoadContext& load) {
  return Map(load, kNumbers, [threshold = op.threshold](auto x) {
    using T = decltype(x);
    return Exceeds(x, threshold) ? T(1) : T(0);
  });
}

Result<Kernel> MakeScaler(const op::ml::Scaler& op, LoadContext& load) {
  if (!op.offset.empty() && !op.scale.empty() &&
      op.offset.size() != op.scale.size()) {
    return InvalidArgument("scale has ", op.scale.size(), " elements, wanted ",
                           op.offset.size(), " as offset");
  }
  return DispatchReal(
      load, op.x, [&]<class T>() { return std::bind_front(&Scale<T>, op); });
}

Result<Kernel> MakeNormalizer(const op::ml::Normalizer& op, LoadContext& load) {
  ASSAY_ASSIGN_OR_RETURN(const size_t word,
                         WordOf("norm", op.norm, {"MAX", "L1", "L2"}));
  const auto norm = static_cast<Norm>(word);
  return DispatchReal(load, op.x, [&]<class T>() {
    return std::bind_front(&Normalize<T>, op, norm);
  });
}

Result<Kernel> MakeImputer(const op::ml::Imputer& op, LoadContext& load) {
  ASSAY_RETURN_IF_ERROR(CheckImputer(op, load.dtype(op.x)));
  return Dispatch(load, op.x, kNumbers, [&]<class T>() -> Kernel {
    if constexpr (std::integral<T>) {
      return {.forward = std::bind_front(&Impute<T, int64_t>, op.x, op.y,
                                         op.imputed_value_int64s,
                                         op.replaced_value_int64)};
    } else {
      return {.forward = std::bind_front(&Impute<T, float>, op.x, op.y,
                                         op.imputed_value_floats,
                                         op.replaced_value_float)};
    }
  });
}

Result<Kernel> MakeFeatureVectorizer(const op::ml::FeatureVectorizer& op,
                                     LoadContext& load) {
  const auto& extents = op.inputdimensions;
  if (!extents.empty() && std::ssize(extents) != op.x.count) {
    return InvalidArgument("inputdimensions has ", extents.size(),
                           " elements, wanted ", op.x.count, ", one per input");
  }
  const auto negative =
      std::ranges::find_if(extents, [](int64_t extent) { return extent < 0; });
  if (negative != extents.end()) {
    return InvalidArgument("inputdimensions has ", *negative);
  }
  return Dispatch(load, op.x[0], kNumbers, [&]<class T>() {
    return std::bind_front(&VectorizeFeatures<T>, op);
  });
}

Result<Kernel> MakeArrayFeatureExtractor(
    const op::ml::ArrayFeatureExtractor& op, LoadContext& load) {
  ASSAY_RETURN_IF_ERROR(CheckMovable(load, op.x));
  return Kernel{.forward = std::bind_front(&Extract, op)};
}

}  // namespace

Family FeatureFamily() {
  return FamilyOf(MakeBinarizer, MakeScaler, MakeNormalizer, MakeImputer,
                  MakeFeatureVectorizer, MakeArrayFeatureExtractor);
}

}  // namespace assay::reference
