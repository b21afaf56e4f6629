// SPDX-License-Identifier: Apache-2.0
//
// Copies of elements: every type keeps its bits, axes walked backwards and
// padded, and parameters that are fed when it runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "backends/onednn/primitive/test_graph_fixture.h"
#include "framework/testing/support/statuses_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::onednn {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

/// Bytes of no pattern, among them signalling NaNs where read as floats.
TEST(Movement, EveryTypeKeepsItsBits) {
  struct Row {
    const char* name;
    DType dtype;
  };
  for (const Row& row :
       {Row{"float", DType::kFloat32}, Row{"double", DType::kFloat64},
        Row{"int64", DType::kInt64}, Row{"int32", DType::kInt32},
        Row{"uint16", DType::kUint16}, Row{"float16", DType::kFloat16},
        Row{"bfloat16", DType::kBFloat16}, Row{"int8", DType::kInt8},
        Row{"complex64", DType::kComplex64}}) {
    SCOPED_TRACE(row.name);
    Tensor x = *Tensor::Allocate(row.dtype, {3, 5});
    std::mt19937 bits(7);
    for (std::byte& byte :
         std::span(x.mutable_data(), static_cast<size_t>(x.byte_size()))) {
      byte = static_cast<std::byte>(bits());
    }
    const uint32_t signalling = 0x7fa00001;
    std::memcpy(x.mutable_data(), &signalling, sizeof(signalling));
    const Tensor y = RunGraph(std::string("g (") + row.name + "[3,5] x) => (" +
                                  row.name + "[5,3] y) { y = Transpose(x) }",
                              {{"x", x}});
    const auto width = static_cast<size_t>(x.byte_size()) / 15;
    for (size_t i = 0; i < 15; ++i) {
      EXPECT_EQ(std::memcmp(x.data() + i * width,
                            y.data() + (i % 5 * 3 + i / 5) * width, width),
                0)
          << i;
    }
  }
}

constexpr char kSlice[] =
    "g (float[2,4] x, int64[1] s, int64[1] e, int64[1] a, int64[1] t) => "
    "(float[R,C] y) { y = Slice(x, s, e, a, t) }";
const std::vector<float> kEight = {0, 1, 2, 3, 4, 5, 6, 7};

/// oneDNN has numbers for 1024 sources.
TEST(Movement, MoreInputsThanAPrimitiveTakes) {
  constexpr int kInputs = 4000;
  std::string types, names;
  std::map<std::string, Value> inputs;
  std::vector<float> first, second;
  for (int i = 0; i < kInputs; ++i) {
    const std::string name = StrCat("x", i);
    types += StrCat(i == 0 ? "" : ", ", "float[2,1] ", name);
    names += StrCat(i == 0 ? "" : ", ", name);
    first.push_back(static_cast<float>(i % 7));
    second.push_back(static_cast<float>(i));
    inputs[name] = Floats({2, 1}, {first.back(), second.back()});
  }
  const auto run = [&](const std::string& node, const std::string& y) {
    const Tensor got = RunGraph(StrCat("g (", types, ") => (float", y,
                                       " y) { y = ", node, "(", names, ") }"),
                                inputs);
    const auto elements = got.elements<float>();
    return std::vector<float>(elements.begin(), elements.end());
  };
  const float sums[] = {std::accumulate(first.begin(), first.end(), 0.0F),
                        std::accumulate(second.begin(), second.end(), 0.0F)};
  EXPECT_THAT(run("Sum", "[2,1]"), ElementsAreArray(sums));
  EXPECT_THAT(run("Mean", "[2,1]"),
              ElementsAre(sums[0] / kInputs, sums[1] / kInputs));
  std::vector<float> joined = first;
  joined.insert(joined.end(), second.begin(), second.end());
  EXPECT_THAT(run("Concat <axis = 1> ", "[2,4000]"), ElementsAreArray(joined));
}

TEST(Movement, SliceFollowsWhatIsFedFromRunToRun) {
  const auto network = Got(Load(kSlice));
  struct Row {
    int64_t start, end, axis, step;
    std::vector<float> want;
  };
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  const Row rows[] = {
      {1, 3, 1, 1, {1, 2, 5, 6}},
      {-1, kLeast, 1, -2, {3, 1, 7, 5}},
      {0, 99, -1, 3, {0, 3, 4, 7}},
      {1, kLeast, 0, -1, {4, 5, 6, 7, 0, 1, 2, 3}},
      {2, 2, 1, 1, {}},
      {3, 0, 1, kLeast, {3, 7}},
  };
  for (const Row& row : rows) {
    const auto got = Got(assay::Run(*network, {{"x", Floats({2, 4}, kEight)},
                                               {"s", Int64s({row.start})},
                                               {"e", Int64s({row.end})},
                                               {"a", Int64s({row.axis})},
                                               {"t", Int64s({row.step})}}));
    EXPECT_THAT(got[0].tensor()->elements<float>(), ElementsAreArray(row.want));
  }
}

TEST(Movement, PadHasNumpysModes) {
  struct Row {
    const char* mode;
    std::vector<int64_t> pads;
    std::vector<float> want;
  };
  const Row rows[] = {
      {"constant", {2, 1}, {9, 9, 1, 2, 3, 9}},
      {"constant", {-1, 2}, {2, 3, 9, 9}},
      {"edge", {2, 1}, {1, 1, 1, 2, 3, 3}},
      {"reflect", {2, 1}, {3, 2, 1, 2, 3, 2}},
      {"reflect", {5, 0}, {2, 1, 2, 3, 2, 1, 2, 3}},
      {"wrap", {2, 4}, {2, 3, 1, 2, 3, 1, 2, 3, 1}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.mode);
    const Tensor y = RunGraph(
        std::string("g (float[3] x, int64[2] p, float c) => (float[N] y) "
                    "{ y = Pad <mode = \"") +
            row.mode + "\"> (x, p, c) }",
        {{"x", Floats({3}, {1, 2, 3})},
         {"p", Int64s(row.pads)},
         {"c", Floats({}, {9})}});
    EXPECT_THAT(y.elements<float>(), ElementsAreArray(row.want));
  }
}

TEST(Movement, PadTakesAndGivesTensorsWithoutElements) {
  struct Row {
    Shape x;
    std::vector<int64_t> pads;
    Shape want;
  };
  for (const Row& row :
       {Row{{1, 3, 0, 5}, {0, 0, 0, 1, 0, 0, 0, 1}, {1, 3, 0, 7}},
        Row{{0, 2}, {1, 0, 0, 0}, {1, 2}}, Row{{0, 2}, {0, 0, 0, 0}, {0, 2}},
        Row{{2, 3}, {0, -1, 0, -2}, {2, 0}}}) {
    SCOPED_TRACE(row.x.ToString());
    const std::string rank = StrCat(row.pads.size());
    const Tensor y =
        RunGraph(StrCat("g (float", row.x.ToString(), " x) => (float",
                        row.want.ToString(), " y) <int64[", rank, "] p = {",
                        List(row.pads).substr(1, List(row.pads).size() - 2),
                        "}> { y = Pad(x, p) }"),
                 {{"x", *Tensor::Allocate(DType::kFloat32, row.x)}});
    EXPECT_EQ(y.shape(), row.want);
    for (const float element : y.elements<float>()) EXPECT_EQ(element, 0);
  }
}

TEST(Movement, PadsBeyondMemoryAreRefusedByName) {
  const auto network = Got(
      Load("g (float[2,3] x, int64[4] p) => (float[N,M] y) { y = Pad(x, p) }"));
  const Tensor x = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  for (const std::vector<int64_t>& pads :
       std::vector<std::vector<int64_t>>{{int64_t{1} << 40, 0, 0, 0},
                                         {int64_t{1} << 40, 1 << 30, 0, 0},
                                         {int64_t{1} << 62, 0, 0, 0},
                                         {0, INT64_MIN, 0, 0}}) {
    const Status status =
        assay::Run(*network, {{"x", x}, {"p", Int64s(pads)}}).status();
    EXPECT_FALSE(status.ok()) << List(pads);
    EXPECT_THAT(status.message(), HasSubstr("Pad"));
  }
}

TEST(Movement, ReductionFollowsItsAxes) {
  const auto network =
      Got(Load("g (float[2,4] x, int64[1] a) => (float[M] y) "
               "{ y = ReduceMax <keepdims = 0> (x, a) }"));
  const Tensor x = Floats({2, 4}, kEight);
  for (const auto& [axis, want] : std::map<int64_t, std::vector<float>>{
           {0, {4, 5, 6, 7}}, {1, {3, 7}}, {-1, {3, 7}}}) {
    const auto got =
        Got(assay::Run(*network, {{"x", x}, {"a", Int64s({axis})}}));
    EXPECT_THAT(got[0].tensor()->elements<float>(), ElementsAreArray(want));
  }
}

/// A rule that is known only then is declined at Bind, never by Forward.
TEST(Movement, ResizeIsDeclinedAtBindWhereItsRuleDiffers) {
  const auto network =
      Got(Load("g (float[1,1,4] x, float[3] s) => (float[1,1,N] y) "
               "{ y = Resize(x, , s) }"));
  const Tensor x = Floats({1, 1, 4}, {1, 2, 3, 4});
  const auto doubled =
      Got(assay::Run(*network, {{"x", x}, {"s", Floats({3}, {1, 1, 2})}}));
  EXPECT_THAT(doubled[0].tensor()->elements<float>(),
              ElementsAre(1, 1, 2, 2, 3, 3, 4, 4));
  // Half a place from two: ONNX prefers the lower, oneDNN the higher.
  const std::vector<Value> halved = {x, Floats({3}, {1, 1, 0.5F})};
  const Status status = network->Bind(halved, {}).status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported) << status.ToString();
  EXPECT_EQ(status.reason(), Reason::kAttribute);
  EXPECT_THAT(status.message(), HasSubstr("places"));
}

}  // namespace
}  // namespace assay::onednn
