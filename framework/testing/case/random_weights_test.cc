// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/case/random_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "framework/file/scratch_folder.h"
#include "framework/graph/model_text.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::cases {
namespace {

constexpr char kNet[] =
    "g (float[1,3,8,8] x) => (float[1,16] y) "
    "<int64[4] ws = {16, 3, 8, 8}, int64[1] n = {16}, float[1] bias = {1}, "
    " int64[2] gs = {16, 16}> "
    "{ w = ConstantOfShape(ws) cb = ConstantOfShape(n) "
    "  c = Conv(x, w, cb) d = Mul(c, bias) "
    "  k = ConstantOfShape <value = int64[1] {3}> (n) "
    "  s = ConstantOfShape(n) m = ConstantOfShape(n) v = ConstantOfShape(n) "
    "  b = BatchNormalization(c, s, m, m, v) r = Sum(b, c) "
    "  s2 = ConstantOfShape(n) b2 = BatchNormalization(c, s2, m, m, v) "
    "  unused = ConstantOfShape(n) "
    "  q = Relu(b2) a = Relu(r) f = Flatten(a) g2 = ConstantOfShape(gs) "
    "  y = Gemm<transB = 1>(f, g2) }";

struct Moments {
  double mean = 0, variance = 0, least = 0, greatest = 0;
};

Moments MomentsOf(const Tensor& tensor) {
  Moments moments;
  const auto elements = tensor.elements<float>();
  moments.least = moments.greatest = elements[0];
  for (const float x : elements) {
    moments.mean += x;
    moments.variance += double{x} * x;
    moments.least = std::min<double>(moments.least, x);
    moments.greatest = std::max<double>(moments.greatest, x);
  }
  const auto n = static_cast<double>(elements.size());
  moments.mean /= n;
  moments.variance = moments.variance / n - moments.mean * moments.mean;
  return moments;
}

TEST(UniformTensor, IsUniformAndRepeats) {
  const auto draw = [](int64_t seed, const char* name) {
    return *UniformTensor({100000}, -1, 3, seed, name);
  };
  const Tensor a = draw(1, "a");
  const Moments moments = MomentsOf(a);
  EXPECT_NEAR(moments.mean, 1, 0.02);
  EXPECT_NEAR(moments.variance, 16.0 / 12, 0.02);
  EXPECT_GE(moments.least, -1);
  EXPECT_LT(moments.greatest, 3);
  const auto same = [&](const Tensor& other) {
    return std::ranges::equal(a.bytes(), other.bytes());
  };
  EXPECT_TRUE(same(draw(1, "a")));
  EXPECT_FALSE(same(draw(2, "a")));
  EXPECT_FALSE(same(draw(1, "b")));
  // Pinned, so that no machine and no release draws others.
  EXPECT_EQ(a.elements<float>()[0], 2.3550124F);
}

TEST(RandomWeights, AreScaledByTheirUse) {
  const auto model = Got(graph::ParseModelText(kNet));
  const auto weights = Got(RandomWeights(*model, 7));
  EXPECT_EQ(weights.size(), 9U);
  // 1 / fan-in, fan-in being 3 * 8 * 8; behind the Relu 2 / fan-in.
  EXPECT_NEAR(MomentsOf(weights.at("w")).variance, 1.0 / 192, 0.1 / 192);
  EXPECT_NEAR(MomentsOf(weights.at("g2")).variance, 2.0 / 16, 0.2 * 2 / 16);
  const struct {
    const char* name;
    float least, greatest;
  } rows[] = {{"s", 0.2F, 0.4F},    {"s2", 0.8F, 1.2F}, {"v", 0.8F, 1.2F},
              {"bias", 0.8F, 1.2F}, {"m", -0.1F, 0.1F}, {"cb", -0.1F, 0.1F}};
  for (const auto& row : rows) {
    EXPECT_GE(MomentsOf(weights.at(row.name)).least, row.least) << row.name;
    EXPECT_LE(MomentsOf(weights.at(row.name)).greatest, row.greatest)
        << row.name;
  }
  for (const char* const small : {"m", "unused"}) {
    EXPECT_LE(MomentsOf(weights.at(small)).least, -0.05);
    EXPECT_LE(MomentsOf(weights.at(small)).greatest, 0.1);
  }
  const auto inputs = Got(RandomInputs(*model, 7));
  EXPECT_EQ(inputs[0].tensor()->Signature(), "float32[1,3,8,8]");
  EXPECT_NEAR(MomentsOf(*inputs[0].tensor()).variance, 1, 0.2);
}

// Kills: a weight whose use behind another shape is not seen; a fan-in of the
// wrong extents.
TEST(RandomWeights, AreScaledByTheFanInOfTheirUse) {
  const struct {
    const char* graph;
    double fan_in;
  } rows[] = {
      {"float[1,8,1,1] x) => (float[a,b,c,d] y) <int64[4] n = {512, 8, 1, 1}> "
       "{ w = ConstantOfShape(n) y = Conv(x, w) }",
       8},
      {"float[1,1,1,1] x) => (float[a,b,c,d] y) <int64[4] n = {512, 1, 1, 1}> "
       "{ w = ConstantOfShape(n) y = Conv(x, w) }",
       1},
      {"float[1,8] x) => (float[a,b] y) <int64[2] n = {8, 512}> "
       "{ w = ConstantOfShape(n) y = Gemm(x, w) }",
       8},
      {"float[1,8] x) => (float[a,b] y) <int64[2] n = {512, 8}> "
       "{ w = ConstantOfShape(n) y = Gemm <transB = 1> (x, w) }",
       8},
      {"float[1,8,1,1] x) => (float[a,b,c,d] y) "
       "<int64[1] n = {4096}, int64[4] s = {512, 8, 1, 1}> "
       "{ w = ConstantOfShape(n) v = Reshape(w, s) y = Conv(x, v) }",
       8},
      {"float[1,8,1,1] x) => (float[a,b,c,d] y) "
       "<int64[2] n = {512, 8}, int64[2] s = {2, 3}> "
       "{ w = ConstantOfShape(n) v = Unsqueeze(w, s) y = Conv(x, v) }",
       8},
      // The shape is fed, and so is not known.
      {"float[1,8,1,1] x, int64[4] s) => (float[a,b,c,d] y) "
       "<int64[1] n = {4096}> "
       "{ w = ConstantOfShape(n) v = Reshape(w, s) y = Conv(x, v) }",
       1},
  };
  for (const auto& row : rows) {
    const auto model = Got(graph::ParseModelText(StrCat("g (", row.graph)));
    const auto weights = Got(RandomWeights(*model, 7));
    EXPECT_NEAR(MomentsOf(weights.at("w")).variance * row.fan_in, 1, 0.15)
        << row.graph;
  }
}

// Kills: a factor or a summand of the usual range, or a sign that is never
// drawn.
TEST(RandomWeights, MayBeMostlyPositive) {
  const auto model = Got(graph::ParseModelText(
      "g (float[1,8] x) => (float[1,512] y) <int64[2] n = {512, 8}, "
      "int64[1] m = {512}> { w = ConstantOfShape(n) b = ConstantOfShape(m) "
      "y = Gemm <transB = 1> (x, w, b) }"));
  const auto weights = Got(RandomWeights(*model, 7, Signs::kMostlyPositive));
  const struct {
    const char* name;
    double low, high;
  } rows[] = {{"w", -1.0 / 8, 3.0 / 8}, {"b", -0.3, 0.3}};
  for (const auto& row : rows) {
    const Moments moments = MomentsOf(weights.at(row.name));
    EXPECT_NEAR(moments.least, row.low, 0.01) << row.name;
    EXPECT_NEAR(moments.greatest, row.high, 0.01) << row.name;
    EXPECT_GE(moments.least, static_cast<float>(row.low)) << row.name;
    EXPECT_LE(moments.greatest, static_cast<float>(row.high)) << row.name;
  }
}

TEST(RandomWeights, MayHaveNoElements) {
  const auto model = Got(graph::ParseModelText(
      "g (float[1,8,1,1] x) => (float[a,b,c,d] y) <int64[4] n = {0, 8, 1, 1}> "
      "{ w = ConstantOfShape(n) y = Conv(x, w) }"));
  const auto weights = Got(RandomWeights(*model, 7));
  EXPECT_EQ(weights.at("w").num_elements(), 0);
}

// Kills: an operator behind which signs are mixed again, left out.
TEST(RandomWeights, AreDoubledBehindARelu) {
  const struct {
    const char* nodes;
    double gain;
  } rows[] = {
      {"t = Relu(x)", 2},
      {"r = Relu(x) t = Identity(r)", 2},
      {"t = Identity(x)", 1},
      {"r = Relu(x) t = Conv(r, k)", 1},
      {"r = Relu(x) f = Flatten(r) p = Gemm(f, g) t = Reshape(p, s)", 1},
      {"r = Relu(x) t = BatchNormalization(r, b, b, b, b)", 1},
      {"r = Relu(x) t = Sum(r, r)", 1},
  };
  for (const auto& row : rows) {
    const auto model = Got(graph::ParseModelText(
        StrCat("g (float[1,8,1,1] x, float[8,8,1,1] k, float[8] b,"
               " float[8,8] g) => (float[1,512,1,1] y) "
               "<int64[4] n = {512, 8, 1, 1}, int64[4] s = {1, 8, 1, 1}> {",
               row.nodes, " w = ConstantOfShape(n) y = Conv(t, w) }")));
    const auto weights = Got(RandomWeights(*model, 7));
    EXPECT_NEAR(MomentsOf(weights.at("w")).variance, row.gain / 8, 0.01)
        << row.nodes;
  }
}

TEST(RandomCase, ABrokenFileIsNamed) {
  const file::ScratchFolder folder;
  EXPECT_EQ(ReadRandomCase(folder.path()).status().code(),
            StatusCode::kNotFound);
  std::ofstream(folder.path() / "random_weights.txt") << "model x\nseeds 1\n";
  EXPECT_THAT(ReadRandomCase(folder.path()),
              IsStatus(StatusCode::kDataLoss, "random_weights.txt"));
}

}  // namespace
}  // namespace assay::cases
