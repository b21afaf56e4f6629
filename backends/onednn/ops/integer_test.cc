// SPDX-License-Identifier: Apache-2.0
//
// Quantized operators against the reference and by hand, where ONNX's own cases
// do not reach: int8 weights, which take oneDNN's int8 kernels, a scale for
// each channel, groups, and padding under a zero point.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "backends/onednn/primitive/test_graph_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::onednn {
namespace {

using ::testing::ElementsAre;

/// True when this machine has int8 products that do not saturate at 16 bits.
bool HasProducts() {
  return Load("g (uint8[1,1] a) => (int32[1,1] y) { y = MatMulInteger(a, a) }")
      .ok();
}

/// Integers spread over [low, high].
template <class T>
std::vector<T> Spread(int64_t count, int low, int high) {
  std::vector<T> numbers;
  for (int64_t i = 0; i < count; ++i) {
    numbers.push_back(
        static_cast<T>(low + static_cast<int>(i * 37 % (high - low + 1))));
  }
  return numbers;
}

TEST(Integer, ConvIntegerPadsWithTheZeroPoint) {
  ExpectAsReference(
      "g (uint8[1,2,5] x, int8[2,2,3] w, uint8 z) => (int32[1,2,5] y) "
      "{ y = ConvInteger <pads = [1, 1]> (x, w, z) }",
      {{"x", Elements<uint8_t>({1, 2, 5}, Spread<uint8_t>(10, 0, 255))},
       {"w", Elements<int8_t>({2, 2, 3}, Spread<int8_t>(12, -128, 127))},
       {"z", Elements<uint8_t>({}, {100})}},
      0);
}

/// uint8 weights with a zero point for each output channel.
TEST(Integer, ConvIntegerTakesWeightsZeroPoints) {
  ExpectAsReference(
      "g (uint8[1,2,5] x, uint8[2,2,3] w, uint8 z, uint8[2] v) => "
      "(int32[1,2,5] y) { y = ConvInteger <pads = [1, 1]> (x, w, z, v) }",
      {{"x", Elements<uint8_t>({1, 2, 5}, Spread<uint8_t>(10, 0, 255))},
       {"w", Elements<uint8_t>({2, 2, 3}, Spread<uint8_t>(12, 0, 255))},
       {"z", Elements<uint8_t>({}, {3})},
       {"v", Elements<uint8_t>({2}, {7, 200})}},
      0);
}

TEST(Integer, QLinearConvHasAScaleForEachChannel) {
  struct Row {
    int groups;
    const char* what;
    std::string weights;  // element type
  };
  for (const Row& row : {Row{1, "one group", "int8"}, Row{2, "two", "int8"},
                         Row{1, "weights moved", "uint8"}}) {
    SCOPED_TRACE(row.what);
    const bool moved = row.weights == "uint8";
    const Shape shape = {2, row.groups == 1 ? 2 : 1, 3};
    const int64_t count = *shape.NumElements();
    ExpectAsReference(
        StrCat("g (uint8[1,2,5] x, ", row.weights, shape.ToString(),
               " w, int32[2] b) => (uint8[1,2,5] y) <float xs = {0.02}, uint8 "
               "xz = {120}, float[2] ws = {0.01, 0.003}, ",
               row.weights, " wz = ", moved ? "{100}" : "{0}",
               ", float ys = {0.5}, uint8 yz = {60}> { y = QLinearConv "
               "<pads = [1, 1], group = ",
               row.groups, "> (x, xs, xz, w, ws, wz, ys, yz, b) }"),
        {{"x", Elements<uint8_t>({1, 2, 5}, Spread<uint8_t>(10, 0, 255))},
         {"w", moved
                   ? Elements<uint8_t>(shape, Spread<uint8_t>(count, 0, 200))
                   : Elements<int8_t>(shape, Spread<int8_t>(count, -100, 100))},
         {"b", Elements<int32_t>({2}, {1000, -2000})}},
        0);
  }
}

TEST(Integer, ProductsTakeBothSignsAndZeroPoints) {
  if (!HasProducts()) GTEST_SKIP() << "no VNNI";
  for (const char* type : {"int8", "uint8"}) {
    SCOPED_TRACE(type);
    const bool is_signed = std::string(type) == "int8";
    const Tensor b = is_signed ? Elements<int8_t>({2, 2}, {-128, 127, 5, -6})
                               : Elements<uint8_t>({2, 2}, {0, 255, 133, 122});
    // Both hold -128, 127, 5 and -6 after their zero points.
    const Tensor y = RunGraph(
        std::string("g (uint8[1,2] a, ") + type + "[2,2] b, uint8 z, " + type +
            " v) => (int32[1,2] y) { y = MatMulInteger(a, b, z, v) }",
        {{"a", Elements<uint8_t>({1, 2}, {255, 0})},
         {"b", b},
         {"z", Elements<uint8_t>({}, {10})},
         {"v", is_signed ? Elements<int8_t>({}, {0})
                         : Elements<uint8_t>({}, {128})}});
    EXPECT_THAT(y.elements<int32_t>(),
                ElementsAre(245 * -128 - 10 * 5, 245 * 127 + 10 * 6));
  }
}

/// 258 * 255 * 255 is below 2^24, one more is not.
TEST(Integer, SumsThatFloat32LosesAreDeclined) {
  const char* const kProduct =
      " a, uint8[K,1] b) => (int32[1,1] y) { y = MatMulInteger(a, b) }";
  const char* const kWindow =
      "g (uint8[1,K,1] x, int8[1,K,1] w) => (int32[1,1,1] y) "
      "{ y = ConvInteger(x, w) }";
  for (const std::string& graph :
       {StrCat("g (uint8[1,K]", kProduct), std::string(kWindow)}) {
    const auto with = [&graph](const char* terms) {
      return Load(std::regex_replace(graph, std::regex("K"), terms)).status();
    };
    if (!HasProducts() && graph.find("MatMul") != std::string::npos) continue;
    EXPECT_TRUE(with("258").ok()) << with("258").ToString();
    EXPECT_EQ(with("259").reason(), Reason::kShape) << graph;
  }
}

TEST(Integer, QLinearMatMulHasAScaleForEachColumn) {
  if (!HasProducts()) GTEST_SKIP() << "no VNNI";
  const Tensor y = RunGraph(
      "g (uint8[1,2] a, int8[2,2] b) => (int8[1,2] y) <float as = {0.5}, "
      "uint8 az = {1}, float[2] bs = {0.25, 2.0}, int8 bz = {-1}, "
      "float ys = {1.0}, int8 yz = {3}> "
      "{ y = QLinearMatMul(a, as, az, b, bs, bz, ys, yz) }",
      {{"a", Elements<uint8_t>({1, 2}, {11, 3})},
       {"b", Elements<int8_t>({2, 2}, {3, 99, 0, -2})}});
  // (10, 2) by (4, 100; 1, -1): 42 / 8 + 3 and 998 + 3, saturated.
  EXPECT_THAT(y.elements<int8_t>(), ElementsAre(8, 127));
}

/// Rounding comes before the zero point: 0.5 + 1 is 1, not 2.
TEST(Integer, QuantizeRoundsHalfToEvenAndThenShifts) {
  const Tensor y = RunGraph(
      "g (float[2,3] x, float[2] s, uint8[2] z) => (uint8[2,3] y) "
      "{ y = QuantizeLinear <axis = 0> (x, s, z) }",
      {{"x", Floats({2, 3}, {0.5F, 1.5F, -9, 5, 7, 1000})},
       {"s", Floats({2}, {1, 2})},
       {"z", Elements<uint8_t>({2}, {1, 3})}});
  EXPECT_THAT(y.elements<uint8_t>(), ElementsAre(1, 3, 0, 5, 7, 255));
}

TEST(Integer, BlocksHaveScalesOfTheirOwn) {
  const Tensor y = RunGraph(
      "g (int8[4] x, float[2] s) => (float[4] y) "
      "{ y = DequantizeLinear <axis = 0, block_size = 2> (x, s) }",
      {{"x", Elements<int8_t>({4}, {1, -2, 3, -4})},
       {"s", Floats({2}, {2, 10})}});
  EXPECT_THAT(y.elements<float>(), ElementsAre(2, -4, 30, -40));
}

}  // namespace
}  // namespace assay::onednn
