// SPDX-License-Identifier: Apache-2.0
//
// Features, labels, dictionaries and models of ai.onnx.ml, by tables worked out
// by hand; what they refuse; and the same on the scalar that records
// (scalar/var.h).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "backends/reference/kernel_rows.h"
#include "backends/reference/ops/traditionalml/prediction.h"
#include "framework/backend/exact.h"
#include "framework/testing/support/statuses_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::reference {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Feed I32(Shape shape, std::vector<double> values) {
  return {DType::kInt32, std::move(shape), std::move(values)};
}

/// The outputs for inputs of any kind, in order.
Result<std::vector<assay::Value>> Outputs(const std::string& graph,
                                          std::vector<assay::Value> values) {
  RowBackend backend;
  ASSAY_ASSIGN_OR_RETURN(auto network, backend.Load(ModelOf(graph), {}));
  std::map<std::string, assay::Value> inputs;
  for (size_t i = 0; i < values.size(); ++i) {
    inputs[network->inputs()[i].name] = values[i];
  }
  return assay::Run(*network, inputs);
}

TEST(Learned, FeaturesAreScaledNormalizedAndFilled) {
  ExpectRows({
      Of("ai.onnx.ml.Scaler<offset = [1.0, 2.0], scale = [2.0, 4.0]>(x)",
         {F({2, 2}, {1.5, 1, 0, 2.25})}, {F({2, 2}, {1, -4, -2, 1})}),
      Of("ai.onnx.ml.Scaler<scale = [0.25]>(x)", {I({1, 2}, {1, -6})},
         {F({1, 2}, {0.25, -1.5})}),
      Of("ai.onnx.ml.Normalizer<norm = \"L2\">(x)",
         {D({2, 3}, {2, 3, 6, 0, 0, 0})},
         {F({2, 3}, {2.0 / 7, 3.0 / 7, 6.0 / 7, 0, 0, 0})}),
      // Magnitudes, as in ONNX's reference implementation.
      Of("ai.onnx.ml.Normalizer(x)", {F({3}, {-8, 2, 4})},
         {F({3}, {-1, 0.25, 0.5})}),
      Of("ai.onnx.ml.Normalizer<norm = \"L1\">(x)", {I32({1, 2}, {-1, 3})},
         {F({1, 2}, {-0.25, 0.75})}),
      Of("ai.onnx.ml.Imputer<imputed_value_floats = [4.0], "
         "replaced_value_float = nan>(x)",
         {F({1, 2}, {kNan, 0})}, {F({1, 2}, {4, 0})}),
      Of("ai.onnx.ml.Imputer<imputed_value_int64s = [4, 5]>(x)",
         {I32({2, 2}, {0, 0, 7, 0})}, {I32({2, 2}, {4, 5, 7, 5})}),
      Of("ai.onnx.ml.FeatureVectorizer<inputdimensions = [1, 3]>(a, b)",
         {F({2, 2}, {1, 2, 3, 4}), F({2, 1}, {5, 6})},
         {F({2, 4}, {1, 5, 0, 0, 3, 6, 0, 0})}),
      Of("ai.onnx.ml.FeatureVectorizer(a, b)",
         {D({1, 2}, {1, 2}), D({3}, {3, 4, 5})}, {F({1, 5}, {1, 2, 3, 4, 5})}),
      Of("ai.onnx.ml.ArrayFeatureExtractor(x, i)",
         {F({2, 3}, {1, 2, 3, 4, 5, 6}), I({1, 2}, {2, 0})},
         {F({2, 2}, {3, 1, 6, 4})}),
      Of("ai.onnx.ml.ArrayFeatureExtractor(x, i)", {F({0, 3}, {}), I({1}, {2})},
         {F({0, 1}, {})}),
      Of("ai.onnx.ml.Binarizer<threshold = 0.5>(x)",
         {D({3}, {0.5, 0.75, kNan})}, {D({3}, {0, 1, 0})}),
      // 2^24 + 1 is above 2^24, and no integer is above 2^63.
      {"g (int64[2] x) => (int64[2] a, int64[2] b, int64[2] c) "
       "{ a = ai.onnx.ml.Binarizer<threshold = 16777216.0>(x) "
       "b = ai.onnx.ml.Binarizer<threshold = 1e19>(x) "
       "c = ai.onnx.ml.Binarizer<threshold = -1e19>(x) }",
       {I({2}, {16777217, 16777216})},
       {I({2}, {1, 0}), I({2}, {0, 0}), I({2}, {1, 1})}},
  });
}

TEST(Learned, KeysBecomeWhatStandsForThem) {
  ExpectRows({
      Of("ai.onnx.ml.LabelEncoder<keys_floats = [nan, 0.0, 1.0, 1.0], "
         "values_int64s = [7, 8, 9, 10], default_int64 = 3>(x)",
         {F({4}, {kNan, -0.0, 1, 2})}, {I({4}, {7, 8, 10, 3})}),
      Of("ai.onnx.ml.LabelEncoder<keys_tensor = double[1] {0.1}, values_tensor "
         "= int16[1] {-5}>(x)",
         {D({2}, {0.1, 0.2})}, {{DType::kInt16, {2}, {-5, -1}}}),
      Of("ai.onnx.ml.OneHotEncoder<cats_int64s = [4, 2]>(x)",
         {I32({1, 3}, {2, 3, 4})}, {F({1, 3, 2}, {0, 1, 0, 0, 1, 0})}),
      // A number that no integer is near to has no category.
      Of("ai.onnx.ml.OneHotEncoder<cats_int64s = [0]>(x)",
         {F({4}, {kNan, 1e30, -1e30, 0.5})}, {F({4, 1}, {0, 0, 0, 1})}),
  });
  const auto mapped =
      Got(Outputs("g (string[3] x) => (int64[3] y, string[3] z) "
                  "{ y = ai.onnx.ml.CategoryMapper<cats_int64s = [1, 2], "
                  "cats_strings = [\"a\", \"b\"]>(x) "
                  "z = ai.onnx.ml.CategoryMapper<cats_int64s = [1, 2], "
                  "cats_strings = [\"a\", \"b\"], default_string = \"c\">(y) }",
                  {Strings({3}, {"b", "x", "a"})}));
  EXPECT_THAT(mapped[0].tensor()->elements<int64_t>(), ElementsAre(2, -1, 1));
  EXPECT_THAT(mapped[1].tensor()->strings(), ElementsAre("b", "c", "a"));
}

TEST(Learned, MapsBecomeTensorsAndTensorsMaps) {
  const assay::Map map{I({2}, {4, 1}).Make(),
                       {Strings({}, {"x"}), Strings({}, {"y"})}};
  const auto strings = Got(Outputs(
      "g (map(int64, string) m) => (string[2] a, string[3] b) "
      "{ a = ai.onnx.ml.CastMap<cast_to = \"TO_STRING\">(m) "
      "b = ai.onnx.ml.DictVectorizer<int64_vocabulary = [1, 4, 0]>(m) }",
      {map}));
  EXPECT_THAT(strings[0].tensor()->strings(), ElementsAre("y", "x"));
  EXPECT_THAT(strings[1].tensor()->strings(), ElementsAre("y", "x", ""));
  const auto maps = Got(Outputs(
      "g (float[0,2] x, float[2] v) => (seq(map(int64, float)) y, "
      "seq(map(string, float)) z) "
      "{ y = ai.onnx.ml.ZipMap<classlabels_int64s = [3, 5]>(x) "
      "z = ai.onnx.ml.ZipMap<classlabels_strings = [\"a\", \"b\"]>(v) }",
      {F({0, 2}, {}).Make(), F({2}, {0.5, 2}).Make()}));
  EXPECT_EQ(maps[0].Type().ToString(), "seq(map(int64,float32[]))");
  ASSERT_EQ(maps[1].sequence()->items.size(), 1U);
  const assay::Map& zipped = *maps[1].sequence()->items[0].map();
  EXPECT_THAT(zipped.keys.strings(), ElementsAre("a", "b"));
  EXPECT_EQ(zipped.values[1].tensor()->elements<float>()[0], 2);
}

TEST(Learned, LinearModelsScoreAndChoose) {
  const double e = std::exp(1.0);
  ExpectRows({
      Of("ai.onnx.ml.LinearRegressor<targets = 2, coefficients = [1.0, 2.0, "
         "3.0, 0.0, -1.0, 1.0], intercepts = [0.5, 0.25]>(x)",
         {F({3}, {1, 2, 3})}, {F({1, 2}, {14.5, 1.25})}),
      Of("ai.onnx.ml.LinearRegressor<targets = 2, coefficients = [1.0, 2.0], "
         "post_transform = \"SOFTMAX\">(x)",
         {F({2, 1}, {1, 0})},
         {F({2, 2}, {1 / (1 + e), e / (1 + e), 0.5, 0.5})}),
      // All within 1e-7 of zero: a half each.
      Of("ai.onnx.ml.LinearRegressor<targets = 3, coefficients = [0.0, 0.0, "
         "0.0], post_transform = \"SOFTMAX_ZERO\">(x)",
         {F({1, 1}, {1})}, {F({1, 3}, {0.5, 0.5, 0.5})}),
      Of("ai.onnx.ml.LinearRegressor<coefficients = [1.0], post_transform = "
         "\"PROBIT\">(x)",
         {D({2, 1}, {0.5, 1})}, {F({2, 1}, {0, 0})}),
      // One class: from 0 on, or from 0.5 on behind a transform.
      {"g (float[2,1] x) => (int64[2] l, float[2,1] z, int64[2] m) "
       "{ l, z = ai.onnx.ml.LinearClassifier<classlabels_ints = [6], "
       "coefficients = [1.0]>(x) "
       "m, n = ai.onnx.ml.LinearClassifier<classlabels_ints = [6], "
       "coefficients = [1.0], intercepts = [-0.25], "
       "post_transform = \"LOGISTIC\">(x) }",
       {F({2, 1}, {0, 1})},
       {I({2}, {6, 6}), F({2, 1}, {0, 1}), I({2}, {0, 6})}},
  });
}

TEST(Learned, SupportVectorsScoreAndChoose) {
  const double tanh_half = std::tanh(0.5);
  ExpectRows({
      Of("ai.onnx.ml.SVMRegressor<n_supports = 1, support_vectors = [1.0, "
         "1.0], coefficients = [2.0], kernel_type = \"RBF\", kernel_params = "
         "[0.5, 0.0, 0.0]>(x)",
         {F({1, 2}, {1, 3})}, {F({1, 1}, {2 * std::exp(-2.0)})}),
      Of("ai.onnx.ml.SVMRegressor<n_supports = 1, support_vectors = [1.0], "
         "coefficients = [2.0], rho = [1.0], kernel_type = \"SIGMOID\", "
         "kernel_params = [0.25, -0.5, 0.0]>(x)",
         {I32({1, 1}, {4})}, {F({1, 1}, {1 + 2 * tanh_half})}),
      // The degree counts as an integer.
      Of("ai.onnx.ml.SVMRegressor<n_supports = 1, support_vectors = [1.0], "
         "coefficients = [1.0], kernel_type = \"POLY\", kernel_params = [1.0, "
         "0.0, 3.75]>(x)",
         {F({1, 1}, {-2})}, {F({1, 1}, {-8})}),
      // No negative coefficient and one rho: the second class from a vote on.
      Of("l, z = ai.onnx.ml.SVMClassifier<classlabels_ints = [3, 4], "
         "vectors_per_class = [1, 1], support_vectors = [1.0, 2.0], "
         "coefficients = [1.0, 1.0], rho = [-3.0]>(x)",
         {F({2, 1}, {2, 0})}, {I({2}, {4, 4}), F({2, 2}, {-3, 3, 3, -3})}),
      // A single label stands for 1 above 0, and 0.
      Of("l, z = ai.onnx.ml.SVMClassifier<classlabels_ints = [9], coefficients "
         "= [2.0], rho = [-1.0]>(x)",
         {F({2, 1}, {1, 0})}, {I({2}, {1, 0}), F({2, 1}, {1, -1})}),
      // Three classes that are alike in pairs are alike.
      Of("l, z = ai.onnx.ml.SVMClassifier<classlabels_ints = [1, 2, 3], "
         "vectors_per_class = [1, 1, 1], support_vectors = [1.0, 2.0, 3.0], "
         "coefficients = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0], prob_a = [1.0, 1.0, "
         "1.0], prob_b = [0.0, 0.0, 0.0]>(x)",
         {F({1, 1}, {1})},
         {I({1}, {3}), F({1, 3}, {1.0 / 3, 1.0 / 3, 1.0 / 3})}),
  });
}

// For pairs made from p by r(i, j) = p(i) / (p(i) + p(j)), p is the optimum.
TEST(Learned, PairsGiveBackTheClassesTheyAreMadeFrom) {
  const std::vector<std::vector<double>> rows = {
      {0.5, 0.5}, {0.9, 0.1}, {0.2, 0.3, 0.5}, {0.05, 0.15, 0.3, 0.5}};
  for (const std::vector<double>& wanted : rows) {
    PairwiseProbability<double> pairs(wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) {
      for (size_t j = i + 1; j < wanted.size(); ++j) {
        pairs.Set(i, j, wanted[i] / (wanted[i] + wanted[j]));
      }
    }
    const std::vector<double> found = pairs.Solve();
    for (size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_NEAR(found[i], wanted[i], 0.02) << i << " of " << wanted.size();
    }
  }
}

struct ModelRefusal {
  std::string graph;
  std::string message;
  std::vector<assay::Value> values = {F({1, 2}, {1, 2}).Make()};
};

void ExpectModelsRefused(const std::vector<ModelRefusal>& rows) {
  for (const ModelRefusal& refusal : rows) {
    const Status status = Outputs(refusal.graph, refusal.values).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument)
        << refusal.graph << status.ToString();
    EXPECT_THAT(status.ToString(), HasSubstr(refusal.message)) << refusal.graph;
  }
}

/// A graph of one operator over [1,2]; and of one that chooses a label.
std::string ModelCallOf(const std::string& call) {
  return "g (float[1,2] x) => (float[N,M] y) { y = ai.onnx.ml." + call + " }";
}
std::string Chosen(const std::string& call) {
  return "g (float[1,2] x) => (int64[1] y, float[N,M] z) { y, z = ai.onnx.ml." +
         call + "(x) }";
}

TEST(Learned, RefuseFeaturesThatDoNotFit) {
  const assay::Value row = F({1, 2}, {1, 2}).Make();
  ExpectModelsRefused({
      {ModelCallOf("Scaler<offset = [1.0], scale = [1.0, 2.0]>(x)"),
       "scale has 2 elements, wanted 1 as offset"},
      {ModelCallOf("Scaler<offset = [1.0, 2.0, 3.0]>(x)"),
       "offset has 3 elements, wanted one or 2"},
      {ModelCallOf("Normalizer<norm = \"L3\">(x)"), "norm is 'L3'"},
      {ModelCallOf("Imputer<imputed_value_int64s = [1]>(x)"),
       "found 0 imputed_value_floats and 1 imputed_value_int64s, wanted only "
       "the first for float32"},
      {ModelCallOf("Imputer(x)"), "found 0 imputed_value_floats and 0"},
      {"g (int32[1] x) => (int32[1] y) { y = ai.onnx.ml.Imputer"
       "<imputed_value_int64s = [2147483648]>(x) }",
       "imputed_value_int64s has 2147483648, wanted an int32",
       {I32({1}, {0}).Make()}},
      {ModelCallOf("Imputer<imputed_value_floats = [1.0, 2.0, 3.0]>(x)"),
       "found 3 imputed values, wanted one or 2"},
      {ModelCallOf("FeatureVectorizer<inputdimensions = [1, 2]>(x)"),
       "inputdimensions has 2 elements, wanted 1"},
      {ModelCallOf("FeatureVectorizer<inputdimensions = [-1]>(x)"),
       "inputdimensions has -1"},
      {"g (float[1,2] x, float[2,1] v) => (float[N,M] y) "
       "{ y = ai.onnx.ml.FeatureVectorizer(x, v) }",
       "input 1 has 2 rows, wanted 1 as input 0",
       {row, F({2, 1}, {1, 2}).Make()}},
      {"g (float[1,2] x, int64[1] i) => (float[1,1] y) "
       "{ y = ai.onnx.ml.ArrayFeatureExtractor(x, i) }",
       "input 1 has index 2, wanted one in [0, 2)",
       {row, I({1}, {2}).Make()}},
  });
}

TEST(Learned, RefuseKeysThatDoNotFit) {
  ExpectModelsRefused({
      {ModelCallOf("OneHotEncoder<cats_strings = [\"a\"]>(x)"),
       "found 0 cats_int64s and 1 cats_strings, wanted only the first"},
      {"g (float[1,2] x) => (float[1,2,1] y) "
       "{ y = ai.onnx.ml.OneHotEncoder<cats_int64s = [1], zeros = 0>(x) }",
       "element 1 of input 0 is of no category of 1"},
      {ModelCallOf(
           "LabelEncoder<keys_floats = [1.0], values_floats = [1.0, 2.0]>(x)"),
       "found 1 keys and 2 values"},
      {ModelCallOf("LabelEncoder<keys_int64s = [1], values_floats = [1.0]>(x)"),
       "wanted int64 as the keys"},
      {ModelCallOf("LabelEncoder<keys_floats = [1.0], values_floats = [1.0], "
                   "values_int64s = [1]>(x)"),
       "found 2 of values_tensor"},
      {"g (int64[1] x) => (string[1] y) { y = ai.onnx.ml.CategoryMapper"
       "<cats_int64s = [1], cats_strings = [\"a\", \"b\"]>(x) }",
       "found 1 cats_int64s and 2 cats_strings",
       {I({1}, {1}).Make()}},
      {"g (map(int64, float) x) => (float[N] y) { y = ai.onnx.ml.CastMap"
       "<map_form = \"SPARSE\", max_map = 2>(x) }",
       "input 0 has key 2, wanted one in [0, 2) of max_map",
       {assay::Map{I({1}, {2}).Make(), {F({}, {1}).Make()}}}},
      {"g (map(int64, string) x) => (float[N] y) { y = ai.onnx.ml.CastMap(x) }",
       "found 'two', wanted a number",
       {assay::Map{I({1}, {2}).Make(), {Strings({}, {"two"})}}}},
      {"g (map(int64, float) x) => (float[N] y) "
       "{ y = ai.onnx.ml.CastMap<cast_to = \"TO_BOOL\">(x) }",
       "cast_to is 'TO_BOOL'",
       {assay::Map{I({1}, {2}).Make(), {F({}, {1}).Make()}}}},
      {"g (map(int64, float) x) => (float[N] y) "
       "{ y = ai.onnx.ml.DictVectorizer<int64_vocabulary = [1, 3]>(x) }",
       "key 0 of input 0 is not in the vocabulary of 2",
       {assay::Map{I({1}, {2}).Make(), {F({}, {1}).Make()}}}},
      {"g (float[1,2] x) => (seq(map(int64, float)) y) "
       "{ y = ai.onnx.ml.ZipMap<classlabels_int64s = [1]>(x) }",
       "input 0 is float32[1,2], wanted 1 columns as labels"},
  });
}

TEST(Learned, RefuseModelsThatDoNotFit) {
  ExpectModelsRefused({
      {ModelCallOf("LinearRegressor<coefficients = [1.0]>(x)"),
       "coefficients has 1 elements, wanted a multiple of the 2 columns"},
      {ModelCallOf(
           "LinearRegressor<coefficients = [1.0, 2.0], targets = 2>(x)"),
       "coefficients has 1 rows of 2, wanted 2 as targets"},
      {ModelCallOf("LinearRegressor<coefficients = [1.0, 2.0], "
                   "post_transform = \"TANH\">(x)"),
       "post_transform is 'TANH'"},
      {Chosen("LinearClassifier<coefficients = [1.0, 2.0]>"),
       "found 0 classlabels_ints and 0 classlabels_strings"},
      {Chosen("LinearClassifier<coefficients = [1.0, 2.0], "
              "classlabels_ints = [1, 2, 3]>"),
       "coefficients has 1 rows of 2, wanted 3 as class labels"},
      {ModelCallOf("SVMRegressor<kernel_type = \"COSINE\">(x)"),
       "kernel_type is 'COSINE'"},
      {ModelCallOf("SVMRegressor<kernel_params = [1.0]>(x)"),
       "kernel_params has 1 elements, wanted gamma, coef0 and degree"},
      {ModelCallOf("SVMRegressor<n_supports = 2, coefficients = [1.0]>(x)"),
       "coefficients has 1 elements, wanted 2 as n_supports"},
      {ModelCallOf("SVMRegressor<n_supports = 9223372036854775807, "
                   "coefficients = [1.0]>(x)"),
       "coefficients has 1 elements, wanted 9223372036854775807"},
      {ModelCallOf("SVMRegressor<n_supports = 1, coefficients = [1.0], "
                   "support_vectors = [1.0]>(x)"),
       "support_vectors has 1 elements, wanted 2"},
      {Chosen("SVMClassifier<classlabels_ints = [1, 2], "
              "vectors_per_class = [1]>"),
       "vectors_per_class has 1, wanted one in [0, 0]"},
      {Chosen("SVMClassifier<classlabels_ints = [1, 2], "
              "support_vectors = [1.0, 2.0], vectors_per_class = [1, 1], "
              "coefficients = [1.0]>"),
       "coefficients has 1 elements, wanted 2 by classes"},
      {Chosen("SVMClassifier<classlabels_ints = [1, 2], prob_a = [1.0]>"),
       "prob_b has 0 elements, wanted 1 as prob_a"},
  });
}

/// The outputs of the traced network, in order.
std::vector<ExactValue> ExactOutputs(const std::string& graph,
                                     const std::vector<assay::Value>& inputs) {
  const auto network = NetworkOf(graph, {.exact = true});
  auto exact = EvaluateAt(*network->exact(), inputs, Precision::kQuad);
  EXPECT_TRUE(exact.ok()) << graph << exact.status().ToString();
  return exact.ok() ? *std::move(exact) : std::vector<ExactValue>();
}

std::vector<std::string> Graphs() {
  std::vector<std::string> graphs = {
      "g (float[2,2] x) => (float[2,2,2] y) "
      "{ y = ai.onnx.ml.OneHotEncoder<cats_int64s = [0, 1]>(x) }",
      "g (float[2,2] x) => (float[N,M] y) "
      "{ y = ai.onnx.ml.FeatureVectorizer(x, x) }"};
  for (const char* const call :
       {"Scaler<offset = [0.1], scale = [0.3]>", "Normalizer<norm = \"L2\">",
        "Normalizer", "Binarizer<threshold = 0.75>",
        "Imputer<imputed_value_floats = [5.0], replaced_value_float = 0.75>",
        "LabelEncoder<keys_floats = [0.75, 1.5], values_floats = [0.5, 2.5]>",
        "LinearRegressor<targets = 2, coefficients = [0.1, 0.2, 0.3, 0.4], "
        "post_transform = \"SOFTMAX_ZERO\">",
        "LinearRegressor<coefficients = [0.1, 0.2], "
        "post_transform = \"PROBIT\">",
        "SVMRegressor<n_supports = 1, coefficients = [0.5], "
        "support_vectors = [1.0, 2.0], kernel_type = \"POLY\", "
        "kernel_params = [0.5, 0.25, 3.0]>",
        "TreeEnsemble<nodes_featureids = [0, 1], nodes_modes = uint8[2] {0, "
        "4}, "
        "nodes_splits = float[2] {1.0, 1.25}, nodes_truenodeids = [1, 0], "
        "nodes_trueleafs = [0, 1], nodes_falsenodeids = [1, 2], "
        "nodes_falseleafs = [1, 1], leaf_targetids = [0, 1, 1], "
        "n_targets = 2, tree_roots = [0], "
        "leaf_weights = float[3] {0.1, 0.2, 0.3}, post_transform = 1>"}) {
    graphs.push_back(
        StrCat("g (float[2,2] x) => (float[N,M] y) "
               "{ y = ai.onnx.ml.",
               call, "(x) }"));
  }
  for (const char* const call :
       {"LinearClassifier<classlabels_ints = [1, 2], "
        "coefficients = [0.1, 0.2], post_transform = \"LOGISTIC\">",
        "SVMClassifier<classlabels_ints = [1, 2], vectors_per_class = [1, 1], "
        "coefficients = [1.0, -1.0], support_vectors = [1.0, 2.0, 0.5, 0.25], "
        "rho = [0.1], prob_a = [0.5], prob_b = [0.1], kernel_type = \"RBF\", "
        "kernel_params = [0.5, 0.0, 0.0]>"}) {
    graphs.push_back(
        StrCat("g (float[2,2] x) => (int64[2] l, float[N,M] z) "
               "{ l, z = ai.onnx.ml.",
               call, "(x) }"));
  }
  return graphs;
}

void ExpectNear(const assay::Value& got, const assay::Value& wanted,
                const std::string& graph) {
  ASSERT_EQ(got.tensor()->shape(), wanted.tensor()->shape()) << graph;
  const std::vector<double> numbers = NumbersOf(got);
  const std::vector<double> exact = NumbersOf(wanted);
  for (size_t i = 0; i < exact.size(); ++i) {
    EXPECT_NEAR(numbers[i], exact[i], 1e-6) << graph << " element " << i;
  }
}

// Each operator on Vars says what it says on numbers, to float32's roundoff.
TEST(Learned, ExactValuesAreThoseOfTheKernels) {
  const Feed feed = F({2, 2}, {0.75, 1.25, 1.5, -0.5});
  const assay::Value input = feed.Make();
  for (const std::string& graph : Graphs()) {
    const auto plain = OutputsOf(graph, {feed});
    const std::vector<ExactValue> exact = ExactOutputs(graph, {input});
    ASSERT_EQ(exact.size(), plain.size()) << graph;
    for (size_t k = 0; k < exact.size(); ++k) {
      ExpectNear(plain[k], exact[k].value, graph);
    }
  }
}

}  // namespace
}  // namespace assay::reference
