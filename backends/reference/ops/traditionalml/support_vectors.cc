// SPDX-License-Identifier: Apache-2.0
//
// SVMRegressor and SVMClassifier of ai.onnx.ml. Their pages name the attributes
// and no formula: these are the formulas of ONNX's reference implementation,
// aionnxml/op_svm_helper.py and op_svm_classifier.py, but where said otherwise.

#include <algorithm>
#include <cmath>
#include <functional>

#include "backends/reference/families.h"
#include "backends/reference/ops/traditionalml/prediction.h"
#include "backends/reference/scalar/exponentials.h"

namespace assay::reference {
namespace {

enum class SupportKernel : uint8_t { kLinear, kPoly, kRbf, kSigmoid };

/// kernel_type with its kernel_params gamma, coef0 and degree, the last of
/// which counts as an integer.
struct SupportFunction {
  static Result<SupportFunction> Of(std::string_view type,
                                    const std::vector<float>& params) {
    ASSAY_ASSIGN_OR_RETURN(
        const size_t kind,
        WordOf("kernel_type", type, {"LINEAR", "POLY", "RBF", "SIGMOID"}));
    if (!params.empty() && params.size() != 3) {
      return InvalidArgument("kernel_params has ", params.size(),
                             " elements, wanted gamma, coef0 and degree");
    }
    SupportFunction function{static_cast<SupportKernel>(kind)};
    if (!params.empty()) {
      function.gamma = params[0];
      function.coef0 = params[1];
      function.degree = std::trunc(params[2]);
    }
    return function;
  }

  template <class T>
  T operator()(const T* x, const float* vector, int64_t width) const {
    T dot(0);
    T distance(0);
    for (int64_t i = 0; i < width; ++i) {
      const T other(vector[i]);
      dot += x[i] * other;
      distance += (x[i] - other) * (x[i] - other);
    }
    switch (kernel) {
      case SupportKernel::kLinear:
        return dot;
      case SupportKernel::kPoly:
        return pow(T(gamma) * dot + T(coef0), T(degree));
      case SupportKernel::kRbf:
        return exp(-T(gamma) * distance);
      case SupportKernel::kSigmoid:
        return tanh(T(gamma) * dot + T(coef0));
    }
    return dot;
  }

  SupportKernel kernel = SupportKernel::kLinear;
  float gamma = 0;
  float coef0 = 0;
  float degree = 0;
};

/// Invalid argument unless `found` elements of the attribute are `wanted`.
Status CheckCount(std::string_view attribute, int64_t found, int64_t wanted,
                  std::string_view as) {
  if (found == wanted) return OkStatus();
  return InvalidArgument(attribute, " has ", found, " elements, wanted ",
                         wanted, " ", as);
}

// rho is optional: 0 where it is not given.
float RhoOf(const std::vector<float>& rho, size_t i) {
  return rho.empty() ? 0.0F : rho[i];
}

// SVMRegressor-1: sum of coefficients[j] * K(x, support vector j), plus rho;
// without support vectors x times the coefficients, plus rho. A model of one
// class gives 1 where that is above 0, else -1.
template <class T>
Status RegressByVectors(const SupportFunction& function,
                        PostTransform transform, const op::ml::SVMRegressor& op,
                        KernelContext& run) {
  ASSAY_ASSIGN_OR_RETURN(const auto rows, FeatureRows::Of(run.input(op.x)));
  const bool linear = op.n_supports == 0;
  const auto& vectors = linear ? op.coefficients : op.support_vectors;
  const int64_t count = linear ? 1 : op.n_supports;
  ASSAY_RETURN_IF_ERROR(CheckCount(linear ? "coefficients" : "support_vectors",
                                   std::ssize(vectors), count * rows.width,
                                   "by the columns of input 0"));
  const Loaded<T> x(run.input(op.x));
  ASSAY_ASSIGN_OR_RETURN(auto y,
                         Store<T>(run, op.y, DType::kFloat32, {rows.count, 1}));
  for (int64_t n = 0; n < rows.count; ++n) {
    T sum(RhoOf(op.rho, 0));
    for (int64_t j = 0; j < count; ++j) {
      const T near = function(x.data() + n * rows.width,
                              vectors.data() + j * rows.width, rows.width);
      sum += linear ? near : T(op.coefficients[static_cast<size_t>(j)]) * near;
    }
    if (op.one_class != 0) sum = Less(T(0), sum) ? T(1) : T(-1);
    y[n] = sum;
    ApplyTransform<T>(transform, std::span(y.data() + n, 1));
  }
  return OkStatus();
}

/// The facts of SVMClassifier-1 at Load.
struct SupportClassifier {
  op::ml::SVMClassifier op;
  SupportFunction function;
  PostTransform transform = PostTransform::kNone;
  ClassLabels labels;
  int64_t vectors = 0;  // 0: linear, a row of coefficients for each class

  bool has_probabilities() const { return vectors > 0 && !op.prob_a.empty(); }
  int64_t pairs() const { return labels.size() * (labels.size() - 1) / 2; }
  /// The columns of Z. One decision between two classes becomes two scores, but
  /// not under PROBIT.
  int64_t score_count() const {
    if (vectors == 0 || has_probabilities()) return labels.size();
    if (pairs() != 1 || transform == PostTransform::kProbit) return pairs();
    return 2;
  }
};

// For each pair of classes i < j the decision
//   rho + sum of coefficients[j - 1] K over the vectors of i
//       + sum of coefficients[i] K over those of j,
// which is a vote for i where it is above 0, else for j.
template <class T>
std::vector<T> Decisions(const SupportClassifier& model, const T* row,
                         int64_t width, std::vector<int64_t>& votes) {
  const auto& counts = model.op.vectors_per_class;
  std::vector<T> near;
  for (int64_t j = 0; j < model.vectors; ++j) {
    near.push_back(model.function(
        row, model.op.support_vectors.data() + j * width, width));
  }
  const auto sum = [&](size_t line, int64_t first, int64_t count) {
    T total(0);
    for (int64_t k = first; k < first + count; ++k) {
      const auto at = line * near.size() + static_cast<size_t>(k);
      total += T(model.op.coefficients[at]) * near[static_cast<size_t>(k)];
    }
    return total;
  };
  std::vector<T> decisions;
  int64_t first_i = 0;
  for (size_t i = 0; i < counts.size(); first_i += counts[i++]) {
    int64_t first_j = first_i + counts[i];
    for (size_t j = i + 1; j < counts.size(); first_j += counts[j++]) {
      const T decision = T(RhoOf(model.op.rho, decisions.size())) +
                         sum(j - 1, first_i, counts[i]) +
                         sum(i, first_j, counts[j]);
      ++votes[Less(T(0), decision) ? i : j];
      decisions.push_back(decision);
    }
  }
  return decisions;
}

// x times the coefficients of each class, plus rho, of which the first counts.
template <class T>
std::vector<T> LinearScores(const SupportClassifier& model, const T* row,
                            int64_t width) {
  std::vector<T> scores;
  for (int64_t e = 0; e < model.labels.size(); ++e) {
    scores.push_back(
        T(RhoOf(model.op.rho, 0)) +
        model.function(row, model.op.coefficients.data() + e * width, width));
  }
  return scores;
}

// The probability of each class from those of pairs, 1 / (1 + exp(a s + b)),
// kept 1e-7 away from 0 and 1.
template <class T>
std::vector<T> Probabilities(const SupportClassifier& model,
                             const std::vector<T>& decisions) {
  const auto classes = static_cast<size_t>(model.labels.size());
  PairwiseProbability<T> pairs(classes);
  const T least = T(1) / T(10000000);
  size_t index = 0;
  for (size_t i = 0; i < classes; ++i) {
    for (size_t j = i + 1; j < classes; ++j, ++index) {
      const T exponent = decisions[index] * T(model.op.prob_a[index]) +
                         T(model.op.prob_b[index]);
      const T p = T(1) - Sigmoid(exponent);
      pairs.Set(i, j, Min(Max(p, least), T(1) - least));
    }
  }
  return pairs.Solve();
}

/// The class of a row: of the most votes, the first among equals, or of the
/// greatest score in a linear model. With one rho there are exceptions, which
/// ONNX's reference implementation takes from ONNX Runtime: a model of two
/// classes without negative coefficients says the second from 0.5 on; and
/// labels other than two stand for 1 and 0, by the sign of the greatest.
template <class T>
int64_t ClassOf(const SupportClassifier& model, T greatest, int64_t best) {
  if (model.op.rho.size() != 1) return best;
  if (model.labels.size() == 2) {
    const bool positive = std::ranges::none_of(model.op.coefficients,
                                               [](float c) { return c < 0; });
    const bool second =
        !model.has_probabilities() && positive && !Less(greatest, T(0.5));
    return second ? 1 : best;
  }
  return Less(T(0), greatest) ? 1 : 0;
}

/// The columns of Z for one row.
template <class T>
std::vector<T> FinalScores(const SupportClassifier& model,
                           std::vector<T> scores) {
  if (std::ssize(scores) < model.score_count()) {
    scores.insert(scores.begin(), -scores[0]);
  }
  ApplyTransform<T>(model.transform, scores);
  return scores;
}

template <class T>
std::vector<T> ClassifyRow(const SupportClassifier& model, const T* row,
                           int64_t width, int64_t& label) {
  std::vector<T> scores;
  if (model.vectors == 0) {
    scores = LinearScores(model, row, width);
    const int64_t best = ClassOfGreatest<T>(scores);
    label = ClassOf(model, scores[static_cast<size_t>(best)], best);
  } else {
    std::vector<int64_t> votes(static_cast<size_t>(model.labels.size()));
    scores = Decisions(model, row, width, votes);
    const auto most = std::ranges::max_element(votes);
    label = ClassOf(model, T(static_cast<double>(*most)), most - votes.begin());
  }
  if (model.has_probabilities()) scores = Probabilities(model, scores);
  return FinalScores(model, std::move(scores));
}

/// Labels of a model with one rho and not two classes: the integers 1 and 0.
bool SaysOneOrZero(const SupportClassifier& model) {
  return model.op.rho.size() == 1 && model.labels.size() != 2;
}

template <class T>
Status ClassifyByVectors(const SupportClassifier& model, KernelContext& run) {
  ASSAY_ASSIGN_OR_RETURN(const auto rows,
                         FeatureRows::Of(run.input(model.op.x)));
  const bool linear = model.vectors == 0;
  ASSAY_RETURN_IF_ERROR(CheckCount(
      linear ? "coefficients" : "support_vectors",
      std::ssize(linear ? model.op.coefficients : model.op.support_vectors),
      rows.width * (linear ? model.labels.size() : model.vectors),
      "by the columns of input 0"));
  const Loaded<T> x(run.input(model.op.x));
  const int64_t columns = model.score_count();
  ASSAY_ASSIGN_OR_RETURN(auto z, Store<T>(run, model.op.z, DType::kFloat32,
                                          {rows.count, columns}));
  std::vector<int64_t> classes(static_cast<size_t>(rows.count));
  for (int64_t n = 0; n < rows.count; ++n) {
    const std::vector<T> scores =
        ClassifyRow(model, x.data() + n * rows.width, rows.width,
                    classes[static_cast<size_t>(n)]);
    if (z.size() > 0) std::ranges::copy(scores, z.data() + n * columns);
  }
  if (!SaysOneOrZero(model))
    return model.labels.Write(run, model.op.y, classes);
  ASSAY_ASSIGN_OR_RETURN(Tensor * y,
                         run.Output(model.op.y, DType::kInt64, {rows.count}));
  if (y != nullptr) {
    std::ranges::copy(classes, y->mutable_elements<int64_t>().begin());
  }
  return OkStatus();
}

/// Lists of the lengths that the number of classes asks for.
Status CheckClassifier(const SupportClassifier& model) {
  const auto& op = model.op;
  ASSAY_RETURN_IF_ERROR(CheckCount("prob_b", std::ssize(op.prob_b),
                                   std::ssize(op.prob_a), "as prob_a"));
  if (SaysOneOrZero(model) && model.labels.are_strings()) {
    return Unsupported(Reason::kAttribute, "classlabels_strings has ",
                       model.labels.size(),
                       " elements with one rho, wanted two");
  }
  if (model.vectors == 0) return OkStatus();
  const int64_t classes = model.labels.size();
  ASSAY_RETURN_IF_ERROR(CheckCount("vectors_per_class",
                                   std::ssize(op.vectors_per_class), classes,
                                   "as class labels"));
  ASSAY_RETURN_IF_ERROR(CheckCount("coefficients", std::ssize(op.coefficients),
                                   (classes - 1) * model.vectors,
                                   "by classes and support vectors"));
  if (!op.rho.empty()) {
    ASSAY_RETURN_IF_ERROR(CheckCount("rho", std::ssize(op.rho), model.pairs(),
                                     "as pairs of classes"));
  }
  if (op.prob_a.empty()) return OkStatus();
  return CheckCount("prob_a", std::ssize(op.prob_a), model.pairs(),
                    "as pairs of classes");
}

Result<Kernel> MakeSVMRegressor(const op::ml::SVMRegressor& op,
                                LoadContext& load) {
  ASSAY_ASSIGN_OR_RETURN(auto function,
                         SupportFunction::Of(op.kernel_type, op.kernel_params));
  ASSAY_ASSIGN_OR_RETURN(const auto transform,
                         PostTransformNamed(op.post_transform));
  if (op.n_supports < 0) {
    return InvalidArgument("n_supports is ", op.n_supports);
  }
  if (op.n_supports == 0) function.kernel = SupportKernel::kLinear;
  if (op.n_supports > 0) {
    ASSAY_RETURN_IF_ERROR(CheckCount("coefficients",
                                     std::ssize(op.coefficients), op.n_supports,
                                     "as n_supports"));
  }
  return DispatchReal(load, op.x, [&]<class T>() {
    return std::bind_front(&RegressByVectors<T>, function, transform, op);
  });
}

Result<Kernel> MakeSVMClassifier(const op::ml::SVMClassifier& op,
                                 LoadContext& load) {
  SupportClassifier model{.op = op};
  ASSAY_ASSIGN_OR_RETURN(model.function,
                         SupportFunction::Of(op.kernel_type, op.kernel_params));
  ASSAY_ASSIGN_OR_RETURN(model.transform,
                         PostTransformNamed(op.post_transform));
  ASSAY_ASSIGN_OR_RETURN(
      model.labels, ClassLabels::Of(op.classlabels_ints, op.classlabels_strings,
                                    "classlabels_ints"));
  for (const int64_t count : op.vectors_per_class) {
    if (count < 0 || count > std::ssize(op.support_vectors)) {
      return InvalidArgument("vectors_per_class has ", count,
                             ", wanted one in [0, ", op.support_vectors.size(),
                             "]");
    }
    model.vectors += count;
  }
  if (model.vectors == 0) model.function.kernel = SupportKernel::kLinear;
  ASSAY_RETURN_IF_ERROR(CheckClassifier(model));
  return DispatchReal(load, op.x, [&]<class T>() {
    return std::bind_front(&ClassifyByVectors<T>, model);
  });
}

}  // namespace

Family SupportVectorFamily() {
  return FamilyOf(MakeSVMRegressor, MakeSVMClassifier);
}

}  // namespace assay::reference
