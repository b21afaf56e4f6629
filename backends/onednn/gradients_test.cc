// SPDX-License-Identifier: Apache-2.0
//
// Gradients against the oracle's reverse pass: of models with what the corpus
// has not, such as convolutions of every kind, and of every node case of the
// corpus. gradients.txt lists the cases that are further off than the limits,
// each with its reason.
#include "conformance/oracle/gradients.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "backends/onednn/primitive/test_graph.h"
#include "conformance/oracle/oracle_module.h"
#include "framework/testing/case/read_corpus.h"

namespace assay::onednn {
namespace {

using oracle::Gradients;

// Units in the last place of the greatest gradient of an input. Within a model
// of several nodes values are rounded.
constexpr double kUnitsOfOneNode = 5;
constexpr double kUnitsOfSeveral = 10;

Backend& Reference() {
  static const auto backend = oracle::OracleOf(ASSAY_ORACLE_MODULE);
  return *backend;
}

Backend& OneDnn() {
  static const auto backend = *MakeBackend("onednn");
  return *backend;
}

double LimitOf(const Model& model) {
  return model.graph().nodes.size() == 1 ? kUnitsOfOneNode : kUnitsOfSeveral;
}

const char* const kModels[] = {
    // Convolutions: one to three axes, groups, strides, dilations, pads.
    "g (float[2,4,7] x, float[6,2,3] w, float[6] b) => (float[2,6,6] y) "
    "{ y = Conv <group = 2, dilations = [2], pads = [2, 1]> (x, w, b) }",
    "g (float[1,3,8] x, float[3,1,2] w, float[3] b) => (float[1,3,3] y) "
    "{ y = Conv <group = 3, strides = [3], pads = [0, 2]> (x, w, b) }",
    "g (float[2,3,9,9] x, float[8,3,3,3] w, float[8] b) => (float[2,8,9,9] y) "
    "{ y = Conv <pads = [1, 1, 1, 1]> (x, w, b) }",
    "g (float[1,4,6,5] x, float[4,2,3,2] w) => (float[1,4,4,3] y) "
    "{ y = Conv <group = 2, strides = [2, 1], dilations = [1, 2], "
    "pads = [1, 0, 2, 0]> (x, w) }",
    "g (float[1,6,5,6] x, float[6,1,3,3] w, float[6] b) => (float[1,6,4,4] y) "
    "{ y = Conv <group = 6, strides = [1, 2], pads = [1, 1, 0, 2]> (x, w, b) }",
    "g (float[2,32,14,14] x, float[32,1,3,3] w, float[32] b) "
    "=> (float[2,32,14,14] y) "
    "{ y = Conv <group = 32, pads = [1, 1, 1, 1]> (x, w, b) }",
    "g (float[2,16,15,15] x, float[16,1,5,5] w) => (float[2,16,8,8] y) "
    "{ y = Conv <group = 16, strides = [2, 2], pads = [2, 2, 2, 2]> (x, w) }",
    "g (float[1,16,12,12] x, float[16,1,3,3] w) => (float[1,16,8,8] y) "
    "{ y = Conv <group = 16, dilations = [2, 2]> (x, w) }",
    "g (float[1,16,12,12] x, float[32,1,3,3] w) => (float[1,32,10,10] y) "
    "{ y = Conv <group = 16> (x, w) }",
    "g (float[2,24,10,10] x, float[16,24,1,1] w, float[16] b) "
    "=> (float[2,16,5,5] y) { y = Conv <strides = [2, 2]> (x, w, b) }",
    "g (float[1,2,4,3,5] x, float[4,1,2,1,3] w, float[4] b) "
    "=> (float[1,4,3,3,3] y) "
    "{ y = Conv <group = 2, dilations = [2, 1, 1], strides = [1, 1, 2], "
    "pads = [1, 0, 1, 0, 0, 2]> (x, w, b) }",
    "g (float[1,8,5,5,5] x, float[8,1,3,3,3] w) => (float[1,8,5,5,5] y) "
    "{ y = Conv <group = 8, pads = [1, 1, 1, 1, 1, 1]> (x, w) }",
    "g (float[1,24,6,6] x, float[24,1,3,3] w) => (float[1,24,3,3] y) "
    "{ y = Conv <group = 24, strides = [2, 2], pads = [1, 1, 1, 1]> (x, w) }",
    "g (float[4,4,16,16] x, float[8,4,1,1] w) => (float[4,8,8,8] y) "
    "{ y = Conv <strides = [2, 2]> (x, w) }",
    // Transposed convolutions.
    "g (float[2,4,5] x, float[4,3,3] w, float[6] b) => (float[2,6,11] y) "
    "{ y = ConvTranspose <group = 2, strides = [2]> (x, w, b) }",
    "g (float[1,3,4,4] x, float[3,5,3,3] w, float[5] b) "
    "=> (float[1,5,8,8] y) "
    "{ y = ConvTranspose <strides = [2, 2], pads = [1, 1, 1, 1], "
    "output_padding = [1, 1]> (x, w, b) }",
    "g (float[1,4,5,5] x, float[4,1,3,3] w) => (float[1,4,9,9] y) "
    "{ y = ConvTranspose <group = 4, dilations = [2, 2]> (x, w) }",
    "g (float[1,2,3,3,3] x, float[2,2,2,2,2] w, float[2] b) "
    "=> (float[1,2,4,4,4] y) { y = ConvTranspose (x, w, b) }",
    // Products.
    "g (float[3,4] a, float[5,4] b, float[5] c) => (float[3,5] y) "
    "{ y = Gemm <transB = 1> (a, b, c) }",
    "g (float[4,3] a, float[4,5] b, float[3,1] c) => (float[3,5] y) "
    "{ y = Gemm <transA = 1, alpha = 0.5, beta = 2.0> (a, b, c) }",
    "g (float[2,1,3,4] a, float[5,4,6] b) => (float[2,5,3,6] y) "
    "{ y = MatMul(a, b) }",
    "g (float[7,3,4] a, float[4] b) => (float[7,3] y) { y = MatMul(a, b) }",
    // Pooling.
    "g (float[2,3,9] x) => (float[2,3,4] y) "
    "{ y = MaxPool <kernel_shape = [3], strides = [2]> (x) }",
    "g (float[2,3,9,8] x) => (float[2,3,9,8] y) "
    "{ y = MaxPool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x) }",
    "g (float[2,16,9,9] x) => (float[2,16,5,5] y) "
    "{ y = MaxPool <kernel_shape = [2, 2], dilations = [2, 2], "
    "pads = [1, 1, 1, 1], strides = [2, 2]> (x) }",
    "g (float[1,2,4,5,6] x) => (float[1,2,2,2,3] y) "
    "{ y = AveragePool <kernel_shape = [2, 2, 2], strides = [2, 2, 2]> (x) }",
    "g (float[1,2,7,7] x) => (float[1,2,4,4] y) "
    "{ y = AveragePool <kernel_shape = [3, 3], pads = [1, 1, 1, 1], "
    "strides = [2, 2], count_include_pad = 1> (x) }",
    "g (float[1,2,6] x) => (float[1,2,4] y) "
    "{ y = AveragePool <kernel_shape = [3], strides = [2], pads = [1, 0], "
    "ceil_mode = 1, count_include_pad = 1> (x) }",
    "g (float[2,3,4,5] x) => (float[2,3,1,1] y) { y = GlobalMaxPool(x) }",
    "g (float[2,3,4,5] x) => (float[2,3,1,1] y) { y = GlobalAveragePool(x) }",
    "g (float[2,3,4,5] x) => (float[2,3,1,1] y) "
    "{ y = GlobalLpPool <p = 3> (x) }",
    "g (float[2,3,8] x) => (float[2,3,4] y) "
    "{ y = LpPool <kernel_shape = [2], strides = [2], p = 3> (x) }",
    // Normalization.
    "g (float[4,3,5] x, float[3] s, float[3] b, float[3] m, float[3] v) => "
    "(float[4,3,5] y, float[3] n, float[3] u) "
    "{ y, n, u = BatchNormalization <training_mode = 1> (x, s, b, m, v) }",
    "g (float[4,3,5] x, float[5] s, float[5] b) => "
    "(float[4,3,5] y, float[4,3,1] m, float[4,3,1] d) "
    "{ y, m, d = LayerNormalization (x, s, b) }",
    "g (float[2,6,5] x, float[6] s, float[6] b) => (float[2,6,5] y) "
    "{ y = GroupNormalization <num_groups = 3> (x, s, b) }",
    "g (float[2,3,4,4] x, float[3] s, float[3] b) => (float[2,3,4,4] y) "
    "{ y = InstanceNormalization (x, s, b) }",
    "g (float[2,3,4] x, float[4] s) => (float[2,3,4] y) "
    "{ y = RMSNormalization (x, s) }",
    "g (float[2,7,3,3] x) => (float[2,7,3,3] y) "
    "{ y = LRN <size = 3, alpha = 0.5> (x) }",
    // Elements.
    "g (float[2,3,4] x, float[3,1] s) => (float[2,3,4] y) { y = PRelu(x, s) }",
    "g (float[3,1] a, float[2,1,4] b, float[3,4] c) => (float[2,3,4] y) "
    "{ y = Mean(a, b, c) }",
    "g (float[3,1] a, float[2,1,4] b) => (float[2,3,4] y) { y = Div(a, b) }",
    "g (float[3] a) => (float[3] y) { y = Mul(a, a) }",
    "g (float[2,6] x) => (float[2,6] y) { y = Softmax <axis = 0> (x) }",
    "g (float[1,2,3,4] x) => (float[1,2,6,8] y) <float[4] s = {1, 1, 2, 2}> "
    "{ y = Resize <mode = \"linear\"> (x, , s) }",
    "g (float[1,2,3] x) => (float[1,2,6] y) <float[3] s = {1, 1, 2}> "
    "{ y = Resize (x, , s) }",
    "g (float[2,3,4] x) => (float[2,1,1] y) <int64[2] a = {1, 2}> "
    "{ y = ReduceMax(x, a) }",
    "g (float[2,3,4] x) => (float[2,1,4] y) <int64[1] a = {1}> "
    "{ y = ReduceL2(x, a) }",
    "g (float[2,3,4] x) => (float[2,1,4] y) <int64[1] a = {1}> "
    "{ y = ReduceLogSumExp(x, a) }",
    "g (float[2,3,4] x) => (float[2,3,4] y) <float[1] e = {3}> "
    "{ y = Pow(x, e) }",
    "g (float[2,3] a, float[2,3] b, float[2,2] c) => (float[2,8] y) "
    "{ y = Concat <axis = 1> (a, b, c) }",
    "g (float[2,3] a, float[3] b, float[2,1] c) => (float[2,3] y) "
    "{ y = Max(a, b, c) }",
    "g (float[3,4] x, float v) => (float[6,5] y) "
    "<int64[4] p = {1, -1, 2, 2}> { y = Pad(x, p, v) }",
    "g (float[2,3] x) => (float[4,9] y) <int64[2] r = {2, 3}> "
    "{ y = Tile(x, r) }",
    "g (float[4,5] x) => (float[2,3] y) <int64[2] s = {3, 0}, "
    "int64[2] e = {0, 5}, int64[2] d = {-2, 2}, int64[2] a = {0, 1}> "
    "{ y = Slice(x, s, e, a, d) }",
    // Cells with all states and peepholes.
    "g (float[3,2,4] x, float[1,5,4] w, float[1,5,5] r, float[1,10] b, "
    "float[1,2,5] h) => (float[3,1,2,5] y, float[1,2,5] n) "
    "{ y, n = RNN <hidden_size = 5> (x, w, r, b, , h) }",
    "g (float[3,2,4] x, float[2,15,4] w, float[2,15,5] r, float[2,30] b, "
    "float[2,2,5] h) => (float[3,2,2,5] y, float[2,2,5] n) "
    "{ y, n = GRU <hidden_size = 5, direction = \"bidirectional\"> "
    "(x, w, r, b, , h) }",
    "g (float[3,2,4] x, float[1,15,4] w, float[1,15,5] r, float[1,30] b, "
    "float[1,2,5] h) => (float[3,1,2,5] y, float[1,2,5] n) "
    "{ y, n = GRU <hidden_size = 5, linear_before_reset = 1> "
    "(x, w, r, b, , h) }",
    "g (float[3,2,4] x, float[1,20,4] w, float[1,20,5] r, float[1,40] b, "
    "float[1,2,5] h, float[1,2,5] c, float[1,15] p) => "
    "(float[3,1,2,5] y, float[1,2,5] n, float[1,2,5] m) "
    "{ y, n, m = LSTM <hidden_size = 5, direction = \"reverse\"> "
    "(x, w, r, b, , h, c, p) }",
    // Several nodes, a value with two readers, extents that are not known.
    "g (float[N,1,8,8] x, float[4,1,3,3] w, float[4] s, float[4] b, "
    "float[36,3] v) => (float[N,3] y) <float[4] m = {0, 0, 0, 0}, "
    "int64[2] to = {-1, 36}> { h = Conv(x, w) "
    "n, rm, rv = BatchNormalization <training_mode = 1> (h, s, b, m, m) "
    "a = Relu(n) p = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (a) "
    "f = Reshape(p, to) u = Tanh(f) t = Add(u, f) y = MatMul(t, v) }",
};

/// Numbers of [-1, 1) for each input; an extent that is not known is 2.
std::vector<Value> InputsOf(const std::shared_ptr<const Model>& model) {
  const auto network = Reference().Load(model, {});
  if (!network.ok()) return {};
  std::vector<Value> inputs;
  for (const ValueInfo& info : (*network)->inputs()) {
    std::vector<int64_t> extents;
    for (const Dim& dim : *info.type.dims)
      extents.push_back(dim.known() ? dim.extent : 2);
    inputs.emplace_back(
        Floats(Shape(extents), Random(info.name, CountOf(extents))));
  }
  return inputs;
}

TEST(OneDnnGradientsTest, OfModelsAreThoseOfTheOracle) {
  double most = 0;
  for (const std::string text : kModels) {
    const auto model = graph::ModelOfText(text);
    const Gradients found = oracle::CheckGradients(OneDnn(), Reference(), model,
                                                   InputsOf(model), 7);
    EXPECT_EQ(found.verdict, Gradients::kCompared) << text << "\n"
                                                   << found.what;
    EXPECT_GT(found.non_zero, 0) << text;
    EXPECT_LE(found.units, LimitOf(*model)) << text << "\n" << found.what;
    most = std::max(most, found.units);
  }
  std::cout << std::size(kModels) << " models, at most " << most
            << " units apart\n";
}

/// A distance beyond the limits that is understood.
struct Known {
  double units = 0;
  std::string because;
  bool needed = false;
};

std::map<std::string, Known> ReadKnown() {
  std::map<std::string, Known> known;
  std::ifstream file(ASSAY_SOURCE_DIR "/backends/onednn/gradients.txt");
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string id, most;
    Known one;
    words >> id >> most >> std::ws;
    std::getline(words, one.because);
    one.units = most == "any" ? std::numeric_limits<double>::infinity()
                              : std::strtod(most.c_str(), nullptr);
    EXPECT_FALSE(one.because.empty()) << line;
    EXPECT_TRUE(known.emplace(id, one).second) << line;
  }
  return known;
}

/// Cases and numbers by what became of them.
struct Counts {
  int compared = 0, zero = 0, without_gradient = 0, unknown = 0;
  int beyond = 0;  // the limits, and listed
  int64_t numbers = 0;
  double units = 0;                     // of those not listed
  std::map<std::string, int> declined;  // by reason
};

void Count(const std::string& id, const Model& model, const Gradients& found,
           std::map<std::string, Known>& known, Counts& counts) {
  switch (found.verdict) {
    case Gradients::kNothing:
      ++counts.without_gradient;
      return;
    case Gradients::kUnknown:
      ++counts.unknown;
      return;
    case Gradients::kDeclined:
      ++counts.declined[std::string(ToString(found.reason))];
      return;
    case Gradients::kFailed:
      ADD_FAILURE() << id << ": " << found.what;
      return;
    case Gradients::kCompared:
      break;
  }
  ++counts.compared;
  counts.zero += found.non_zero == 0 ? 1 : 0;
  counts.numbers += found.numbers;
  const auto line = known.find(id);
  if (line == known.end() || found.units <= LimitOf(model)) {
    EXPECT_LE(found.units, LimitOf(model)) << id << ": " << found.what;
    counts.units = std::max(counts.units, found.units);
    return;
  }
  ++counts.beyond;
  line->second.needed = true;
  EXPECT_LE(found.units, line->second.units) << id << ": " << found.what;
}

TEST(OneDnnGradientsTest, AreThoseOfTheOracleOverTheCorpus) {
  const auto corpus = cases::ReadCorpus(ASSAY_CORPUS);
  ASSERT_TRUE(corpus.ok()) << corpus.status().message();
  std::map<std::string, Known> known = ReadKnown();
  Counts counts;
  for (const cases::TestCase& asked : corpus->cases) {
    if (asked.suite != "node") continue;
    const auto data = cases::ReadCaseInputs(asked.directory, 1);
    ASSERT_TRUE(data.ok()) << asked.test_id;
    Count(asked.test_id, *data->model,
          oracle::CheckGradients(OneDnn(), Reference(), data->model,
                                 data->sets[0].inputs,
                                 std::hash<std::string>()(asked.test_id)),
          known, counts);
  }
  std::cout << counts.compared << " cases compared, " << counts.zero
            << " of them with no gradient but zero; " << counts.numbers
            << " numbers, at most " << counts.units << " units apart, but for "
            << counts.beyond << " listed cases; " << counts.without_gradient
            << " cases without floats, " << counts.unknown
            << " without an oracle\n";
  for (const auto& [reason, count] : counts.declined) {
    std::cout << count << " declined: " << reason << "\n";
  }
  for (const auto& [id, line] : known) {
    EXPECT_TRUE(line.needed) << id << " in gradients.txt is not needed";
  }
  EXPECT_GT(counts.compared - counts.zero, 400);
}

}  // namespace
}  // namespace assay::onednn
