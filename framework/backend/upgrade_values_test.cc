// SPDX-License-Identifier: Apache-2.0
//
// Operators of old versions, as the reference computes them: their numbers are
// what ONNX's text of that version says.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "framework/graph/model_text.h"
#include "framework/testing/support/backends_fixture.h"
#include "framework/testing/support/statuses_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::backend {
namespace {

using Lists = std::vector<std::vector<float>>;

struct Row {
  std::string text;
  int opset;
  Lists inputs;  // of the shapes that the text says
  Lists outputs;
};

const Row kRows[] = {
    {"(float[2] x) => (double[2] d) { d = Cast <to=\"DOUBLE\"> (x) }", 1,
     Lists{{1, 2}}, Lists{{1, 2}}},
    {"(float[1,1,3] x) => (float[1,1,2] y) { y = LpPool <kernel_shape=[2], "
     "strides=[1], p=2.0> (x) }",
     1, Lists{{3, 4, 0}}, Lists{{5, 4}}},
    {"(float[1,1,2] x) => (float[1,1,1] y) { y = GlobalLpPool <p=1.0> (x) }", 1,
     Lists{{3, -4}}, Lists{{7}}},
    {"(float[1,2] x) => (float[1,6] y) <float t = {3}, float a = {1}> "
     "{ y = Tile(x, t, a) }",
     5, Lists{{1, 2}}, Lists{{1, 2, 1, 2, 1, 2}}},
    {"(float[1,2] x, float t, float[1] a) => (float[M,N] y) "
     "{ y = Tile(x, t, a) }",
     5, Lists{{1, 2}, {3}, {1}}, Lists{{1, 2, 1, 2, 1, 2}}},
    {"(float[3] x, float[2] n) => (float[M] y, float[N] z) "
     "{ y, z = Split <axis=0> (x, n) }",
     1, Lists{{1, 2, 3}, {1, 2}}, Lists{{1}, {2, 3}}},
    // The example of Upsample's own text.
    {"(float[1,1,2,2] x) => (float[1,1,4,4] y) "
     "{ y = Upsample <height_scale=2.0, width_scale=2.0> (x) }",
     6, Lists{{1, 2, 3, 4}},
     Lists{{1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 4, 4}}},
    // ONNX 1.5's cases of Resize 10: resize_downsample_nearest and _linear.
    {"(float[1,1,2,4] x) => (float[1,1,1,2] y) <float[4] s = {1, 1, 0.6, 0.6}> "
     "{ y = Resize(x, s) }",
     10, Lists{{1, 2, 3, 4, 5, 6, 7, 8}}, Lists{{1, 3}}},
    // Fed; and one axis shrinks while the other grows.
    {"(float[1,1,2,4] x, float[4] s) => (float[A,B,C,D] y) "
     "{ y = Resize(x, s) }",
     10, Lists{{1, 2, 3, 4, 5, 6, 7, 8}, {1, 1, 0.6F, 0.6F}}, Lists{{1, 3}}},
    {"(float[2,4] x) => (float[4,2] y) <float[2] s = {2, 0.6}> "
     "{ y = Resize(x, s) }",
     10, Lists{{1, 2, 3, 4, 5, 6, 7, 8}}, Lists{{1, 3, 1, 3, 5, 7, 5, 7}}},
    {"(float[1,1,2,4] x) => (float[1,1,1,2] y) <float[4] s = {1, 1, 0.6, 0.6}> "
     "{ y = Resize <mode=\"linear\"> (x, s) }",
     10, Lists{{1, 2, 3, 4, 5, 6, 7, 8}}, Lists{{1, 2.6666667F}}},
    // scale and bias of each group: (x - mean) / sqrt(var + 0) is -1 and 1.
    {"(float[1,4,1] x, float[2] s, float[2] b) => (float[1,4,1] y) "
     "{ y = GroupNormalization <num_groups=2, epsilon=0.0> (x, s, b) }",
     18, Lists{{1, 3, 10, 30}, {2, 5}, {0, 100}}, Lists{{-2, 2, 95, 105}}},
    // Each activation has statistics of its own.
    {"(float[1,2,1] x, float[2,1] s, float[2,1] b, float[2,1] m, float[2,1] v) "
     "=> (float[1,2,1] y) { y = BatchNormalization <spatial=0, epsilon=0.0> "
     "(x, s, b, m, v) }",
     7, Lists{{5, 6}, {2, 3}, {1, 0}, {3, 8}, {4, 1}}, Lists{{3, -6}}},
    // Training: mean 2, variance 1; running mean 0.9 * 10 + 0.1 * 2.
    {"(float[2,1] x, float[1] s, float[1] b, float[1] m, float[1] v) => "
     "(float[2,1] y, float[1] rm, float[1] rv) { y, rm, rv, sm, sv = "
     "BatchNormalization <epsilon=0.0> (x, s, b, m, v) }",
     9, Lists{{1, 3}, {1}, {0}, {10}, {11}}, Lists{{-1, 1}, {9.2F}, {10}}},
    {"(float[2] x) => (float[2] y, float[2] m) "
     "{ y, m = Dropout <ratio=0.0> (x) }",
     6, Lists{{1, 2}}, Lists{{1, 2}, {1, 1}}},
    // The case test_scan_sum, with a second element of the batch.
    {"(float[2,1] i, float[2,3,1] x) => (float[2,1] y, float[2,3,1] z) "
     "{ y, z = Scan <num_scan_inputs=1, body = b (float[1] s, float[1] e) => "
     "(float[1] t, float[1] u) { t = Add(s, e) u = Identity(t) }> ( , i, x) }",
     8, Lists{{0, 10}, {1, 3, 5, 1, 1, 1}},
     Lists{{9, 13}, {1, 4, 9, 11, 12, 13}}},
    // Ht = tanh(x W) with W = 0; Y is an output although the old attribute is
    // 0.
    {"(float[1,1,1] x, float[1,1,1] w) => (float[1,1,1,1] y) "
     "{ y = RNN <hidden_size=1, output_sequence=0> (x, w, w) }",
     3, Lists{{5}, {0}}, Lists{{0}}},
};

std::vector<double> Numbers(const Tensor& tensor) {
  if (tensor.dtype() == DType::kFloat64) return DoublesOf(tensor);
  EXPECT_EQ(tensor.dtype(), DType::kFloat32);
  const std::vector<float> elements = FloatsOf(tensor);
  return {elements.begin(), elements.end()};
}

class UpgradeValues : public testing::TestWithParam<Row> {};

TEST_P(UpgradeValues, AreThoseOfTheOldText) {
  const Row& row = GetParam();
  auto network =
      Got(Reference().Load(graph::ModelOfText("g " + row.text, row.opset), {}));
  std::map<std::string, Value> inputs;
  for (size_t i = 0; i < row.inputs.size(); ++i) {
    const ValueInfo& info = network->inputs()[i];
    inputs[info.name] = Floats(*info.type.StaticShape(), row.inputs[i]);
  }
  const auto outputs = Got(assay::Run(*network, inputs));
  for (size_t i = 0; i < row.outputs.size(); ++i) {
    const auto found = Numbers(*outputs[i].tensor());
    ASSERT_EQ(found.size(), row.outputs[i].size());
    for (size_t k = 0; k < found.size(); ++k) {
      EXPECT_NEAR(found[k], row.outputs[i][k], 1e-5) << row.text;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, UpgradeValues, testing::ValuesIn(kRows));

}  // namespace
}  // namespace assay::backend
