// SPDX-License-Identifier: Apache-2.0
//
// Every family through the Backend interface: small graphs with results worked
// out by hand, and what is declined with its reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "backends/onednn/primitive/device.h"
#include "backends/onednn/primitive/test_graph_fixture.h"
#include "framework/backend/network_interfaces.h"
#include "framework/testing/support/statuses_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::onednn {
namespace {

using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

struct Computed {
  const char* what;
  std::string body;  // of x, and w where there are two; a node, or all to y
  Tensor x;
  Tensor want;
  Tensor w = {};

  std::string Graph() const {
    if (body.starts_with("g ")) return body;
    const auto declared = [](const Tensor& tensor, const char* name) {
      const Shape& shape = tensor.shape();
      return StrCat("float", shape.rank() == 0 ? "" : shape.ToString(), name);
    };
    const bool is_node = body[0] != '<' && body[0] != '{';
    return StrCat("g (", declared(x, " x"),
                  w.defined() ? ", " + declared(w, " w") : "", ") => (",
                  declared(want, " y) "), is_node ? "{ y = " : "", body,
                  is_node ? " }" : "");
  }
};

const Tensor kPair = Floats({2}, {-1, 3});
const Tensor kSquare = Floats({2, 2}, {1, 2, 3, 4});
const Tensor kSquare4 = Floats({1, 1, 2, 2}, {1, 2, 3, 4});
const Tensor kImage = Floats({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
const Tensor kKernel = Floats({1, 1, 2, 2}, {1, 0, 0, 1});

const Computed kComputed[] = {
    {"eltwise", "Relu(x)", kPair, Floats({2}, {0, 3})},
    {"a chain of eltwise", "Celu <alpha = 2.0> (x)", kPair,
     Floats({2}, {-0.78693868F, 3})},
    {"rounding down, at ends and a half", "Floor(x)",
     Floats({5}, {-0.5F, 2.5F, -3, 16777216, -kInf}),
     Floats({5}, {-1, 2, -3, 16777216, -kInf})},
    {"rounding up", "Ceil(x)", Floats({4}, {-0.5F, 2.5F, 2.2F, -3}),
     Floats({4}, {0, 3, 3, -3})},
    {"the sign of a zero that is negated",
     "<float one = {1}> { n = Neg(x) y = Div(one, n) }",
     Floats({2}, {0, -0.0F}), Floats({2}, {-kInf, kInf})},
    {"the sign of a zero that is rounded up to",
     "<float one = {1}> { n = Ceil(x) y = Div(one, n) }",
     Floats({3}, {-0.5F, -0.0F, 0}), Floats({3}, {-kInf, -kInf, kInf})},
    {"the sign of a zero that is negated, behind a product with -1",
     "<float one = {1}> { s = Selu <gamma = -1.0> (x) n = Neg(x) y = Div(one, "
     "n) }",
     Floats({5}, {0, -0.0F, 1, 2, 4}),
     Floats({5}, {-kInf, kInf, -1, -0.5F, -0.25F})},
    {"signs", "Sign(x)", Floats({3}, {-2.5F, 0, 7}), Floats({3}, {-1, 0, 1})},
    {"shrinking at both sides and an infinity",
     "Shrink <lambd = 1.0, bias = 0.5> (x)", Floats({4}, {-3, 0.5F, 2, kInf}),
     Floats({4}, {-2.5F, 0, 1.5F, kInf})},
    {"linear resampling",
     "<float[3] s = {1, 1, 2}> { y = Resize <mode = \"linear\"> (x, , s) }",
     Floats({1, 1, 2}, {1, 2}), Floats({1, 1, 4}, {1, 1.25F, 1.75F, 2})},
    {"resampling of the last axes but one, by sizes",
     "<int64[4] s = {1, 1, 4, 2}> { y = Resize (x, , , s) }", kSquare4,
     Floats({1, 1, 4, 2}, {1, 2, 1, 2, 3, 4, 3, 4})},
    {"a power that is fed", "Pow(x, w)", kPair, Floats({2}, {1, 9}),
     Floats({}, {2})},
    {"extents that are not known at Load",
     "g (float[N] x) => (float[N] y) { y = Relu(x) }", kPair,
     Floats({2}, {0, 3})},
    {"threshold at an infinity", "ThresholdedRelu <alpha = -2.0> (x)",
     Floats({2}, {-kInf, -1}), Floats({2}, {0, -1})},
    {"the smaller operand first", "Sub(x, w)", kPair,
     Floats({2, 2}, {-2, 1, -4, -1}), kSquare},
    {"exchanged operands", "Add(x, w)", kPair, Floats({2, 2}, {0, 5, 2, 7}),
     kSquare},
    {"both operands repeat", "Mul(x, w)", Floats({2, 1}, {2, 3}),
     Floats({2, 2}, {-2, 6, -3, 9}), kPair},
    {"a mean of unequal shapes", "Mean(x, w)", kPair,
     Floats({2, 2}, {0, 2.5F, 1, 3.5F}), kSquare},
    {"convolution", "Conv(x, w)", kImage, Floats({1, 1, 2, 2}, {6, 8, 12, 14}),
     kKernel},
    {"convolution with uneven pads and a fixed kernel",
     "<float[1,1,2,2] w = {1, 0, 0, 1}> { y = Conv <pads = [0, 1, 0, 0]> (x, "
     "w) }",
     kImage, Floats({1, 1, 2, 3}, {4, 6, 8, 7, 12, 14})},
    {"transposed convolution in two groups", "ConvTranspose <group = 2> (x, w)",
     Floats({1, 2, 2}, {1, 2, 3, 4}),
     Floats({1, 2, 3}, {1, 12, 20, 3, 304, 400}),
     Floats({2, 1, 2}, {1, 10, 1, 100})},
    {"a product with one vector", "MatMul(x, w)", kSquare, Floats({2}, {5, 9}),
     kPair},
    {"batches that repeat", "MatMul(x, w)", Floats({2, 1, 2}, {1, 0, 0, 1}),
     Floats({2, 1, 2}, {1, 2, 3, 4}), kSquare},
    {"alpha, beta and a transposed operand",
     "Gemm <alpha = 2.0, beta = 10.0, transA = 1> (x, x, w)", kSquare,
     Floats({2, 2}, {10, 58, 18, 70}), kPair},
    {"an inner product with a bias", "Gemm <transB = 1> (x, x, w)", kSquare,
     Floats({2, 2}, {4, 14, 10, 28}), kPair},
    {"a norm of each channel", "GlobalLpPool (x)",
     Floats({1, 2, 2}, {3, -4, 0, 2}), Floats({1, 2, 1}, {5, 2})},
    {"a window that overhangs under ceil_mode",
     "MaxPool <kernel_shape = [2, 2], strides = [2, 2], ceil_mode = 1> (x)",
     kImage, Floats({1, 1, 2, 2}, {5, 6, 8, 9})},
    {"padding that counts",
     "AveragePool <kernel_shape = [2, 2], strides = [2, 2], pads = [1, 1, 0, "
     "0], count_include_pad = 1> (x)",
     kImage, Floats({1, 1, 2, 2}, {0.25F, 1.25F, 2.75F, 7})},
    {"padding that counts, but for what overhangs it",
     "AveragePool <kernel_shape = [3], strides = [2], pads = [1, 0], ceil_mode "
     "= 1, count_include_pad = 1> (x)",
     Floats({1, 1, 5}, {3, 6, 9, 12, 15}), Floats({1, 1, 3}, {3, 9, 13.5F})},
    {"padding that does not",
     "AveragePool <kernel_shape = [2, 2], strides = [2, 2], pads = [1, 1, 0, "
     "0]> (x)",
     kImage, Floats({1, 1, 2, 2}, {1, 2.5F, 5.5F, 7})},
    {"softmax along the first axis", "Softmax <axis = 0> (x)", kSquare,
     Floats({2, 2}, {0.11920292F, 0.11920292F, 0.88079708F, 0.88079708F})},
    {"batch normalization",
     "<float[2] mean = {1, 1}, float[2] var = {4, 4}> { y = BatchNormalization "
     "<epsilon = 0.0> (x, w, w, mean, var) }",
     Floats({1, 2, 1}, {3, 5}), Floats({1, 2, 1}, {-2, 9}), kPair},
    {"rows of one infinity", "ReduceLogSumExp <keepdims = 0> (x)",
     Floats({2}, {-kInf, -kInf}), Floats({}, {-kInf})},
    {"a reduction over fixed axes",
     "<int64[1] axes = {-1}> { y = ReduceSumSquare(x, axes) }", kSquare,
     Floats({2, 1}, {5, 25})},
    {"transposition", "Transpose(x)", kSquare, Floats({2, 2}, {1, 3, 2, 4})},
    {"repetition", "<int64[2] to = {2, 2}> { y = Expand(x, to) }",
     Floats({2, 1}, {1, 2}), Floats({2, 2}, {1, 1, 2, 2})},
    {"concatenation", "Concat <axis = 1> (x, w)", kSquare,
     Floats({2, 3}, {1, 2, 8, 3, 4, 9}), Floats({2, 1}, {8, 9})},
    {"an operator of the adapter's",
     "<int64[1] to = {-1}> { y = Reshape(x, to) }", kSquare,
     Floats({4}, {1, 2, 3, 4})},
};

TEST(OneDnn, EveryFamilyComputes) {
  for (const Computed& row : kComputed) {
    SCOPED_TRACE(row.what);
    const auto network = Got(Load(row.Graph()));
    std::map<std::string, Value> inputs = {{"x", row.x}};
    if (row.w.defined()) inputs.emplace("w", row.w);
    for (int run = 0; run < 2; ++run) {
      const auto got = Got(assay::Run(*network, inputs));
      const Tensor& y = *got[0].tensor();
      EXPECT_EQ(y.shape(), row.want.shape());
      EXPECT_THAT(y.elements<float>(),
                  Pointwise(FloatNear(1e-5F), row.want.elements<float>()));
    }
  }
}

// Kills: memory that stays bound where another binding runs.
TEST(OneDnn, EachBindingRunsOverItsOwnMemory) {
  const auto network =
      Got(Load("g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> "
               "{ y = Add(x, w) }"));
  Tensor x = Floats({1, 2});
  const Tensor first = Floats({0, 0});
  const Tensor second = Floats({0, 0});
  const auto bind = [&network](const Tensor& from, const Tensor& to) {
    const Value input(from);
    const Value output(to);
    return Got(network->Bind({&input, 1}, {&output, 1}));
  };
  const auto one = bind(x, first);
  const auto two = bind(Floats({5, 6}), second);
  for (Binding* const next : {one.get(), two.get(), one.get(), one.get()}) {
    x.mutable_elements<float>()[0] += 1;
    ASSERT_TRUE(network->Forward(*next).ok());
  }
  EXPECT_THAT(first.elements<float>(), ::testing::ElementsAre(6, 4));
  EXPECT_THAT(second.elements<float>(), ::testing::ElementsAre(6, 8));
}

TEST(OneDnn, NotNumbersAndInfinitiesAreFound) {
  const Tensor x = Floats({4}, {1, kNan, kInf, -kInf});
  for (const auto& [node, want] : std::map<std::string, std::vector<uint8_t>>{
           {"IsNaN(x)", {0, 1, 0, 0}},
           {"IsInf(x)", {0, 0, 1, 1}},
           {"IsInf <detect_negative = 0> (x)", {0, 0, 1, 0}},
           {"IsInf <detect_positive = 0> (x)", {0, 0, 0, 1}},
           {"IsInf <detect_positive = 0, detect_negative = 0> (x)",
            {0, 0, 0, 0}}}) {
    const Tensor y = RunGraph(
        "g (float[4] x) => (bool[4] y) { y = " + node + " }", {{"x", x}});
    EXPECT_THAT(y.elements<uint8_t>(), ::testing::ElementsAreArray(want))
        << node;
  }
}

TEST(OneDnn, ComparisonsYieldBytesOfZeroAndOne) {
  const auto network = Got(
      Load("g (float[2,2] x, float[2] w) => (bool[2,2] y) { y = Less(w, x) }"));
  const auto got = Got(assay::Run(*network, {{"x", kSquare}, {"w", kPair}}));
  EXPECT_THAT(got[0].tensor()->elements<uint8_t>(),
              ::testing::ElementsAre(1, 0, 1, 1));
}

struct Declined {
  const char* graph;
  Reason reason;
  const char* words;
};

const Declined kDeclined[] = {
    {"g (float[2] x) => (float[2] y) { y = Sin(x) }", Reason::kOperator, "Sin"},
    {"g (double[2] x) => (double[2] y) { y = Relu(x) }", Reason::kDType,
     "float64"},
    {"g (int32[2] x) => (int32[2] y) { y = Add(x, x) }", Reason::kDType,
     "int32"},
    {"g (int8[2] x) => (int8[2] y) { y = Div(x, x) }", Reason::kDType, "int8"},
    {"g (float[2] x) => (int32[2] y) { y = Cast <to = 6> (x) }", Reason::kDType,
     "float32 to int32"},
    {"g (double[N] x) => (double[N] y) { y = Relu(x) }", Reason::kDType,
     "float64"},
    {"g (float[2,0] x, int64[1] a) => (float[2,1] y) "
     "{ y = ReduceSum(x, a) }",
     Reason::kShape, "no elements"},
    {"g (float[1,1,2,2,2,2] x, float[1,1,1,1,1,1] w) => "
     "(float[1,1,2,2,2,2] y) { y = Conv(x, w) }",
     Reason::kShape, "spatial"},
    {"g (float[2,0] x) => (float[2,1] y) <int64[1] axes = {1}> "
     "{ y = ReduceSum(x, axes) }",
     Reason::kShape, "no elements"},
    {"g (float[1,1,4] x) => (float[1,1,2] y, int64[1,1,2] i) "
     "{ y, i = MaxPool <kernel_shape = [2], strides = [2]> (x) }",
     Reason::kAttribute, "Indices"},
    {"g (float[1,4,1] x) => (float[1,4,1] y) { y = LRN <size = 2> (x) }",
     Reason::kAttribute, "odd"},
    {"g (float[2] x, float[2] e) => (float[2] y) { y = Pow(x, e) }",
     Reason::kAttribute, "exponent"},
    {"g (float[1,1,2,2] x, float[4] s) => (float[1,1,4,4] y) "
     "{ y = Resize <mode = \"cubic\"> (x, , s) }",
     Reason::kAttribute, "cubic"},
    {"g (float[2] x, float s, int16 z) => (int16[2] y) "
     "{ y = QuantizeLinear(x, s, z) }",
     Reason::kDType, "int16"},
    {"g (float[2] x) => (float[2] y) <float r = {0.5}, bool t = {1}> "
     "{ y = Dropout(x, r, t) }",
     Reason::kTraining, "random"},
};

TEST(OneDnn, WhatItLacksIsDeclinedAtLoadWithItsReason) {
  for (const Declined& row : kDeclined) {
    SCOPED_TRACE(row.graph);
    const Status status = Load(row.graph).status();
    EXPECT_EQ(status.code(), StatusCode::kUnsupported) << status.ToString();
    EXPECT_EQ(status.reason(), row.reason) << status.ToString();
    EXPECT_THAT(status.message(), HasSubstr(row.words));
  }
}

TEST(OneDnn, WrongAttributesAreInvalid) {
  for (const char* graph :
       {"g (float[3] x) => (float[2] y, float[2] z) <int64[2] s = {2, 2}> "
        "{ y, z = Split(x, s) }",
        "g (float[3] x) => (float[2] y, float[2] z) <int64[2] s = {9, -6}> "
        "{ y, z = Split(x, s) }",
        "g (float[2,2] x) => (float[2,2] y) { y = Transpose <perm = [0, 0]> "
        "(x) }",
        "g (float[2,2] x, float[2] w) => (float[2,2] y) "
        "{ y = BatchNormalization(x, w, w, w) }",
        "g (float[1,1,4] x, float[1,2,2] w) => (float[1,1,3] y) "
        "{ y = Conv(x, w) }",
        "g (float[2] x, float[3] w) => (float[2] y) { y = Add(x, w) }"}) {
    const Status status = Load(graph).status();
    EXPECT_FALSE(status.ok()) << graph;
    EXPECT_NE(status.code(), StatusCode::kInternal) << status.ToString();
  }
}

TEST(OneDnn, Float16IsTakenWhereTheLibraryHasIt) {
  const auto network =
      Load("g (float16[N] x) => (float16[N] y) { y = Celu(x) }");
  EXPECT_EQ(network.ok(), HasIsa(dnnl::cpu_isa::avx512_core_fp16))
      << network.status().ToString();
  if (!network.ok()) {
    EXPECT_EQ(network.status().reason(), Reason::kDType);
  }
}

TEST(OneDnn, Bfloat16IsCastWhereTheLibraryHasIt) {
  constexpr char kGraph[] =
      "g (float[3] x) => (float[3] y) "
      "{ h = Cast <to = 16> (x) y = Cast <to = 1> (h) }";
  if (const Status status = Load(kGraph).status(); !status.ok()) {
    EXPECT_FALSE(HasIsa(dnnl::cpu_isa::avx512_core_bf16)) << status.ToString();
    EXPECT_EQ(status.reason(), Reason::kDType) << status.ToString();
    return;
  }
  // 1 + 2^-8 lies between two numbers of 8 digits.
  const Tensor y =
      RunGraph(kGraph, {{"x", Floats({3}, {1.00390625F, -2.5F, 0.5F})}});
  EXPECT_THAT(y.elements<float>(), testing::ElementsAre(1, -2.5F, 0.5F));
}

TEST(OneDnn, PlacementNamesTheImplementationOrTheAdapter) {
  const auto network =
      Got(Load("g (float[2,2] x) => (float[4] y) <int64[1] to = {-1}> "
               "{ h = Relu(x) y = Reshape(h, to) }"));
  const auto placed = network->placement()->Placed();
  ASSERT_EQ(placed.size(), 2U);
  EXPECT_NE(placed[0].executor, "adapter");
  EXPECT_FALSE(placed[0].executor.empty());
  EXPECT_EQ(placed[1].executor, "adapter");
}

TEST(OneDnn, OnlyTheSettingsIsaAndThreadsAreKnown) {
  constexpr char kGraph[] = "g (float[2] x) => (float[2] y) { y = Relu(x) }";
  EXPECT_TRUE(Load(kGraph, {.settings = {{"threads", "2"}}}).ok());
  for (const auto& [name, value] :
       std::multimap<std::string, std::string>{{"colour", "red"},
                                               {"isa", "AVX2"},
                                               {"isa", ""},
                                               {"threads", "0"},
                                               {"threads ", "1"}}) {
    EXPECT_EQ(Load(kGraph, {.settings = {{name, value}}}).status().code(),
              StatusCode::kInvalidArgument)
        << name << "=" << value;
  }
  for (const char* value : {"", "1x", "-1", "1025"}) {
    EXPECT_FALSE(ReadThreads({{"threads", value}}).ok()) << value;
  }
}

// A process has one instruction set, so this one is another process.
TEST(OneDnn, TheSettingIsaLimitsTheLibrary) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  constexpr char kGraph[] = "g (float[2] x) => (float[2] y) { y = Relu(x) }";
  EXPECT_EXIT(
      {
        const bool limited =
            Load(kGraph, {.settings = {{"isa", "sse41"}}}).ok() &&
            HasIsa(dnnl::cpu_isa::sse41) && !HasIsa(dnnl::cpu_isa::avx2);
        const Status other =
            Load(kGraph, {.settings = {{"isa", "avx2"}}}).status();
        std::cerr << other.ToString();
        std::_Exit(limited && Load(kGraph).ok() && !other.ok() ? 0 : 1);
      },
      testing::ExitedWithCode(0), "before its first primitive");
}

// Kills: a set told that is above the limit, or only the greatest one; one told
// with a set that does not include it: AVX-512 may be without VNNI.
TEST(OneDnn, ItTellsTheInstructionSetsInForce) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  struct Row {
    const char* isa;
    bool is_here;
    const char* told;
  };
  for (const Row& row : std::vector<Row>{
           {"sse41", true, "told: sse41$"},
           {"avx", __builtin_cpu_supports("avx") != 0, "told: sse41 avx$"},
           {"avx2", __builtin_cpu_supports("avx2") != 0,
            "told: sse41 avx avx2$"},
           {"avx512_core",
            __builtin_cpu_supports("avx512bw") != 0 &&
                __builtin_cpu_supports("avx512vl") != 0 &&
                __builtin_cpu_supports("avx512dq") != 0,
            "told: sse41 avx avx2 avx512_core$"}}) {
    EXPECT_EXIT(
        {
          const auto probe =
              (*MakeBackend("onednn"))->InspectAs({{"isa", row.isa}});
          std::cerr << (probe.ok() ? StrCat("told: ", Joined(probe->isa, " "))
                                   : probe.status().ToString());
          std::_Exit(probe.ok() ? 0 : 1);
        },
        testing::ExitedWithCode(row.is_here ? 0 : 1),
        row.is_here ? row.told : "which this processor has not");
  }
}

TEST(OneDnn, InspectNamesTheLoadedLibrary) {
  const auto probe = Got((*MakeBackend("onednn"))->Inspect());
  EXPECT_EQ(probe.version, RuntimeVersion());
  EXPECT_EQ(probe.device, "cpu");
}

}  // namespace
}  // namespace assay::onednn
