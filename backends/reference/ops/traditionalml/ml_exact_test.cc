// SPDX-License-Identifier: Apache-2.0
//
// Operators of ai.onnx.ml on the scalar that records (scalar/var.h).

#include <gtest/gtest.h>

#include "backends/reference/kernel_rows.h"
#include "backends/reference/scalar/codec.h"
#include "framework/backend/exact.h"

namespace assay::reference {
namespace {

/// The outputs of the traced network, in order.
std::vector<ExactValue> ExactOutputs(const std::string& graph,
                                     const std::vector<assay::Value>& inputs) {
  RowBackend backend;
  LoadOptions options;
  options.exact = true;
  const auto network = backend.Load(ModelOf(graph), options);
  if (!network.ok()) {
    ADD_FAILURE() << graph << network.status().ToString();
    return {};
  }
  auto exact = EvaluateAt(*(*network)->exact(), inputs, Precision::kQuad);
  EXPECT_TRUE(exact.ok()) << graph << exact.status().ToString();
  return exact.ok() ? *std::move(exact) : std::vector<ExactValue>();
}

std::vector<std::string> Graphs() {
  const std::string of_two = "g (float[2,2] x) => (float[N,M] y) { y = ";
  const std::string chosen =
      "g (float[2,2] x) => (int64[2] l, float[N,M] z) { ";
  return {of_two + "ai.onnx.ml.Scaler<offset = [0.1], scale = [0.3]>(x) }",
          of_two + "ai.onnx.ml.Normalizer<norm = \"L2\">(x) }",
          of_two + "ai.onnx.ml.Normalizer(x) }",
          of_two +
              "ai.onnx.ml.Imputer<imputed_value_floats = [5.0], "
              "replaced_value_float = 0.75>(x) }",
          of_two + "ai.onnx.ml.FeatureVectorizer(x, x) }",
          of_two + "ai.onnx.ml.Binarizer<threshold = 0.75>(x) }",
          of_two +
              "ai.onnx.ml.LabelEncoder<keys_floats = [0.75, 1.5], "
              "values_floats = [0.5, 2.5]>(x) }",
          "g (float[2,2] x) => (float[2,2,2] y) { y = "
          "ai.onnx.ml.OneHotEncoder<cats_int64s = [0, 1]>(x) }",
          of_two +
              "ai.onnx.ml.LinearRegressor<targets = 2, coefficients = "
              "[0.1, 0.2, 0.3, 0.4], post_transform = \"SOFTMAX_ZERO\">(x) }",
          of_two +
              "ai.onnx.ml.LinearRegressor<coefficients = [0.1, 0.2], "
              "post_transform = \"PROBIT\">(x) }",
          chosen +
              "l, z = ai.onnx.ml.LinearClassifier<classlabels_ints = [1, 2], "
              "coefficients = [0.1, 0.2], post_transform = \"LOGISTIC\">(x) }",
          of_two +
              "ai.onnx.ml.SVMRegressor<n_supports = 1, coefficients = [0.5], "
              "support_vectors = [1.0, 2.0], kernel_type = \"POLY\", "
              "kernel_params = [0.5, 0.25, 3.0]>(x) }",
          chosen +
              "l, z = ai.onnx.ml.SVMClassifier<classlabels_ints = [1, 2], "
              "vectors_per_class = [1, 1], coefficients = [1.0, -1.0], "
              "support_vectors = [1.0, 2.0, 0.5, 0.25], rho = [0.1], "
              "prob_a = [0.5], prob_b = [0.1], kernel_type = \"RBF\", "
              "kernel_params = [0.5, 0.0, 0.0]>(x) }",
          of_two +
              "ai.onnx.ml.TreeEnsemble<nodes_featureids = [0, 1], "
              "nodes_modes = uint8[2] {0, 4}, "
              "nodes_splits = float[2] {1.0, 1.25}, "
              "nodes_truenodeids = [1, 0], nodes_trueleafs = [0, 1], "
              "nodes_falsenodeids = [1, 2], nodes_falseleafs = [1, 1], "
              "leaf_targetids = [0, 1, 1], n_targets = 2, tree_roots = [0], "
              "leaf_weights = float[3] {0.1, 0.2, 0.3}, "
              "post_transform = 1>(x) }"};
}

void ExpectNear(const Tensor& got, const Tensor& wanted,
                const std::string& graph) {
  ASSERT_EQ(got.shape(), wanted.shape()) << graph;
  std::vector<double> numbers(static_cast<size_t>(got.num_elements()));
  std::vector<double> exact(numbers.size());
  Decode(got, numbers.data());
  Decode(wanted, exact.data());
  for (size_t i = 0; i < exact.size(); ++i) {
    EXPECT_NEAR(numbers[i], exact[i], 1e-6) << graph << " element " << i;
  }
}

// Each operator on Vars says what it says on numbers, to float32's roundoff.
TEST(Learned, ExactValuesAreThoseOfTheKernels) {
  const Feed feed = F({2, 2}, {0.75, 1.25, 1.5, -0.5});
  const assay::Value input = feed.Make();
  for (const std::string& graph : Graphs()) {
    const auto plain = Compute(graph, {feed});
    ASSERT_TRUE(plain.ok()) << graph << plain.status().ToString();
    const std::vector<ExactValue> exact = ExactOutputs(graph, {input});
    ASSERT_EQ(exact.size(), plain->size()) << graph;
    for (size_t k = 0; k < exact.size(); ++k) {
      ExpectNear(*(*plain)[k].tensor(), *exact[k].value.tensor(), graph);
    }
  }
}

}  // namespace
}  // namespace assay::reference
