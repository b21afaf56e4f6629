// SPDX-License-Identifier: Apache-2.0
//
// Operators of ai.onnx.ml.

#include <string_view>

#include "perf/work/rules.h"

namespace assay::work {
namespace {

constexpr std::string_view kTrees = "which way a tree is walked is in the data";
constexpr std::string_view kMaps = "the type of a map does not say its size";
constexpr std::string_view kKeys = "how a key is found is the implementation's";
constexpr std::string_view kVectors =
    "how far its support vectors reach is in its kernel";

/// Scores of X W^T + b: what a class of either operator takes.
void CountLinear(const NodeFacts& facts, double scores, Work* work) {
  work->flops += scores * (2 * Extent(facts.In(0), -1) + 1);
}

void CountLinearRegressor(const NodeFacts& facts, Work* work) {
  CountLinear(facts, facts.CountOut(0), work);
}

void CountLinearClassifier(const NodeFacts& facts, Work* work) {
  CountLinear(facts, facts.CountOut(1), work);
}

/// Normalizer-1: |x| or x * x, folded, and a quotient; L2 takes a root a row.
void CountNormalizer(const NodeFacts& facts, Work* work) {
  work->flops += 3 * facts.CountIn(0);
  if (facts.Text("norm", "MAX") == "L2") {
    const Shape x = facts.In(0);
    work->transcendentals += Extent(x, 0, x.rank() - 1);
  }
}

constexpr Rule kOtherDomains[] = {
    {"ai.onnx.ml:ArrayFeatureExtractor", {.moves = Moves::kGathered}},
    {"ai.onnx.ml:Binarizer", {.flops = 1}},
    {"ai.onnx.ml:CastMap", {.unknown = kMaps}},
    {"ai.onnx.ml:CategoryMapper", {.unknown = kKeys}},
    {"ai.onnx.ml:DictVectorizer", {.unknown = kMaps}},
    {"ai.onnx.ml:FeatureVectorizer", {}},
    {"ai.onnx.ml:Imputer", {.flops = 1}},
    {"ai.onnx.ml:LabelEncoder", {.unknown = kKeys}},
    {"ai.onnx.ml:LinearClassifier", {.count = CountLinearClassifier}},
    {"ai.onnx.ml:LinearRegressor", {.count = CountLinearRegressor}},
    {"ai.onnx.ml:Normalizer", {.count = CountNormalizer}},
    {"ai.onnx.ml:OneHotEncoder", {.unknown = kKeys}},
    {"ai.onnx.ml:SVMClassifier", {.unknown = kVectors}},
    {"ai.onnx.ml:SVMRegressor", {.unknown = kVectors}},
    {"ai.onnx.ml:Scaler", {.flops = 2}},
    {"ai.onnx.ml:TreeEnsemble", {.unknown = kTrees}},
    {"ai.onnx.ml:TreeEnsembleClassifier", {.unknown = kTrees}},
    {"ai.onnx.ml:TreeEnsembleRegressor", {.unknown = kTrees}},
    {"ai.onnx.ml:ZipMap", {.unknown = kMaps}},
};

}  // namespace

std::span<const Rule> OtherDomainRules() { return kOtherDomains; }

}  // namespace assay::work
